"""Depth of both: the effective rank of each weight type over the layers of two models, one panel per type.

Models with other numbers of layers share an axis from the first layer (0) to the last (1); where a type has
other shapes in them, ranks are shares of those of random matrices.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme, mix_colours
from glassformer.lens.compare import Comparison, TypePair
from glassformer.lens.compare_tables import average_known
from glassformer.lens.compare_text import format_pair_shapes
from glassformer.lens.figures.grid import PanelGrid, shorten_name, shorten_title_name
from glassformer.lens.figures.groups import MOST_TYPES, average_over_layers, order_type
from glassformer.lens.figures.lines import (
    compute_depth_shares,
    draw_reference_level,
    draw_series_line,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.results import MatrixResult
from glassformer.lens.words import format_rank, format_ratio
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet, measure_text_width
from glassformer.pictures.picture import Data

_KEY, _SAMPLE = 0.55, 0.7  # cm: height of the row that names the lines, length of a sample
_BROAD, _THIN = 3.0, 1.0  # points: the second lies on the first and both are seen


def compute(both: Comparison) -> Data:
    found = [one for one in both.types if one.first[0].weight.layer is not None]
    if not found:
        raise UserError("the models have no weight type in common")
    largest = sorted(found, key=lambda one: -one.first[0].shape[0] * one.first[0].shape[1] * len(one.first))
    kept = sorted(largest[:MOST_TYPES], key=lambda one: order_type(one.name))
    is_relative = any(one.first[0].shape != one.second[0].shape for one in kept)
    sides = {
        one.name: [_make_rank_course(side, is_relative) for side in (one.first, one.second)] for one in kept
    }
    layers = [{layer for pair in sides.values() for layer in pair[side]["layers"]} for side in (0, 1)]
    return {
        "names": (both.first.name, both.second.name),
        "is_relative": is_relative,
        "is_share": layers[0] != layers[1],
        "types": {one.name: _pair_rank_courses(one, sides[one.name], is_relative) for one in kept},
        "left_out": len(found) - len(kept),
    }


def _make_rank_course(group: tuple[MatrixResult, ...], is_relative: bool) -> dict[str, Any]:
    """Ranks over the layers of one model, experts averaged."""
    layers, ranks = average_over_layers(
        [one for one in group if one.weight.layer is not None],
        lambda one: one.eff_rank / (one.random.eff_rank if is_relative else 1.0),
    )
    return {"layers": layers, "series": ranks}


def _pair_rank_courses(one: TypePair, sides: list[dict[str, Any]], is_relative: bool) -> dict[str, Any]:
    return {
        "shapes": format_pair_shapes(one),
        "random": 1.0 if is_relative else one.first[0].random.eff_rank,
        "means": [average_known(list(side["series"])) for side in sides],
        "sides": sides,
    }


def draw(data: Data, theme: Theme) -> Figure:
    grid, foot = PanelGrid.of(len(data["types"])), _describe_comparison_foot(data)
    paper = make_sheet(theme, _KEY + grid.total + grid.room_below(foot), title(data))
    _draw_model_key(paper, data["names"], theme)
    for index, (name, one) in enumerate(data["types"].items()):
        heading = name if " " in name else f"{name}  {one['shapes']}"
        grid.name(paper, index, heading, _format_paired_means(data, one), _KEY)
        _draw_paired_courses(grid.panel(paper, index, _KEY), one, data["is_share"], theme)
    grid.write_note(paper.part(0, _KEY, paper.width, paper.height - _KEY), foot)
    return paper.figure


def _choose_line_looks(theme: Theme) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first broad and pale, the second thin and strong on top of it."""
    pale = mix_colours(theme.accent, theme.paper, 0.45)
    first = {"colour": pale, "width": _BROAD, "marker": "", "solid_capstyle": "round", "zorder": 2}
    return first, {"colour": theme.negative, "width": _THIN, "zorder": 3}


