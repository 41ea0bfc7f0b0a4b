"""Variance explained: cumulative energy against the share of components, every layer a line."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.core.words import format_percent
from glassformer.lens.figures.grid import PanelGrid, shorten_title_name
from glassformer.lens.figures.groups import (
    average_over_layers,
    compute_cumulative_energy,
    count_experts,
    group_by_type,
    keep_largest_groups,
    list_all_layers,
)
from glassformer.lens.figures.lines import (
    DASHED,
    KEY_HEIGHT,
    KEY_STRIP,
    choose_depth_colour,
    compute_depth_shares,
    draw_layer_key,
)
from glassformer.lens.figures.random_spectra import compute_random_values
from glassformer.lens.results import SHARES, Analysis
from glassformer.lens.words import format_shape
from glassformer.pictures.parts.frame import Frame, make_sheet
from glassformer.pictures.picture import Data

_POINTS = np.linspace(0, 1, 101)  # shares of the components
_TARGET = 0.9  # of the energy
_PLACE = SHARES.index(90)
_FOOT = "Energy: sum of squared singular values. Dashed: a random matrix of that shape. Dotted: 90%."


def compute(analysis: Analysis) -> Data:
    types = {}
    for name, group in keep_largest_groups(group_by_type(analysis, needs_layer=False)).items():
        layers, curves = average_over_layers(group, lambda one: _interpolate_energy(one.values))
        size = min(group[0].shape)
        counts = average_over_layers(group, lambda one: float(one.statistics.components[_PLACE]))[1]
        if not counts.any():
            continue
        random = compute_random_values(group[0].shape)
        types[name] = {
            "shape": group[0].shape, "layers": layers, "curves": curves, "experts": count_experts(group),
            "is_layered": group[0].weight.layer is not None,
            "random": _interpolate_energy(random), "needed": counts / size,
            "random_needed": (int(np.searchsorted(compute_cumulative_energy(random), _TARGET)) + 1) / size,
        }  # fmt: skip
    if not types:
        raise UserError("all weights are 0")
    return {"name": analysis.name, "types": types, "shares": _POINTS}


def _interpolate_energy(values: Float[np.ndarray, "component"]) -> Float[np.ndarray, "share"]:
    """Cumulative energy at evenly spaced shares of the components."""
    curve = np.r_[0.0, compute_cumulative_energy(values)]
    return np.interp(_POINTS, np.linspace(0, 1, len(curve)), curve)


def draw(data: Data, theme: Theme) -> Figure:
    return draw_layer_fans(data, theme, title(data), _FOOT, _describe_needed_shares, _draw_energy_curves)


def draw_layer_fans(
    data: Data, theme: Theme, heading: str, foot: str, said: Callable[[Any], str], panel: Callable[..., None]
) -> Figure:
    """One panel per type, in which every layer is a line in its colour."""
    grid = PanelGrid.of(len(data["types"]), height=3.4)
    paper = make_sheet(theme, grid.total + grid.room_below(foot, KEY_HEIGHT), heading)
    layers = list_all_layers(data["types"])
    for index, (name, one) in enumerate(data["types"].items()):
        grid.name(paper, index, f"{name}  {format_shape(one['shape'])}", said(one))
        panel(grid.panel(paper, index), one, layers, theme)
    draw_layer_legend(paper, grid, layers, theme)
    grid.write_note(paper, foot, KEY_HEIGHT)
    return paper.figure


def _draw_energy_curves(axes: Axes, one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> None:
    axes.axhline(100 * _TARGET, color=theme.faint, linewidth=0.7, linestyle=(0, (1, 1.5)))
    width = 0.9 if len(one["layers"]) < 20 else 0.5
    for colour, curve in zip(choose_line_colours(one, layers, theme), one["curves"], strict=True):
        axes.plot(100 * _POINTS, 100 * curve, color=colour, linewidth=width)
    axes.plot(100 * _POINTS, 100 * one["random"], color=theme.ink, linewidth=0.9, linestyle=DASHED)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 102)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100%"])
    axes.set_yticks([0, 50, 90], ["0%", "50%", "90%"])
    axes.set_xlabel("components")
    axes.set_ylabel("energy")


def choose_line_colours(one: dict[str, Any], layers: tuple[int, ...], theme: Theme) -> list[str]:
    """By the place among all layers drawn; what belongs to no layer has a colour of its own."""
    if not one["is_layered"]:
        return [theme.good]
    shares = compute_depth_shares(len(layers))
    return [choose_depth_colour(shares[layers.index(layer)], theme) for layer in one["layers"]]


def draw_layer_legend(paper: Frame, grid: PanelGrid, layers: tuple[int, ...], theme: Theme) -> None:
    """What the colours of the lines mean."""
    if layers:
        draw_layer_key(paper.axes(*grid.key_corner(), 4.2, KEY_STRIP), layers, theme)


def _describe_needed_shares(one: dict[str, Any]) -> str:
    shares = one["needed"]
    span = (
        format_percent(min(shares), 0)
        if format_percent(min(shares), 0) == format_percent(max(shares), 0)
        else f"{format_percent(min(shares), 0)} to {format_percent(max(shares), 0)}"
    )
    return f"90% in {span}; random {format_percent(one['random_needed'], 0)}"


def title(data: Data) -> str:
    means = {name: float(np.mean(one["needed"])) for name, one in data["types"].items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if low == high:
        return (
            f"{data['name']}: 90% of the energy of {shorten_title_name(low)} is in "
            f"{format_percent(means[low], 0)} of its components"
        )
    return (
        f"{data['name']}: 90% of the energy is in {format_percent(means[low], 0)} of the components of "
        f"{shorten_title_name(low)}, in {format_percent(means[high], 0)} of {shorten_title_name(high)}"
    )


def caption(data: Data) -> str:
    rows = "; ".join(f"{name}: {_describe_needed_shares(one)}" for name, one in data["types"].items())
    experts = (
        " Of experts the mean curve is drawn."
        if any(one["experts"] > 1 for one in data["types"].values())
        else ""
    )
    return (
        "Share of the sum of squared singular values in the largest components, against the share of the "
        f"components, every layer a line in the colour of the strip. Components needed: {rows}. Dashed: "
        "quantiles of the law of Marchenko and Pastur for a random matrix of that shape. The variance is "
        f"that of the weights, not of what flows through them on text.{experts}"
    )
