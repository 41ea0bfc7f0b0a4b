"""What changed: size and rank of the second minus the first over the layers, and the directions that stayed.

A weight that did not change has no point: a size of 0 has no place on a logarithmic axis, and no rank.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme, list_line_colours
from glassformer.core.words import choose_plural
from glassformer.lens.compare import Comparison, TypePair, WeightPair
from glassformer.lens.compare_tables import average_known, summarise_type_pair
from glassformer.lens.compare_text import format_known_percent, format_mean_count, format_short_list
from glassformer.lens.figures.grid import shorten_name, shorten_title_name
from glassformer.lens.figures.groups import order_type
from glassformer.lens.figures.lines import MANY, draw_reference_level, set_layer_axis, set_value_axis
from glassformer.lens.figures.relative import split_attention_panels
from glassformer.lens.words import format_rank, format_ratio
from glassformer.pictures.parts.frame import (
    BODY,
    SMALL,
    Frame,
    make_sheet,
    measure_foot_height,
    measure_text_width,
    write_foot,
)
from glassformer.pictures.picture import Data

_HIGH, _ABOVE, _BELOW, _LEFT = 3.1, 0.55, 0.85, 1.15  # cm: a panel, and what stands around it
_KEY_LINE, _SAMPLE = 0.38, 0.5  # cm: a line of names, and a sample of a line before each
_WIDEST_NAME = 6.5  # cm
_LEAST_DECADES = 1.0  # of a logarithmic axis
_MEASURES: dict[str, tuple[str, Callable[[WeightPair], float]]] = {
    "norm": ("size of the change, |second \u2212 first| / |first|", lambda pair: pair.change_norm),
    "rank": ("its effective rank, as a share of a random matrix's", lambda pair: pair.change_relative),
    "kept": ("leading directions kept, mean squared cosine", lambda pair: pair.similarity),
}


def compute(both: Comparison) -> Data:
    if not both.subtracted:
        raise UserError("the models share no weight of one shape")
    types = [one for one in both.types if any(_is_in_layer(pair) for pair in one.changed)]
    if not types:
        raise UserError("no weight in a layer changed")
    layers = sorted({layer for pair in both.subtracted if (layer := pair.first.weight.layer) is not None})
    types = sorted(types, key=lambda one: order_type(one.name))
    still = [one.name for one in both.types if one.subtracted and not one.changed]
    some = [one.name for one in types if len(one.changed) < len(one.subtracted)]
    return {
        "names": (both.first.name, both.second.name),
        "layers": layers,
        "types": {one.name: _collect_type_changes(one, layers) for one in types},
        "unchanged": sorted(still, key=order_type),
        "partly": some,
        "counts": (len(both.changed), len(both.subtracted)),
    }


def _is_in_layer(pair: WeightPair) -> bool:
    return pair.first.weight.layer is not None


def _collect_type_changes(one: TypePair, layers: Sequence[int]) -> dict[str, Any]:
    """Each measure over the layers, nan where nothing changed; of experts, the mean of those that did."""
    changed = [pair for pair in one.changed if _is_in_layer(pair)]
    found: dict[str, Any] = {
        name: np.array(
            [average_known([number(p) for p in changed if p.first.weight.layer == layer]) for layer in layers]
        )
        for name, (_, number) in _MEASURES.items()
    }
    return found | {"changed": len(changed), "summary": summarise_type_pair(one)}


def draw(data: Data, theme: Theme) -> Figure:
    columns = split_attention_panels(data["types"])
    measures = [name for name in _MEASURES if np.isfinite(_gather_measure(data, name)).any()]
    wide = 16.4 / len(columns)
    keys = [_arrange_key_rows(list(lines), wide - 0.4) for lines in columns.values()]
    key = _KEY_LINE * (1 + max(len(rows) for rows in keys)) + 0.15
    block, foot = _ABOVE + _HIGH + _BELOW, _describe_change_foot(data)
    paper = make_sheet(theme, key + len(measures) * block + measure_foot_height(foot), title(data))
    for across, (heading, lines) in enumerate(columns.items()):
        colours = dict(zip(lines, list_line_colours(len(lines), theme), strict=True))
        part = paper.part(across * wide, 0, wide - 0.3, paper.height)
        _draw_type_key(part, heading, keys[across], colours)
        for down, measure in enumerate(measures):
            top = key + down * block
            part.write(0, top, _MEASURES[measure][0], SMALL, color=theme.muted)
            axes = part.axes(_LEFT, top + _ABOVE, wide - _LEFT - 0.3, _HIGH)
            _draw_change_measure(axes, measure, data, lines, colours, theme)
    write_foot(paper, foot)
    return paper.figure


def _arrange_key_rows(names: list[str], width: float) -> list[list[tuple[str, float]]]:
    """Names with their places, as many in a row as there is room for."""
    rows: list[list[tuple[str, float]]] = [[]]
    x = 0.0
    for name in names:
        needed = _SAMPLE + 0.45 + measure_text_width(shorten_name(name, SMALL, _WIDEST_NAME), SMALL)
        if rows[-1] and x + needed > width:
            rows.append([])
            x = 0.0
        rows[-1].append((name, x))
        x += needed
    return rows


def _draw_type_key(
    part: Frame, heading: str, rows: list[list[tuple[str, float]]], colours: dict[str, str]
) -> None:
    part.write(0, 0, heading, BODY, weight="bold")
    for down, row in enumerate(rows, 1):
        for name, x in row:
            y = down * _KEY_LINE
            axes = part.axes(x, y, _SAMPLE, 0.26)
            axes.axis("off")
            axes.plot((0, 0.5, 1), (0, 0, 0), color=colours[name], linewidth=1.2, marker="o", markersize=2.2)
            part.write(x + _SAMPLE + 0.12, y, shorten_name(name, SMALL, _WIDEST_NAME), SMALL)


def _draw_change_measure(
    axes: Axes, measure: str, data: Data, lines: dict[str, Any], colours: dict[str, str], theme: Theme
) -> None:
    set_layer_axis(axes, data["layers"])
    values = _gather_measure(data, measure)
    values = values[np.isfinite(values)]
    if measure == "kept":
        set_value_axis(axes, [values, 1.0])
        axes.set_ylim(min(0.9, float(values.min()) - 0.05), 1.02)
    else:
        _set_log_axis(axes, np.append(values, 1.0) if measure == "rank" else values, measure == "norm")
    if measure == "rank":
        draw_reference_level(axes, 1.0, "", theme)
    layers = np.asarray(data["layers"])
    for place, (name, one) in enumerate(lines.items()):
        is_dotted = len(layers) <= MANY or len(_find_layer_runs(layers, one[measure])) > 1
        broader = (len(lines) - 1 - place) / max(len(lines) - 1, 1)  # so that it is seen under an equal one
        look = {"linewidth": 0.9 + 1.5 * broader, "markersize": 1.8 + 2.2 * broader}
        for run in _find_layer_runs(layers, one[measure]):
            axes.plot(layers[run], one[measure][run], "o-" if is_dotted else "-", color=colours[name], **look)


def _set_log_axis(axes: Axes, values: Float[np.ndarray, "number"], is_percent: bool) -> None:
    """Limits around all numbers, at least a power of ten; ticks in plain numbers or per cent."""
    low, high = np.log10(values[values > 0].min()), np.log10(values.max())
    room = max(0.12 * (high - low), (_LEAST_DECADES - (high - low)) / 2, 0.1)
    axes.set_yscale("log")
    axes.set_ylim(10 ** (low - room), 10 ** (high + room))
    decades = high - low + 2 * room
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0,) if decades > 2 else (1.0, 3.0), numticks=6))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: format_known_percent(value) if is_percent else f"{value:g}")
    )
    axes.yaxis.set_minor_formatter(NullFormatter())


def _find_layer_runs(layers: Int[np.ndarray, "layer"], values: Float[np.ndarray, "layer"]) -> list[slice]:
    """Where numbers stand in one layer after the other: no line runs over layers that have none.

    >>> _find_layer_runs(np.array([0, 1, 2, 3, 8]), np.array([np.nan, 1.0, 2.0, 4.0, 3.0]))
    [slice(1, 4, None), slice(4, 5, None)]
    """
    there = np.flatnonzero(np.isfinite(values))
    cuts = np.flatnonzero((np.diff(there) > 1) | (np.diff(layers[there]) > 1)) + 1
    return [slice(int(run[0]), int(run[-1]) + 1) for run in np.split(there, cuts) if len(run)]


def _gather_measure(data: Data, measure: str) -> Float[np.ndarray, "number"]:
    """All numbers of a measure, so that panels side by side have one axis."""
    return np.concatenate([one[measure] for one in data["types"].values()])


def _describe_change_foot(data: Data) -> str:
    parts = ["Dashed: the rank of a random matrix, which rounding comes near."]
    if data["partly"] or data["unchanged"]:
        parts.append("Weights that did not change have no point.")
    if data["unchanged"]:
        parts.append(f"The same in both: {format_short_list(data['unchanged'])}.")
    left_out = len(data["types"]) - sum(
        len(lines) for lines in split_attention_panels(data["types"]).values()
    )
    if left_out:
        parts.append(f"{left_out} more types in comparison.csv.")
    return " ".join(parts)


def title(data: Data) -> str:
    changed, total = data["counts"]
    sizes = {name: np.nan_to_num(one["summary"]["change_norm"]) for name, one in data["types"].items()}
    most = max(sizes, key=lambda name: float(sizes[name]))
    found = data["types"][most]["summary"]
    count = f"All {total:,} weights" if changed == total else f"{changed:,} of {total:,} weights"
    return (
        f"{count} changed; {shorten_title_name(most)} most, by "
        f"{format_known_percent(found['change_norm'])}, with 90% of it in "
        f"{_format_directions(found['change_n90'])}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(_describe_type_change(name, one) for name, one in data["types"].items())
    return (
        f"{data['names'][1]} minus {data['names'][0]}, weight by weight. Size: Frobenius norm of the change "
        "as a share of the first's. Rank: effective rank of the change divided by that of a random matrix of "
        "its shape; an update of low rank lies far below 1, rounding near 1. Directions kept: mean squared "
        "cosine of the leading directions of both weights on the residual stream's side, 1 where they span "
        f"the same space. Of the weights that changed, together: {rows}. {_describe_change_foot(data)}"
    )


def _describe_type_change(name: str, one: dict[str, Any]) -> str:
    found = one["summary"]
    parts = [
        f"{name} ({one['changed']} changed): {format_known_percent(found['change_norm']) or 'from 0'}",
        f"effective rank {format_rank(found['change_eff_rank'])}",
        f"{format_ratio(found['change_relative'])} of random",
        f"90% of the energy in {_format_directions(found['change_n90'])}",
    ]
    if found["similarity"] == found["similarity"]:
        parts.append(f"directions kept {format_ratio(found['similarity'])}")
    return ", ".join(parts)


def _format_directions(count: float) -> str:
    return f"{format_mean_count(count)} {choose_plural(round(count, 1), 'direction')}"