def _draw_model_key(paper: Frame, names: tuple[str, str], theme: Theme) -> None:
    """Which line is which model."""
    half = paper.width / 2
    for side, (name, look) in enumerate(zip(names, _choose_line_looks(theme), strict=True)):
        text = shorten_name(name, SMALL, half - _SAMPLE - 0.4)
        x = (
            0.0
            if side == 0
            else min(half, _SAMPLE + 0.7 + measure_text_width(shorten_name(names[0], SMALL, half), SMALL))
        )
        axes = paper.axes(x, 0.05, _SAMPLE, 0.3)
        axes.axis("off")
        axes.plot((0, 1), (0, 0), color=look["colour"], linewidth=look["width"])
        paper.write(x + _SAMPLE + 0.15, 0.08, text, SMALL)


def _draw_paired_courses(axes: Axes, one: dict[str, Any], is_share: bool, theme: Theme) -> None:
    """One type: both courses and the random level."""
    places = [_place_layers(side["layers"], is_share) for side in one["sides"]]
    if is_share:
        axes.set_xlim(-0.05, 1.05)
        axes.set_xlabel("share of the depth")
    else:
        set_layer_axis(axes, one["sides"][0]["layers"])
    set_value_axis(axes, [*(side["series"] for side in one["sides"]), one["random"]])
    lines = [(place, side["series"]) for place, side in zip(places, one["sides"], strict=True)]
    draw_reference_level(axes, one["random"], "random", theme, lines)
    for (place, series), look in zip(lines, _choose_line_looks(theme), strict=True):
        alone = {"marker": "o", "markersize": 4} if len(place) == 1 else {}
        draw_series_line(axes, place, series, **(look | alone))


def _place_layers(layers: tuple[int, ...], is_share: bool) -> Any:
    return compute_depth_shares(len(layers)) if is_share else layers


def _format_paired_means(data: Data, one: dict[str, Any]) -> str:
    said = format_ratio if data["is_relative"] else format_rank
    random = "" if data["is_relative"] else f"; random {format_rank(one['random'])}"
    return f"means {said(one['means'][0])} and {said(one['means'][1])}{random}"


def _describe_comparison_foot(data: Data) -> str:
    parts = ["Dashed: a random matrix of that shape."]
    if data["is_relative"]:
        parts = ["Shares of the rank of a random matrix, dashed: the models' matrices differ in shape."]
    if data["is_share"]:
        parts.append("0 is a model's first layer, 1 its last.")
    if data["left_out"]:
        parts.append(f"{data['left_out']} more types in comparison.csv.")
    return " ".join([*parts, "Axes do not begin at 0."])


def title(data: Data) -> str:
    """The type whose mean moved most, as a share of it."""
    moved = {name: _compute_relative_move(one["means"]) for name, one in data["types"].items()}
    name = max(moved, key=lambda name: abs(moved[name]))
    if abs(moved[name]) < 5e-5:
        return "Effective rank over depth: the means of both models are the same in all types"
    word = "higher" if moved[name] > 0 else "lower"
    shares = " relative to random" if data["is_relative"] else ""
    return (
        f"Effective rank{shares} over depth: {shorten_title_name(name)} differs most, {abs(moved[name]):.2%} "
        f"{word} in the second on average"
    )


def _compute_relative_move(means: list[float]) -> float:
    return (means[1] - means[0]) / means[0] if means[0] > 0 else 0.0


def caption(data: Data) -> str:
    said = format_ratio if data["is_relative"] else format_rank
    rows = "; ".join(
        f"{name} {one['shapes']}: {said(one['means'][0])} and {said(one['means'][1])} on average"
        + ("" if data["is_share"] else f", {_describe_largest_difference(one, said)}")
        for name, one in data["types"].items()
    )
    return (
        "Effective rank, exp of the entropy of sigma / sum(sigma), of every weight matrix of "
        f"{data['names'][0]} (broad, pale) and {data['names'][1]} (thin). {rows}. "
        f"{_describe_comparison_foot(data)} Panels have axes of their own."
    )


def _describe_largest_difference(one: dict[str, Any], said: Any) -> str:
    first, second = one["sides"]
    common = sorted({*first["layers"]} & {*second["layers"]})
    values = [dict(zip(side["layers"], side["series"], strict=True)) for side in one["sides"]]
    gaps = np.array([abs(values[1][layer] - values[0][layer]) for layer in common])
    if not len(gaps) or gaps.max() < 1e-9 * values[0][common[0]]:
        return "the same in every layer"
    return f"at most {said(float(gaps.max()))} apart (layer {common[int(gaps.argmax())]})"
