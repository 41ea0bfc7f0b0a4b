"""Depth against random: effective ranks as shares of those of random matrices, all types on one axis."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, list_line_colours
from glassformer.lens.figures import depth
from glassformer.lens.figures.grid import shorten_name, shorten_title_name
from glassformer.lens.figures.groups import list_all_layers
from glassformer.lens.figures.lines import (
    draw_reference_level,
    draw_series_line,
    label_line_ends,
    set_layer_axis,
    set_value_axis,
)
from glassformer.lens.results import Analysis
from glassformer.lens.words import format_ratio
from glassformer.pictures.parts.frame import (
    SMALL,
    make_sheet,
    measure_foot_height,
    measure_text_width,
    write_foot,
)
from glassformer.pictures.picture import Data

_ATTENTION = ("W_Q", "W_K", "W_V", "W_O")
_MOST = 8  # lines in a panel
_HIGH, _ABOVE, _BELOW, _NAMES = 5.6, 0.7, 0.9, 3.8  # cm; names are no wider
_FOOT = "1: as many directions as a random matrix of the same shape uses. The axis does not begin at 0."


def compute(analysis: Analysis) -> Data:
    found = depth.compute(analysis)
    lines = {
        name: {"layers": one["layers"], "ratios": np.asarray(one["series"]) / one["random"]}
        for name, one in found["types"].items()
    }
    return {"name": analysis.name, "lines": lines}


def draw(data: Data, theme: Theme) -> Figure:
    panels = split_attention_panels(data["lines"])
    paper = make_sheet(theme, _ABOVE + _HIGH + _BELOW + measure_foot_height(_FOOT), title(data))
    every = [line["ratios"] for line in data["lines"].values()]
    pitch = paper.width / len(panels)
    names = min(_NAMES, max(measure_text_width(name, SMALL) for name in data["lines"])) + 0.45
    for index, (heading, lines) in enumerate(panels.items()):
        axes = paper.axes(index * pitch + 1.0, _ABOVE, pitch - 1.0 - names, _HIGH)
        set_value_axis(axes, [*every, 1.0], "share of the random rank" if index == 0 else "")
        set_layer_axis(axes, list_all_layers(data["lines"]))
        draw_reference_level(axes, 1.0, "", theme)
        colours = list_line_colours(len(lines), theme)
        for colour, line in zip(colours, lines.values(), strict=True):
            draw_series_line(axes, line["layers"], line["ratios"], colour)
        ends = [float(line["ratios"][-1]) for line in lines.values()]
        texts = [shorten_name(name, SMALL, names - 0.4) for name in lines]
        label_line_ends(axes, ends, texts, colours, theme)
        axes.set_title(heading)
    write_foot(paper, _FOOT)
    return paper.figure


def split_attention_panels(types: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Attention at the left, the rest at the right; of each no more types than a panel has room for."""
    attention = {name: one for name, one in types.items() if name.split(" ")[0] in _ATTENTION}
    rest = {name: one for name, one in types.items() if name not in attention}
    headings = {"attention": attention, "feed-forward" if attention else "weights": rest}
    return {heading: dict(list(part.items())[:_MOST]) for heading, part in headings.items() if part}


def title(data: Data) -> str:
    means = {name: float(np.mean(line["ratios"])) for name, line in data["lines"].items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if low == high:
        used = format_ratio(means[low])
        return f"{data['name']}: {shorten_title_name(low)} uses {used} of the directions of a random matrix"
    return (
        f"{data['name']}: against random matrices {shorten_title_name(low)} is lowest "
        f"({format_ratio(means[low])} on average), {shorten_title_name(high)} highest "
        f"({format_ratio(means[high])})"
    )


def caption(data: Data) -> str:
    drawn = sum(len(lines) for lines in split_attention_panels(data["lines"]).values())
    means = ", ".join(
        f"{name} {format_ratio(float(np.mean(line['ratios'])))}" for name, line in data["lines"].items()
    )
    left_out = len(data["lines"]) - drawn
    return (
        "Effective rank of every weight matrix divided by the effective rank of a matrix of independent "
        f"normal numbers of the same shape (Marchenko and Pastur). Means over the layers: {means}. Only "
        "these shares may be compared between types of different shapes: raw ranks differ by shape alone. "
        "The axis does not begin at 0." + (f" {left_out} more are not drawn." if left_out else "")
    )
