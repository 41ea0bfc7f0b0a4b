"""Depth against random: effective ranks as shares of those of random matrices, all types on one axis."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import SMALL, foot_height, sheet, text_width, write_foot
from glassformer.draw.picture import Data
from glassformer.draw.spectra import depth
from glassformer.draw.spectra.grid import in_title, shortened
from glassformer.draw.spectra.lines import (
    layer_axis,
    level,
    name_ends,
    series_line,
    value_axis,
)
from glassformer.draw.theme import Theme, kind_colours
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import ratio_text

ATTENTION = ("W_Q", "W_K", "W_V", "W_O")
MOST = 8  # lines in a panel
HIGH, ABOVE, BELOW, NAMES = 5.6, 0.7, 0.9, 3.8  # cm; names are no wider
FOOT = "1: as many directions as a random matrix of the same shape uses. The axis does not begin at 0."


def compute(analysis: Analysis) -> Data:
    found = depth.compute(analysis)
    lines = {
        name: {"layers": one["layers"], "ratios": np.asarray(one["series"]) / one["random"]}
        for name, one in found["types"].items()
    }
    return {"name": analysis.name, "lines": lines}


def draw(data: Data, theme: Theme) -> Figure:
    panels = panels_of(data)
    paper = sheet(theme, ABOVE + HIGH + BELOW + foot_height(FOOT), title(data))
    every = [line["ratios"] for line in data["lines"].values()]
    pitch = paper.width / len(panels)
    names = min(NAMES, max(text_width(name, SMALL) for name in data["lines"])) + 0.45
    for index, (heading, lines) in enumerate(panels.items()):
        axes = paper.axes(index * pitch + 1.0, ABOVE, pitch - 1.0 - names, HIGH)
        value_axis(axes, [*every, 1.0], "share of the random rank" if index == 0 else "")
        layer_axis(axes, all_layers(data))
        level(axes, 1.0, "", theme)
        colours = kind_colours(len(lines), theme)
        for colour, line in zip(colours, lines.values(), strict=True):
            series_line(axes, line["layers"], line["ratios"], colour)
        ends = [float(line["ratios"][-1]) for line in lines.values()]
        texts = [shortened(name, SMALL, names - 0.4) for name in lines]
        name_ends(axes, ends, texts, colours, theme)
        axes.set_title(heading)
    write_foot(paper, FOOT)
    return paper.figure


def panels_of(data: Data) -> dict[str, dict[str, Any]]:
    """Attention at the left, the rest at the right."""
    lines = data["lines"]
    attention = {name: line for name, line in lines.items() if name.split(" ")[0] in ATTENTION}
    rest = {name: line for name, line in lines.items() if name not in attention}
    headings = {"attention": attention, "feed-forward" if attention else "weights": rest}
    return {heading: dict(list(part.items())[:MOST]) for heading, part in headings.items() if part}


def all_layers(data: Data) -> list[int]:
    return sorted({layer for line in data["lines"].values() for layer in line["layers"]})


def title(data: Data) -> str:
    means = {name: float(np.mean(line["ratios"])) for name, line in data["lines"].items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if low == high:
        used = ratio_text(means[low])
        return f"{data['name']}: {in_title(low)} uses {used} of the directions of a random matrix"
    return (
        f"{data['name']}: against random matrices {in_title(low)} is lowest ({ratio_text(means[low])} on "
        f"average), {in_title(high)} highest ({ratio_text(means[high])})"
    )


def caption(data: Data) -> str:
    drawn = sum(len(lines) for lines in panels_of(data).values())
    means = ", ".join(
        f"{name} {ratio_text(float(np.mean(line['ratios'])))}" for name, line in data["lines"].items()
    )
    left_out = len(data["lines"]) - drawn
    return (
        "Effective rank of every weight matrix divided by the effective rank of a matrix of independent "
        f"normal numbers of the same shape (Marchenko and Pastur). Means over the layers: {means}. Only "
        "these "
        "shares may be compared between types of different shapes: raw ranks differ by shape alone. The axis "
        "does not begin at 0." + (f" {left_out} more are not drawn." if left_out else "")
    )
