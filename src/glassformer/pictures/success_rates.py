"""Success rates against the number of parameters: of every configuration of a sweep, reached and proved.

With 39 parameters, 17 of 1,024 seeds are right on all held-out sums and 15 of these are proved: a ring
at 1.7% and a dot at 1.5%, each with its 95% interval. Where no seed succeeded, an arrow points down from the
upper end of the interval: 0 of 1,024 leaves rates of up to 0.36% possible. Where no proof was tried, the cell
is empty, and so is the place of the dot.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme, find_theme, list_line_colours
from glassformer.core.words import format_interval, format_percent
from glassformer.pictures.save import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Data = dict[str, Any]
_KINDS = ("reached", "proved")
_HEIGHT = 8.0  # cm, of the axes
_LEFT, _RIGHT = 1.25, 0.15  # cm beside them
_SLOT = 0.42  # cm of a configuration, at least: with more of them than 36 the sheet grows
_COUNTS = 0.62  # cm below the axes for the numbers of parameters
_SHIFT = 0.17  # of a slot: a ring stands so far left of its middle, a dot so far right
_ARROW = 0.55  # length of an arrow, as a factor on the axis of rates
_ROOM = 1.6  # between the highest interval and the top of the axes, as a factor on the axis of rates
_SIGNS = (
    "Ring: seeds right on all held-out inputs. Dot: seeds proved right on every input. Lines: exact 95% "
    "intervals."
)
_ARROWS = " Arrow: no seed succeeded; it begins at the upper end of the interval."


def write_success_rates(
    rows: Sequence[Mapping[str, object]], stem: Path, formats: Sequence[str] = ("png",), theme: str = "light"
) -> list[Path]:
    """The figure as STEM.png and so on; nothing where no seed is done."""
    data = compute_success_rates(rows)
    if not data["names"]:
        return []
    return save_figure(draw_success_rates(data, find_theme(theme)), stem, formats, find_theme(theme))


def compute_success_rates(rows: Sequence[Mapping[str, Any]]) -> _Data:
    """Numbers by configuration, most parameters first; rows are those of table.csv, texts or numbers."""
    done = sorted((row for row in rows if int(row["seeds"])), key=lambda row: -int(row["parameters"]))
    shares = {kind: [read_share(row, kind) for row in done] for kind in _KINDS}
    numbers = {
        f"{kind}_{end}": np.array([getattr(share, end, np.nan) for share in shares[kind]], float)
        for kind in _KINDS
        for end in ("value", "low", "high")
    }
    counts = {
        name: np.array([int(row[name] or 0) for row in done], int)
        for name in ("parameters", "seeds", *_KINDS)
    }
    names = [str(row["configuration"]) for row in done]
    return {"names": names, "families": [_cut_family_name(name) for name in names], **counts, **numbers}


def read_share(row: Mapping[str, Any], kind: str) -> MeasuredShare | None:
    """None where it was not tried."""
    return None if row[kind] in ("", None) else MeasuredShare.of(int(row[kind]), int(row["seeds"]))


def _cut_family_name(name: str) -> str:
    """`glass` of glass-39 and of glass-39-cosine."""
    head, _, rest = name.partition("-")
    return head if rest else name


def draw_success_rates(data: _Data, theme: Theme) -> "Figure":
    from matplotlib import rc_context

    from glassformer.pictures.parts.frame import (
        MARGIN,
        PAGE,
        SMALL,
        make_sheet,
        make_theme_settings,
        measure_foot_height,
        measure_text_width,
        write_foot,
    )

    names, foot = max(measure_text_width(name, SMALL) for name in data["names"]), describe_signs(data)
    width = max(PAGE, _SLOT * len(data["names"]) + _LEFT + _RIGHT + 2 * MARGIN)
    with rc_context(make_theme_settings(theme)):
        paper = make_sheet(
            theme,
            _HEIGHT + _COUNTS + names + 0.45 + measure_foot_height(foot),
            describe_best_rate(data),
            width,
        )
        axes = paper.axes(_LEFT, 0.1, paper.width - _LEFT - _RIGHT, _HEIGHT)
        _lay_out_slots(axes, data, theme)
        colours = _choose_family_colours(data, theme)
        for kind in _KINDS:
            _draw_rate_kind(axes, data, kind, colours, theme)
        _group_by_size(axes, data, theme)
        _write_configuration_names(axes, data, colours)
        write_foot(paper, foot)
    return paper.figure


def _lay_out_slots(axes: "Axes", data: _Data, theme: Theme) -> None:
    """One slot per configuration, and room for every interval and arrow."""
    axes.set_xlim(-0.5, len(data["names"]) - 0.5)
    axes.set_xticks([])
    axes.set_yscale("log")
    axes.set_ylim(_find_lowest_end(data) / 1.3, min(1.25, _ROOM * _find_highest_end(data)))
    low, high = axes.get_ylim()
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), 1)
    ticks = [tick for decade in decades for tick in (decade, 3 * decade) if low <= tick <= min(high, 1.0)]
    axes.set_yticks(ticks, [f"{100 * tick:g}%" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=theme.faint, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylabel("share of the seeds", labelpad=3)


def _find_lowest_end(data: _Data) -> float:
    """The lowest end of any line or arrow."""
    ends = [
        np.where(data[f"{kind}_low"] > 0, data[f"{kind}_low"], _ARROW * data[f"{kind}_high"])
        for kind in _KINDS
    ]
    return float(np.nanmin(ends))


def _find_highest_end(data: _Data) -> float:
    """The upper end of the highest interval."""
    return float(np.nanmax([data[f"{kind}_high"] for kind in _KINDS]))


def _choose_family_colours(data: _Data, theme: Theme) -> list[str]:
    """One a family, in the order of their names."""
    families = sorted(set(data["families"]))
    by_family = dict(zip(families, list_line_colours(len(families), theme), strict=True))
    return [by_family[name] for name in data["families"]]


def _draw_rate_kind(axes: "Axes", data: _Data, kind: str, colours: list[str], theme: Theme) -> None:
    """Rings or dots with their intervals, or arrows."""
    shift = _SHIFT if kind == "proved" else -_SHIFT
    ends = (data[f"{kind}_{end}"] for end in ("value", "low", "high"))
    for slot, (colour, value, low, high) in enumerate(zip(colours, *ends, strict=True)):
        if np.isnan(value):
            continue
        if value > 0:
            _draw_rate_point(axes, slot + shift, (value, low, high), kind, colour, theme)
        else:
            _draw_rate_arrow(axes, slot + shift, high, kind, colour)


def _draw_rate_point(
    axes: "Axes", place: float, share: tuple[float, float, float], kind: str, colour: str, theme: Theme
) -> None:
    value, low, high = share
    is_proved = kind == "proved"
    axes.plot([place, place], [low, high], color=colour, linewidth=1.4 if is_proved else 0.7, zorder=2)
    axes.plot(
        place, value, "o", markersize=4.2, color=colour, zorder=3,
        markerfacecolor=colour if is_proved else theme.paper, markeredgewidth=0.9,
    )  # fmt: skip


def _draw_rate_arrow(axes: "Axes", place: float, high: float, kind: str, colour: str) -> None:
    width = 1.4 if kind == "proved" else 0.7
    style = {"arrowstyle": "-|>,head_width=0.16,head_length=0.28", "color": colour, "linewidth": width}
    ends = {"xy": (place, _ARROW * high), "xytext": (place, high)}
    axes.annotate("", **ends, arrowprops=style | {"shrinkA": 0, "shrinkB": 0}, zorder=2)
    axes.plot(place, high, "_", color=colour, markersize=4, markeredgewidth=width, zorder=2)


def _group_by_size(axes: "Axes", data: _Data, theme: Theme) -> None:
    """The number of parameters, once for all configurations that have it, with lines between the groups."""
    sizes = data["parameters"]
    begins = [slot for slot in range(len(sizes)) if slot == 0 or sizes[slot] != sizes[slot - 1]]
    for first, after in zip(begins, [*begins[1:], len(sizes)], strict=True):
        if first:
            axes.axvline(first - 0.5, color=theme.faint, linewidth=0.5, zorder=0)
        middle = (first + after - 1) / 2
        _write_below_axis(axes, middle, 5, str(sizes[first]), fontsize=7.5, weight="bold", color=theme.ink)
    _write_below_axis(axes, -0.5, 6, "parameters ", ha="right", fontsize=6.5, color=theme.muted)


def _write_configuration_names(axes: "Axes", data: _Data, colours: list[str]) -> None:
    for slot, (name, colour) in enumerate(zip(data["names"], colours, strict=True)):
        _write_below_axis(axes, slot, 18, name, fontsize=6.5, rotation=90, color=colour)


def _write_below_axis(axes: "Axes", slot: float, points: float, text: str, **look: object) -> None:
    """Text so many points under the axis."""
    look = {"ha": "center", "va": "top", "annotation_clip": False} | look
    across = axes.get_xaxis_transform()
    axes.annotate(text, (slot, 0), (0, -points), xycoords=across, textcoords="offset points", **look)


def describe_signs(data: _Data) -> str:
    """What the figure's signs mean; arrows only where there are some."""
    return _SIGNS + (_ARROWS if any((data[f"{kind}_value"] == 0).any() for kind in _KINDS) else "")


