"""Success rates against the number of parameters: of every configuration of a sweep, reached and proved.

Of 1,024 seeds of a model with 39 numbers 17 are right on all held-out sums and 15 of these are proved: a ring
at 1.7% and a dot at 1.5%, each with its 95% interval. Where no seed succeeded, an arrow points down from the
upper end of the interval: 0 of 1,024 leaves rates of up to 0.36% possible. Where no proof was tried, the cell
is empty, and so is the place of the dot.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.draw.save import save_figure
from glassformer.draw.shares import percent, span_text
from glassformer.draw.theme import Theme, kind_colours, theme_named
from glassformer.verify.share import Share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Data = dict[str, Any]
KINDS = ("reached", "proved")
HEIGHT = 8.0  # cm, of the axes
LEFT, RIGHT = 1.25, 0.15  # cm beside them
SLOT = 0.42  # cm of a configuration, at least: with more of them than 36 the sheet grows
COUNTS = 0.62  # cm below the axes for the numbers of parameters
SHIFT = 0.17  # of a slot: a ring stands so far left of its middle, a dot so far right
ARROW = 0.55  # length of an arrow, as a factor on the axis of rates
FOOT = (
    "Ring: seeds right on all held-out inputs. Dot: seeds proved right on every input. Lines: exact 95% "
    "intervals. Arrow: no seed of all that were tried; it begins at the upper end of the interval."
)


def write_success_rates(
    rows: Sequence[Mapping[str, Any]], stem: Path, formats: Sequence[str] = ("png",), theme: str = "light"
) -> list[Path]:
    """The figure as STEM.png and so on; nothing where no seed is done."""
    data = compute(rows)
    if not data["names"]:
        return []
    return save_figure(draw(data, theme_named(theme)), stem, formats, theme_named(theme))


def compute(rows: Sequence[Mapping[str, Any]]) -> Data:
    """Numbers by configuration, most parameters first; rows are those of table.csv, texts or numbers."""
    done = sorted((row for row in rows if int(row["seeds"])), key=lambda row: -int(row["parameters"]))
    shares = {kind: [share_of(row, kind) for row in done] for kind in KINDS}
    numbers = {
        f"{kind}_{end}": np.array([getattr(share, end, np.nan) for share in shares[kind]], float)
        for kind in KINDS
        for end in ("value", "low", "high")
    }
    counts = {
        name: np.array([int(row[name] or 0) for row in done], int) for name in ("parameters", "seeds", *KINDS)
    }
    names = [str(row["configuration"]) for row in done]
    return {"names": names, "families": [family(name) for name in names], **counts, **numbers}


def share_of(row: Mapping[str, Any], kind: str) -> Share | None:
    """None where it was not tried."""
    return None if row[kind] in ("", None) else Share.of(int(row[kind]), int(row["seeds"]))


def family(name: str) -> str:
    """`glass` of glass-39 and of glass-39-cosine."""
    head, _, rest = name.partition("-")
    return head if rest else name


def draw(data: Data, theme: Theme) -> "Figure":
    from matplotlib import rc_context

    from glassformer.draw.parts.frame import (
        MARGIN,
        PAGE,
        SMALL,
        foot_height,
        look,
        sheet,
        text_width,
        write_foot,
    )

    names = max(text_width(name, SMALL) for name in data["names"])
    width = max(PAGE, SLOT * len(data["names"]) + LEFT + RIGHT + 2 * MARGIN)
    with rc_context(look(theme)):
        paper = sheet(theme, HEIGHT + COUNTS + names + 0.45 + foot_height(FOOT), title(data), width)
        axes = paper.axes(LEFT, 0.1, paper.width - LEFT - RIGHT, HEIGHT)
        lay_out(axes, data, theme)
        colours = colours_of(data, theme)
        for kind in KINDS:
            draw_kind(axes, data, kind, colours, theme)
        group_by_size(axes, data, theme)
        write_names(axes, data, colours)
        write_foot(paper, FOOT)
    return paper.figure


def lay_out(axes: "Axes", data: Data, theme: Theme) -> None:
    """A slot a configuration, and room for every interval and arrow."""
    axes.set_xlim(-0.5, len(data["names"]) - 0.5)
    axes.set_xticks([])
    axes.set_yscale("log")
    axes.set_ylim(lowest(data) / 1.3, 1.25)
    ticks = 10.0 ** np.arange(np.ceil(np.log10(axes.get_ylim()[0])), 1)
    axes.set_yticks(ticks, [f"{100 * tick:g}%" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=theme.faint, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylabel("share of the seeds", labelpad=3)


def lowest(data: Data) -> float:
    """The lowest end of any line or arrow."""
    ends = [
        np.where(data[f"{kind}_low"] > 0, data[f"{kind}_low"], ARROW * data[f"{kind}_high"]) for kind in KINDS
    ]
    return float(np.nanmin(ends))


def colours_of(data: Data, theme: Theme) -> list[str]:
    """One a family, in the order of their names."""
    families = sorted(set(data["families"]))
    by_family = dict(zip(families, kind_colours(len(families), theme), strict=True))
    return [by_family[name] for name in data["families"]]


def draw_kind(axes: "Axes", data: Data, kind: str, colours: list[str], theme: Theme) -> None:
    """Rings or dots with their intervals, or arrows."""
    shift = SHIFT if kind == "proved" else -SHIFT
    ends = (data[f"{kind}_{end}"] for end in ("value", "low", "high"))
    for slot, (colour, value, low, high) in enumerate(zip(colours, *ends, strict=True)):
        if np.isnan(value):
            continue
        if value > 0:
            draw_point(axes, slot + shift, (value, low, high), kind, colour, theme)
        else:
            draw_arrow(axes, slot + shift, high, kind, colour)


def draw_point(
    axes: "Axes", place: float, share: tuple[float, float, float], kind: str, colour: str, theme: Theme
) -> None:
    value, low, high = share
    is_proved = kind == "proved"
    axes.plot([place, place], [low, high], color=colour, linewidth=1.4 if is_proved else 0.7, zorder=2)
    axes.plot(
        place, value, "o", markersize=4.2, color=colour, zorder=3,
        markerfacecolor=colour if is_proved else theme.paper, markeredgewidth=0.9,
    )  # fmt: skip


def draw_arrow(axes: "Axes", place: float, high: float, kind: str, colour: str) -> None:
    width = 1.4 if kind == "proved" else 0.7
    style = {"arrowstyle": "-|>,head_width=0.16,head_length=0.28", "color": colour, "linewidth": width}
    ends = {"xy": (place, ARROW * high), "xytext": (place, high)}
    axes.annotate("", **ends, arrowprops=style | {"shrinkA": 0, "shrinkB": 0}, zorder=2)
    axes.plot(place, high, "_", color=colour, markersize=4, markeredgewidth=width, zorder=2)


def group_by_size(axes: "Axes", data: Data, theme: Theme) -> None:
    """The number of parameters, once for all configurations that have it, with lines between the groups."""
    sizes = data["parameters"]
    begins = [slot for slot in range(len(sizes)) if slot == 0 or sizes[slot] != sizes[slot - 1]]
    for first, after in zip(begins, [*begins[1:], len(sizes)], strict=True):
        if first:
            axes.axvline(first - 0.5, color=theme.faint, linewidth=0.5, zorder=0)
        middle = (first + after - 1) / 2
        below(axes, middle, 5, str(sizes[first]), fontsize=7.5, weight="bold", color=theme.ink)
    below(axes, -0.5, 6, "numbers ", ha="right", fontsize=6.5, color=theme.muted)


def write_names(axes: "Axes", data: Data, colours: list[str]) -> None:
    for slot, (name, colour) in enumerate(zip(data["names"], colours, strict=True)):
        below(axes, slot, 18, name, fontsize=6.5, rotation=90, color=colour)


def below(axes: "Axes", slot: float, points: float, text: str, **look: Any) -> None:
    """Text so many points under the axis."""
    look = {"ha": "center", "va": "top", "annotation_clip": False} | look
    across = axes.get_xaxis_transform()
    axes.annotate(text, (slot, 0), (0, -points), xycoords=across, textcoords="offset points", **look)


def title(data: Data) -> str:
    """What was found, in a line."""
    proved = np.flatnonzero(data["proved"])
    many = len(data["names"])
    if not len(proved):
        return f"Success rates of {many} configurations: no seed is proved"
    first = proved[-1]
    numbers = (
        f"{data['parameters'][first]} numbers, {data['proved'][first]:,} of {data['seeds'][first]:,} seeds"
    )
    if np.isnan(data["proved_value"]).any():
        return f"{many} configurations; the smallest proved is {data['names'][first]} ({numbers})"
    found = f"{len(proved)} of {many} configurations have a proved seed"
    return f"{found}; the smallest is {data['names'][first]} ({numbers})"


def caption(data: Data) -> str:
    rows = "; ".join(row_text(data, index) for index in range(len(data["names"])))
    return f"Success rates over seeds against the number of parameters. {rows}. {FOOT}"


def row_text(data: Data, index: int) -> str:
    """`glass-39 (39): 17 of 1,024 reached, 15 proved, 1.5% (0.8 to 2.4%)`."""
    name, size, reached, seeds = (data[key][index] for key in ("names", "parameters", "reached", "seeds"))
    found = f"{name} ({size}): {reached:,} of {seeds:,} reached"
    if np.isnan(data["proved_value"][index]):
        return f"{found}, no proof tried"
    share = Share.of(int(data["proved"][index]), int(seeds))
    return f"{found}, {data['proved'][index]:,} proved, {percent(share.value)} ({span_text(share)})"
