"""Units: every stored number of the feed-forward layer, one column a unit, and what the unit does with it.

The columns of all matrices and of the bars below are the same units, the largest contribution first.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from glassformer.draw.measure.hidden_units import (
    KINDS,
    Units,
    feedforward_of,
    kind_colours,
    sample_text,
    units_of,
)
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import FOOT, SMALL, Frame, sheet, text_height, text_width
from glassformer.draw.parts.matrices import matrix, scale_bar
from glassformer.draw.picture import Data, parameters_of
from glassformer.draw.theme import Theme

ROW, MOST_ROWS = 0.42, 3.6  # cm: a row of a matrix, and a whole matrix at most
LEFT, WIDE = 3.3, 12.9  # cm: where columns begin, and how wide all of them are
LEGEND = 6.8  # cm at the right of the last row, for the kinds of units and the scale
BAR = 1.75  # cm: the height of a bar chart
HALF = 0.5  # of all that is written, for the title

Table = tuple[str, Float[np.ndarray, "row column"]]  # a parameter's name and numbers


def compute(subject: Subject) -> Data:
    units = units_of(subject)
    parts = [f"{subject.layer}{part}" for part in ("ff_norm", "ff.gate", "ff.up", "ff.down")]
    stored = {
        name: array
        for part in parts
        for name, array in sorted(parameters_of(subject, part).items(), key=lambda pair: -pair[1].ndim)
    }
    count = feedforward_of(subject).units(subject.model.architecture.width)
    by_unit = {name: along_units(name, array, count) for name, array in stored.items()}
    return {
        "units": units,
        "sample": sample_text(subject),
        "tables": [(name, table[:, units.order]) for name, table in by_unit.items() if table is not None],
        "others": [(name, as_table(stored[name])) for name, table in by_unit.items() if table is None],
        "parameters": sum(array.size for array in stored.values()),
        "all_parameters": sum(np.size(array) for array in subject.model.params.values()),
    }


def along_units(
    name: str, array: Float[np.ndarray, "..."], units: int
) -> Float[np.ndarray, "row unit"] | None:
    """The numbers of a parameter with one column a unit; none where they do not belong to units."""
    part, _, kind = name.rpartition(".")
    reads_units = part.endswith("ff.down")
    if array.ndim == 0 or part.endswith("ff_norm") or (reads_units and kind in ("bias", "write")):
        return None
    if array.ndim == 1:
        return array[None] if len(array) == units and (reads_units or kind != "read") else None
    if reads_units:
        return array if array.shape[1] == units else None
    return array.T if array.shape[0] == units else None


def as_table(array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "row column"]:
    """Any array as rows: a vector is one."""
    return array.reshape(-1, array.shape[-1] if array.ndim else 1)


def draw(data: Data, theme: Theme) -> Figure:
    heights = [table_height(table) for _, table in data["tables"]]
    matrices = sum(heights) + 0.3 * len(heights) + 0.75
    others = max((table_height(table) + 1.0 for _, table in data["others"]), default=0.0)
    others = max(others, 1.4)
    text = text_height(foot(data), SMALL, FOOT)
    paper = sheet(theme, matrices + 3 * (BAR + 0.35) + 0.4 + others + text + 0.4, title(data))
    largest = max(
        (float(np.abs(table).max()) for _, table in data["tables"] + data["others"] if table.size),
        default=1.0,
    )
    image = draw_tables(paper, data["tables"], data["units"], largest)
    draw_bars(paper.part(LEFT, matrices, WIDE, 3 * (BAR + 0.35)), data["units"])
    low = paper.part(LEFT, matrices + 3 * (BAR + 0.35) + 0.1, WIDE, others)
    last = draw_others(low, data["others"], largest) or image
    if last is not None:
        scale_bar(low.axes(WIDE - 3.4, 0.45, 3.4, 0.22), last, theme, "scale of all matrices")
    draw_kinds(low.part(WIDE - LEGEND + 0.2, 0.1, 2.4, 1.2), data["units"])
    paper.write(0, paper.height - text, foot(data), SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    contribution = np.sort(data["units"].contribution)[::-1]
    reached = np.cumsum(contribution) >= HALF * contribution.sum()
    few = int(reached.argmax()) + 1
    half = f"the strongest {few} write at least half of what all write, lengths added up"
    half = "the strongest one writes at least half of what all write, lengths added up" if few == 1 else half
    return (
        f"{data['parameters']:,} of the {data['all_parameters']:,} parameters make {len(contribution)} "
        f"feed-forward units; {half if contribution.any() else 'none of them writes anything'}"
    )


def foot(data: Data) -> str:
    return (
        "One column a unit, the same in every row, the largest contribution (mean activation times the "
        "length of what it writes) first. Matrices that read the stream are shown transposed, one row a "
        "dimension."
    )


def table_height(table: Float[np.ndarray, "row column"]) -> float:
    return min(ROW * len(table), MOST_ROWS)


def draw_tables(paper: Frame, tables: list[Table], units: Units, largest: float) -> AxesImage | None:
    """The parameters that belong to units, under each other, on one scale."""
    top, image = 0.75, None
    columns = tuple(f"u{unit}" for unit in units.order)
    for index, (name, table) in enumerate(tables):
        high = table_height(table)
        axes = paper.axes(LEFT, top, WIDE, high)
        rows = tuple(map(str, range(len(table)))) if len(table) > 1 else ()
        names = columns if index == 0 else ()
        image = matrix(axes, table, paper.theme, rows, names, largest=largest, parameter=name)
        short = name[name.rindex("ff") :]
        paper.write(0, top + high / 2 - 0.14, short, SMALL + 0.5, color=paper.theme.ink)
        top += high + 0.3
    return image


def draw_others(frame: Frame, tables: list[Table], largest: float) -> AxesImage | None:
    """What belongs to no unit: the output's bias, a norm's gains."""
    left, image = 0.0, None
    for name, table in tables:
        wide = min(1.1 * table.shape[1], 5.5, (WIDE - LEGEND) / len(tables) - 0.6)
        axes = frame.axes(left, 0.85, wide, table_height(table))
        columns = tuple(map(str, range(table.shape[1])))
        image = matrix(axes, table, frame.theme, (), columns, largest=largest, parameter=name)
        short = name[name.rindex("ff") :]
        frame.write(left, 0.1, short, SMALL + 0.5)
        left += max(wide, text_width(short, SMALL + 0.5)) + 0.6
    return image


def draw_bars(frame: Frame, units: Units) -> None:
    """Three measures of each unit, in the columns of the matrices."""
    charts = (
        ("mean activation", units.activation, None),
        ("share of contexts\nthat turn it on", units.active, 1.0),
        ("length of what it\nwrites on average", units.contribution, None),
    )
    for row, (name, values, top) in enumerate(charts):
        axes = frame.axes(0, row * (BAR + 0.35), frame.width, BAR)
        draw_bar_chart(axes, values[units.order], units, top, frame.theme)
        axes.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        frame.write(-LEFT, row * (BAR + 0.35) + 0.45, name, SMALL + 0.5)


def draw_bar_chart(
    axes: Axes, values: Float[np.ndarray, " unit"], units: Units, top: float | None, theme: Theme
) -> None:
    colours = np.array(kind_colours(theme))[units.kinds[units.order]]
    axes.bar(np.arange(len(values)), values, width=0.8, color=colours, linewidth=0)
    axes.set_xlim(-0.5, len(values) - 0.5)
    low = min(float(values.min()), 0.0) * 1.06
    axes.set_ylim(low, 1.02 * top if top else max(float(values.max()), 1e-9) * 1.06)
    axes.set_xticks([])
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def draw_kinds(frame: Frame, units: Units) -> None:
    """The legend of the bars."""
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set(xlim=(0, frame.width), ylim=(-2.5, 0.5))
    axes.axis("off")
    for kind, (name, colour) in enumerate(zip(KINDS, kind_colours(frame.theme), strict=True)):
        axes.plot([0, 0.4], [-kind, -kind], color=colour, linewidth=4, solid_capstyle="butt")
        text = f"{name}: {int((units.kinds == kind).sum())}"
        axes.text(0.55, -kind, text, va="center_baseline", fontsize=SMALL + 0.5)


def caption(data: Data) -> str:
    units = data["units"]
    return (
        f"All {data['parameters']:,} stored numbers of the feed-forward layer and its norm, on one scale, "
        f"and three measures of each unit at the last place of {data['sample']}: bars of units that "
        f"switch, are always on ({int((units.kinds == 1).sum())}) and are never on "
        f"({int((units.kinds == 2).sum())}) differ in colour as in figure F1. {foot(data)}"
    )
