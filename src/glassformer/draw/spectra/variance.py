"""Variance explained: cumulative energy against the share of components, every layer a line."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import Frame, sheet
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.spectra.grid import Grid, in_title
from glassformer.draw.spectra.groups import by_type, cumulative_energy, experts_in, fitting, over_layers
from glassformer.draw.spectra.lines import (
    DASHED,
    KEY_HEIGHT,
    KEY_STRIP,
    depth_colour,
    depth_shares,
    layer_key,
)
from glassformer.draw.spectra.random_spectra import random_values
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import SHARES, Analysis
from glassformer.spectra.words import shape_text

POINTS = np.linspace(0, 1, 101)  # shares of the components
TARGET = 0.9  # of the energy
PLACE = SHARES.index(90)
FOOT = "Energy: sum of squared singular values. Dashed: a random matrix of that shape. Dotted: 90%."


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in fitting(by_type(analysis, needs_layer=False)).items():
        layers, curves = over_layers(group, lambda one: on_shares(one.values))
        size = min(group[0].shape)
        counts = over_layers(group, lambda one: float(one.statistics.components[PLACE]))[1]
        if not counts.any():
            continue
        random = random_values(group[0].shape)
        types[name] = {
            "shape": group[0].shape, "layers": layers, "curves": curves, "experts": experts_in(group),
            "is_layered": group[0].weight.layer is not None,
            "random": on_shares(random), "needed": counts / size,
            "random_needed": (int(np.searchsorted(cumulative_energy(random), TARGET)) + 1) / size,
        }  # fmt: skip
    if not types:
        raise UserError("all weights are 0")
    return {"name": analysis.name, "types": types, "shares": POINTS}


def on_shares(values: Float[np.ndarray, "component"]) -> Float[np.ndarray, "share"]:
    """Cumulative energy at evenly spaced shares of the components."""
    curve = np.r_[0.0, cumulative_energy(values)]
    return np.interp(POINTS, np.linspace(0, 1, len(curve)), curve)


def draw(data: Data, theme: Theme) -> Figure:
    return draw_fans(data, theme, title(data), FOOT, said_of, draw_type)


def draw_fans(
    data: Data, theme: Theme, heading: str, foot: str, said: Callable[[Any], str], panel: Callable[..., None]
) -> Figure:
    """A panel a type, in which every layer is a line in its colour."""
    grid = Grid.of(len(data["types"]), height=3.4)
    paper = sheet(theme, grid.total + grid.room_below(foot, KEY_HEIGHT), heading)
    layers = all_layers(data)
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {shape_text(one['shape'])}", said(one))
        panel(grid.panel(paper, index), one, layers, theme)
    draw_key(paper, grid, layers, theme)
    grid.write_note(paper, foot, KEY_HEIGHT)
    return paper.figure


def draw_type(axes: Axes, one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> None:
    axes.axhline(100 * TARGET, color=theme.faint, linewidth=0.7, linestyle=(0, (1, 1.5)))
    width = 0.9 if len(one["layers"]) < 20 else 0.5
    for colour, curve in zip(line_colours(one, layers, theme), one["curves"], strict=True):
        axes.plot(100 * POINTS, 100 * curve, color=colour, linewidth=width)
    axes.plot(100 * POINTS, 100 * one["random"], color=theme.ink, linewidth=0.9, linestyle=DASHED)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 102)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100%"])
    axes.set_yticks([0, 50, 90], ["0%", "50%", "90%"])
    axes.set_xlabel("components")
    axes.set_ylabel("energy")


def line_colours(one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> list[str]:
    """By the place among all layers drawn; what belongs to no layer has a colour of its own."""
    if not one["is_layered"]:
        return [theme.good]
    shares = depth_shares(len(layers))
    return [depth_colour(shares[layers.index(layer)], theme) for layer in one["layers"]]


def draw_key(paper: Frame, grid: Grid, layers: tuple[int, ...], theme: Theme) -> None:
    """What the colours of the lines mean."""
    if layers:
        layer_key(paper.axes(*grid.key_corner(), 4.2, KEY_STRIP), layers, theme)


def all_layers(data: Data) -> tuple[int, ...]:
    return tuple(
        sorted({layer for one in data["types"].values() for layer in one["layers"] if one["is_layered"]})
    )


def said_of(one: dict[str, Any]) -> str:
    shares = one["needed"]
    span = (
        percent(min(shares), 0)
        if percent(min(shares), 0) == percent(max(shares), 0)
        else f"{percent(min(shares), 0)} to {percent(max(shares), 0)}"
    )
    return f"90% in {span}; random {percent(one['random_needed'], 0)}"


def title(data: Data) -> str:
    means = {name: float(np.mean(one["needed"])) for name, one in data["types"].items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if low == high:
        return (
            f"{data['name']}: 90% of the energy of {in_title(low)} is in {percent(means[low], 0)} of its "
            "components"
        )
    return (
        f"{data['name']}: 90% of the energy is in {percent(means[low], 0)} of the components of "
        f"{in_title(low)}, in {percent(means[high], 0)} of {in_title(high)}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{name}: {said_of(one)}" for name, one in data["types"].items())
    experts = (
        " Of experts the mean curve is drawn."
        if any(one["experts"] > 1 for one in data["types"].values())
        else ""
    )
    return (
        "Share of the sum of squared singular values in the largest components, against the share of the "
        "components, every layer a line in the colour of the strip. Components "
        f"needed: {rows}. Dashed: "
        "quantiles of the law of Marchenko and Pastur for a random matrix of that shape. The variance is "
        "that "
        f"of the weights, not of what flows through them on text.{experts}"
    )
