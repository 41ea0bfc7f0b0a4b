"""Depth of both: the effective rank of each weight type over the layers of two models, one panel a type.

Models with other numbers of layers share an axis from the first layer (0) to the last (1); where a type has
other shapes in them, ranks are shares of those of random matrices.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import SMALL, Frame, sheet, text_width
from glassformer.draw.picture import Data
from glassformer.draw.spectra.grid import Grid, in_title, shortened
from glassformer.draw.spectra.groups import MOST_TYPES, over_layers, place_of
from glassformer.draw.spectra.lines import depth_shares, layer_axis, level, series_line, value_axis
from glassformer.draw.theme import Theme, mixed
from glassformer.errors import UserError
from glassformer.spectra.compare import Comparison, TypePair
from glassformer.spectra.compare_tables import mean
from glassformer.spectra.compare_text import shapes_text
from glassformer.spectra.results import MatrixResult
from glassformer.spectra.words import rank_text, ratio_text

KEY, SAMPLE = 0.55, 0.7  # cm: height of the row that names the lines, length of a sample
BROAD, THIN = 3.0, 1.0  # points: the second lies on the first and both are seen


def compute(both: Comparison) -> Data:
    found = [one for one in both.types if one.first[0].weight.layer is not None]
    if not found:
        raise UserError("the models have no weight type in common")
    largest = sorted(found, key=lambda one: -one.first[0].shape[0] * one.first[0].shape[1] * len(one.first))
    kept = sorted(largest[:MOST_TYPES], key=lambda one: place_of(one.name))
    is_relative = any(one.first[0].shape != one.second[0].shape for one in kept)
    sides = {one.name: [course(side, is_relative) for side in (one.first, one.second)] for one in kept}
    layers = [{layer for pair in sides.values() for layer in pair[side]["layers"]} for side in (0, 1)]
    return {
        "names": (both.first.name, both.second.name),
        "is_relative": is_relative,
        "is_share": layers[0] != layers[1],
        "types": {one.name: type_data(one, sides[one.name], is_relative) for one in kept},
        "left_out": len(found) - len(kept),
    }


def course(group: tuple[MatrixResult, ...], is_relative: bool) -> dict[str, Any]:
    """Ranks over the layers of one model, experts averaged."""
    layers, ranks = over_layers(
        [one for one in group if one.weight.layer is not None],
        lambda one: one.eff_rank / (one.random.eff_rank if is_relative else 1.0),
    )
    return {"layers": layers, "series": ranks}


def type_data(one: TypePair, sides: list[dict[str, Any]], is_relative: bool) -> dict[str, Any]:
    return {
        "shapes": shapes_text(one),
        "random": 1.0 if is_relative else one.first[0].random.eff_rank,
        "means": [mean(list(side["series"])) for side in sides],
        "sides": sides,
    }


def draw(data: Data, theme: Theme) -> Figure:
    grid, foot = Grid.of(len(data["types"])), foot_text(data)
    paper = sheet(theme, KEY + grid.total + grid.room_below(foot), title(data))
    draw_key(paper, data["names"], theme)
    for index, (name, one) in enumerate(data["types"].items()):
        heading = name if " " in name else f"{name}  {one['shapes']}"
        grid.name(paper, index, heading, means_text(data, one), KEY)
        draw_type(grid.panel(paper, index, KEY), one, data["is_share"], theme)
    grid.write_note(paper.part(0, KEY, paper.width, paper.height - KEY), foot)
    return paper.figure


def looks(theme: Theme) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first broad and pale, the second thin and strong on top of it."""
    pale = mixed(theme.accent, theme.paper, 0.45)
    first = {"colour": pale, "width": BROAD, "marker": "", "solid_capstyle": "round", "zorder": 2}
    return first, {"colour": theme.negative, "width": THIN, "zorder": 3}


def draw_key(paper: Frame, names: tuple[str, str], theme: Theme) -> None:
    """Which line is which model."""
    half = paper.width / 2
    for side, (name, look) in enumerate(zip(names, looks(theme), strict=True)):
        text = shortened(name, SMALL, half - SAMPLE - 0.4)
        x = (
            0.0
            if side == 0
            else min(half, SAMPLE + 0.7 + text_width(shortened(names[0], SMALL, half), SMALL))
        )
        axes = paper.axes(x, 0.05, SAMPLE, 0.3)
        axes.axis("off")
        axes.plot((0, 1), (0, 0), color=look["colour"], linewidth=look["width"])
        paper.write(x + SAMPLE + 0.15, 0.08, text, SMALL)


def draw_type(axes: Axes, one: dict[str, Any], is_share: bool, theme: Theme) -> None:
    """One type: both courses and the random level."""
    places = [places_of(side["layers"], is_share) for side in one["sides"]]
    if is_share:
        axes.set_xlim(-0.05, 1.05)
        axes.set_xlabel("share of the depth")
    else:
        layer_axis(axes, one["sides"][0]["layers"])
    value_axis(axes, [*(side["series"] for side in one["sides"]), one["random"]])
    lines = [(place, side["series"]) for place, side in zip(places, one["sides"], strict=True)]
    level(axes, one["random"], "random", theme, lines)
    for (place, series), look in zip(lines, looks(theme), strict=True):
        alone = {"marker": "o", "markersize": 4} if len(place) == 1 else {}
        series_line(axes, place, series, **(look | alone))


def places_of(layers: tuple[int, ...], is_share: bool) -> Any:
    return depth_shares(len(layers)) if is_share else layers


def means_text(data: Data, one: dict[str, Any]) -> str:
    said = ratio_text if data["is_relative"] else rank_text
    random = "" if data["is_relative"] else f"; random {rank_text(one['random'])}"
    return f"means {said(one['means'][0])} and {said(one['means'][1])}{random}"


def foot_text(data: Data) -> str:
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
    moved = {name: relative_move(one["means"]) for name, one in data["types"].items()}
    name = max(moved, key=lambda name: abs(moved[name]))
    if abs(moved[name]) < 5e-5:
        return "Effective rank over depth: the means of both models are the same in all types"
    word = "higher" if moved[name] > 0 else "lower"
    shares = " relative to random" if data["is_relative"] else ""
    return (
        f"Effective rank{shares} over depth: {in_title(name)} differs most, {abs(moved[name]):.2%} {word} "
        "in the second on average"
    )


def relative_move(means: list[float]) -> float:
    return (means[1] - means[0]) / means[0] if means[0] > 0 else 0.0


def caption(data: Data) -> str:
    said = ratio_text if data["is_relative"] else rank_text
    rows = "; ".join(
        f"{name} {one['shapes']}: {said(one['means'][0])} and {said(one['means'][1])} on average"
        + ("" if data["is_share"] else f", {largest_text(one, said)}")
        for name, one in data["types"].items()
    )
    return (
        f"Effective rank, exp of the entropy of sigma / sum(sigma), of every weight matrix of "
        f"{data['names'][0]} (broad, pale) and {data['names'][1]} (thin). {rows}. {foot_text(data)} "
        "Panels have axes of their own."
    )


def largest_text(one: dict[str, Any], said: Any) -> str:
    first, second = one["sides"]
    common = sorted({*first["layers"]} & {*second["layers"]})
    values = [dict(zip(side["layers"], side["series"], strict=True)) for side in one["sides"]]
    gaps = np.array([abs(values[1][layer] - values[0][layer]) for layer in common])
    if not len(gaps) or gaps.max() < 1e-9 * values[0][common[0]]:
        return "the same in every layer"
    return f"at most {said(float(gaps.max()))} apart (layer {common[int(gaps.argmax())]})"