def describe_best_rate(data: _Data) -> str:
    """What was found, in a line."""
    proved = np.flatnonzero(data["proved"])
    many = len(data["names"])
    if not len(proved):
        return f"Success rates of {many} configurations: no seed is proved"
    first = proved[-1]
    numbers = (
        f"{data['parameters'][first]} parameters, {data['proved'][first]:,} of {data['seeds'][first]:,} seeds"
    )
    if np.isnan(data["proved_value"]).any():
        return f"{many} configurations; the smallest proved is {data['names'][first]} ({numbers})"
    found = f"{len(proved)} of {many} configurations have a proved seed"
    return f"{found}; the smallest is {data['names'][first]} ({numbers})"


def describe_success_rates(data: _Data) -> str:
    rows = "; ".join(_describe_rate_row(data, index) for index in range(len(data["names"])))
    return f"Success rates over seeds against the number of parameters. {rows}. {describe_signs(data)}"


def _describe_rate_row(data: _Data, index: int) -> str:
    """`glass-39 (39): 17 of 1,024 reached, 15 proved, 1.5% (0.8 to 2.4%)`."""
    name, size, reached, seeds = (data[key][index] for key in ("names", "parameters", "reached", "seeds"))
    found = f"{name} ({size}): {reached:,} of {seeds:,} reached"
    if np.isnan(data["proved_value"][index]):
        return f"{found}, no proof tried"
    share = MeasuredShare.of(int(data["proved"][index]), int(seeds))
    return (
        f"{found}, {data['proved'][index]:,} proved, {format_percent(share.value)} ({format_interval(share)})"
    )
