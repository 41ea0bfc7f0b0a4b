"""Units: every parameter of the feed-forward layer, one column per unit, and what the unit does.

The columns of all matrices and of the bars below are the same units, the largest contribution first.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from glassformer.core.theme import Theme
from glassformer.pictures.measure.hidden_units import (
    HiddenUnits,
    choose_unit_colours,
    describe_contexts,
    list_kind_entries,
    measure_hidden_units,
    require_feedforward,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    FOOT,
    SMALL,
    Frame,
    make_sheet,
    measure_text_height,
    measure_text_width,
)
from glassformer.pictures.parts.matrices import draw_heatmap, draw_scale_bar
from glassformer.pictures.parts.parameter_tables import to_row_matrix
from glassformer.pictures.picture import Data, select_parameters

_ROW, _MOST_ROWS = 0.42, 3.6  # cm: a row of a matrix, and a whole matrix at most
_LEFT, _WIDE = 3.3, 12.9  # cm: where columns begin, and how wide all of them are
_LEGEND = 6.8  # cm at the right of the last row, for the kinds of units and the scale
_BAR = 1.75  # cm: the height of a bar chart
_HALF = 0.5  # of all that is written, for the title

_Table = tuple[str, Float[np.ndarray, "_row _column"]]  # a parameter's name and numbers


def compute(subject: Subject) -> Data:
    units = measure_hidden_units(subject)
    parts = [f"{subject.layer}{part}" for part in ("ff_norm", "ff.gate", "ff.up", "ff.down")]
    stored = {
        name: array
        for part in parts
        for name, array in sorted(select_parameters(subject, part).items(), key=lambda pair: -pair[1].ndim)
    }
    count = require_feedforward(subject).units(subject.model.architecture.width)
    by_unit = {name: _arrange_by_unit(name, array, count) for name, array in stored.items()}
    return {
        "units": units,
        "sample": describe_contexts(subject),
        "tables": [(name, table[:, units.order]) for name, table in by_unit.items() if table is not None],
        "others": [(name, to_row_matrix(stored[name])) for name, table in by_unit.items() if table is None],
        "parameters": sum(array.size for array in stored.values()),
        "all_parameters": sum(np.size(array) for array in subject.model.params.values()),
    }


def _arrange_by_unit(
    name: str, array: Float[np.ndarray, "..."], units: int
) -> Float[np.ndarray, "row unit"] | None:
    """The numbers of a parameter with one column per unit; none where they do not belong to units."""
    part, _, kind = name.rpartition(".")
    reads_units = part.endswith("ff.down")
    if array.ndim == 0 or part.endswith("ff_norm") or (reads_units and kind in ("bias", "write")):
        return None
    if array.ndim == 1:
        return array[None] if len(array) == units and (reads_units or kind != "read") else None
    if reads_units:
        return array if array.shape[1] == units else None
    return array.T if array.shape[0] == units else None


def draw(data: Data, theme: Theme) -> Figure:
    heights = [_measure_table_height(table) for _, table in data["tables"]]
    matrices = sum(heights) + 0.3 * len(heights) + 0.75
    others = max((_measure_table_height(table) + 1.0 for _, table in data["others"]), default=0.0)
    others = max(others, 1.4)
    text = measure_text_height(_foot(data), SMALL, FOOT)
    paper = make_sheet(theme, matrices + 3 * (_BAR + 0.35) + 0.4 + others + text + 0.4, title(data))
    largest = max(
        (float(np.abs(table).max()) for _, table in data["tables"] + data["others"] if table.size),
        default=1.0,
    )
    image = _draw_unit_tables(paper, data["tables"], data["units"], largest)
    _draw_unit_bars(paper.part(_LEFT, matrices, _WIDE, 3 * (_BAR + 0.35)), data["units"])
    low = paper.part(_LEFT, matrices + 3 * (_BAR + 0.35) + 0.1, _WIDE, others)
    last = _draw_other_tables(low, data["others"], largest) or image
    if last is not None:
        draw_scale_bar(low.axes(_WIDE - 3.4, 0.45, 3.4, 0.22), last, theme, "scale of all matrices")
    _draw_unit_legend(low.part(_WIDE - _LEGEND + 0.2, 0.1, 2.4, 1.2), data["units"])
    paper.write(0, paper.height - text, _foot(data), SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    contribution = np.sort(data["units"].contribution)[::-1]
    reached = np.cumsum(contribution) >= _HALF * contribution.sum()
    few = int(reached.argmax()) + 1
    half = f"the strongest {few} write at least half of the output (sum of lengths)"
    half = "the strongest one writes at least half of the output (sum of lengths)" if few == 1 else half
    return (
        f"{data['parameters']:,} of the {data['all_parameters']:,} parameters are in {len(contribution)} "
        f"feed-forward units; {half if contribution.any() else 'none of them writes anything'}"
    )


def _foot(data: Data) -> str:
    return (
        "One column per unit, in the same order in every row: the largest contribution (mean activation "
        "times the length of its output vector) first. Input weights are shown transposed, one row per "
        "dimension."
    )


def _measure_table_height(table: Float[np.ndarray, "row column"]) -> float:
    return min(_ROW * len(table), _MOST_ROWS)


def _draw_unit_tables(
    paper: Frame, tables: list[_Table], units: HiddenUnits, largest: float
) -> AxesImage | None:
    """The parameters that belong to units, under each other, on one scale."""
    top, image = 0.75, None
    columns = tuple(f"u{unit}" for unit in units.order)
    for index, (name, table) in enumerate(tables):
        high = _measure_table_height(table)
        axes = paper.axes(_LEFT, top, _WIDE, high)
        rows = tuple(map(str, range(len(table)))) if len(table) > 1 else ()
        names = columns if index == 0 else ()
        image = draw_heatmap(axes, table, paper.theme, rows, names, largest=largest, parameter=name)
        short = name[name.rindex("ff") :]
        paper.write(0, top + high / 2 - 0.14, short, SMALL + 0.5, color=paper.theme.ink)
        top += high + 0.3
    return image


def _draw_other_tables(frame: Frame, tables: list[_Table], largest: float) -> AxesImage | None:
    """What belongs to no unit: the output's bias, a norm's gains."""
    left, image = 0.0, None
    for name, table in tables:
        wide = min(1.1 * table.shape[1], 5.5, (_WIDE - _LEGEND) / len(tables) - 0.6)
        axes = frame.axes(left, 0.85, wide, _measure_table_height(table))
        columns = tuple(map(str, range(table.shape[1])))
        image = draw_heatmap(axes, table, frame.theme, (), columns, largest=largest, parameter=name)
        short = name[name.rindex("ff") :]
        frame.write(left, 0.1, short, SMALL + 0.5)
        left += max(wide, measure_text_width(short, SMALL + 0.5)) + 0.6
    return image


def _draw_unit_bars(frame: Frame, units: HiddenUnits) -> None:
    """Three measures of each unit, in the columns of the matrices."""
    charts = (
        ("mean activation", units.activation, None),
        ("share of contexts\nin which it is on", units.active, 1.0),
        ("length of its\nmean output", units.contribution, None),
    )
    for row, (name, values, top) in enumerate(charts):
        axes = frame.axes(0, row * (_BAR + 0.35), frame.width, _BAR)
        _draw_unit_chart(axes, values[units.order], units, top, frame.theme)
        axes.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        frame.write(-_LEFT, row * (_BAR + 0.35) + 0.45, name, SMALL + 0.5)


def _draw_unit_chart(
    axes: Axes, values: Float[np.ndarray, " unit"], units: HiddenUnits, top: float | None, theme: Theme
) -> None:
    colours = np.array(choose_unit_colours(theme))[units.kinds[units.order]]
    axes.bar(np.arange(len(values)), values, width=0.8, color=colours, linewidth=0)
    axes.set_xlim(-0.5, len(values) - 0.5)
    low = min(float(values.min()), 0.0) * 1.06
    axes.set_ylim(low, 1.02 * top if top else max(float(values.max()), 1e-9) * 1.06)
    axes.set_xticks([])
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def _draw_unit_legend(frame: Frame, units: HiddenUnits) -> None:
    """The legend of the bars."""
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set(xlim=(0, frame.width), ylim=(-2.5, 0.5))
    axes.axis("off")
    for kind, (text, colour) in enumerate(list_kind_entries(units, frame.theme)):
        axes.plot([0, 0.4], [-kind, -kind], color=colour, linewidth=4, solid_capstyle="butt")
        axes.text(0.55, -kind, text, va="center_baseline", fontsize=SMALL + 0.5)


def caption(data: Data) -> str:
    units = data["units"]
    return (
        f"All {data['parameters']:,} parameters of the feed-forward layer and its norm, on one colour scale, "
        f"and three measures of each unit at the last position of {data['sample']}: bars of units that "
        f"switch, are always on ({int((units.kinds == 1).sum())}) and are never on "
        f"({int((units.kinds == 2).sum())}) differ in colour as in figure F1. {_foot(data)}"
    )
