"""Numbers over the layers: lines, levels, thirds, ends with names. One model or two on the same axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.core.theme import Theme, mix_colours
from glassformer.core.words import replace_minus
from glassformer.pictures.parts.frame import POINTS, SMALL, measure_text_width

_FEW = 6  # layers that are all named
MANY = 40  # layers from which on a line has no dots
KEY_HEIGHT = 0.62  # cm that a strip of the layers' colours takes with its names
KEY_STRIP = 7.0 / POINTS  # cm of it that are colour
FLAT = 1e-4  # of the numbers: a smaller range is drawn as none
DASHED: Any = (0, (4, 2))
_DOTTED: Any = (0, (1, 1.5))


def choose_depth_colour(share: float, theme: Theme) -> str:
    """From the first layer (0), warm and pale, to the last (1), cool and strong: told apart in grey too."""
    return mix_colours(theme.high, mix_colours(theme.negative, theme.paper, 0.62), share)


def compute_depth_shares(count: int) -> Float[np.ndarray, "layer"]:
    return np.linspace(0, 1, count) if count > 1 else np.ones(1)


def set_layer_axis(axes: Axes, layers: Sequence[int], label: str = "layer") -> None:
    """Whole layers across."""
    room = 0.5 if len(layers) < 12 else 0.9
    axes.set_xlim(min(layers) - room, max(layers) + room)
    if len(layers) <= _FEW:
        axes.set_xticks(layers)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(label)


def set_value_axis(axes: Axes, values: Sequence[Float[np.ndarray, "..."] | float], label: str = "") -> None:
    """Limits around all finite numbers, with some room; thousands in few characters."""
    every = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in values])
    every = every[np.isfinite(every)]
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
    room = compute_axis_room(low, high)
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: replace_minus(f"{value:,.4g}")))
    axes.set_ylabel(label)


def compute_axis_room(low: float, high: float, share: float = 0.15) -> float:
    """What limits leave beyond the ends; numbers that differ by rounding alone are not blown up.

    >>> compute_axis_room(2.0, 2.0), round(compute_axis_room(0.0, 10.0), 9)
    (0.1, 1.5)
    """
    is_flat = high - low <= FLAT * max(abs(low), abs(high))
    return (0.05 * abs(high) or 1.0) if is_flat else share * (high - low)


def draw_series_line(
    axes: Axes,
    layers: Sequence[int],
    values: Float[np.ndarray, "layer"],
    colour: str,
    width: float = 1.0,
    **settings: Any,
) -> None:
    """A line, with dots where the layers are few."""
    marker = {"marker": "o", "markersize": 2.2 if len(layers) <= 16 else 1.6} if len(layers) <= MANY else {}
    axes.plot(layers, values, color=colour, linewidth=width, **(marker | settings))


def draw_reference_level(
    axes: Axes, value: float, text: str, theme: Theme, avoid: Sequence[tuple[Sequence[int], np.ndarray]] = ()
) -> None:
    """A dashed line across with its name on it, at the end and the side where the lines to avoid are far."""
    if not np.isfinite(value):
        return
    axes.axhline(value, color=theme.muted, linewidth=0.8, linestyle=DASHED, zorder=1)
    if not text:
        return
    is_right, is_above = _find_free_side(axes, value, text, avoid)
    axes.annotate(
        text, (float(is_right), value), xycoords=("axes fraction", "data"), textcoords="offset points",
        xytext=(-2 if is_right else 2, 2 if is_above else -2.5), ha="right" if is_right else "left",
        va="bottom" if is_above else "top", fontsize=SMALL, color=theme.muted,
        path_effects=[withStroke(linewidth=2, foreground=theme.paper)],
    )  # fmt: skip


def _find_free_side(
    axes: Axes, value: float, text: str, avoid: Sequence[tuple[Sequence[int], np.ndarray]]
) -> tuple[bool, bool]:
    """Whether a text on a level stands best at the right end, and above the level."""
    box, inches = axes.get_position(), axes.figure.get_size_inches()
    wide = measure_text_width(text, SMALL) / (box.width * inches[0] * 2.54) + 0.03
    high = SMALL * 1.5 / (box.height * inches[1] * 72)
    (left, right), (low, top) = axes.get_xlim(), axes.get_ylim()
    points = [
        np.stack([(np.asarray(x) - left) / (right - left), (np.asarray(y) - low) / (top - low)], 1)
        for x, y in (_interpolate_line(*line) for line in avoid)
    ]
    spots = np.concatenate(points) if points else np.zeros((0, 2))
    here = (value - low) / (top - low)
    costs = {}
    for is_right in (True, False):
        for is_above in (True, False):
            across = (spots[:, 0] > 1 - wide) if is_right else (spots[:, 0] < wide)
            gap = (spots[:, 1] - here) if is_above else (here - spots[:, 1])
            outside = here + high > 1 if is_above else here - high < 0
            costs[is_right, is_above] = int((across & (gap > -0.02) & (gap < high)).sum()) + 1000 * outside
    return min(costs, key=costs.__getitem__)


def _interpolate_line(x: Sequence[int], y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line as many points, so that what lies between two layers counts too."""
    seen = np.isfinite(y)
    fine = np.linspace(x[0], x[-1], 200)
    return fine, np.interp(fine, np.asarray(x)[seen], np.asarray(y)[seen]) if seen.any() else fine * np.nan


def draw_third_bars(axes: Axes, layers: Sequence[int], means: Sequence[float], theme: Theme) -> None:
    """The mean of each part of the layers as a wide pale bar."""
    if len(means) < 2:
        return
    for part, mean in zip(np.array_split(np.asarray(layers), len(means)), means, strict=True):
        ends = (part[0] - 0.45, part[-1] + 0.45)
        axes.plot(ends, (mean, mean), color=theme.faint, linewidth=3.2, solid_capstyle="butt", zorder=0.5)


def draw_change_lines(axes: Axes, first_layers: Sequence[int], theme: Theme) -> None:
    """Between two segments."""
    for layer in first_layers:
        axes.axvline(layer - 0.5, color=theme.bad, linewidth=0.8, linestyle=_DOTTED, zorder=1)


def label_line_ends(
    axes: Axes, ends: Sequence[float], texts: Sequence[str], colours: Sequence[str], theme: Theme
) -> None:
    """Names at the right of the axes, beside the ends of their lines, moved apart; limits must be final."""
    order = np.argsort(ends)
    low, high = axes.get_ylim()
    box = axes.get_position()
    points = box.height * axes.figure.get_size_inches()[1] * 72
    wanted = np.array([(ends[index] - low) / (high - low) * points for index in order])
    places = spread_labels(wanted, SMALL * 1.3, points)
    for index, want, place in zip(order, wanted, places, strict=True):
        here = {"transform": axes.transAxes, "clip_on": False}
        axes.plot((1.0, 1.015), (want / points, place / points), color=colours[index], linewidth=0.5, **here)
        axes.text(
            1.025, place / points, texts[index], va="center", fontsize=SMALL, color=colours[index], **here
        )


def spread_labels(
    wanted: Float[np.ndarray, "text"], distance: float, room: float
) -> Float[np.ndarray, "text"]:
    """Rising places at least so far apart, within the room, as near to the wanted ones as that allows.

    Less `distance` for each one below it, a place may equal the one before: texts that would collide are
    pooled at the mean of what they want (isotonic regression).

    >>> spread_labels(np.array([5.0, 5.0, 20.0]), 4.0, 30.0).tolist()
    [3.0, 7.0, 20.0]
    """
    steps = distance * np.arange(len(wanted))
    pools: list[tuple[float, int]] = []  # mean and number of texts
    for want in wanted - steps:
        mean, count = float(want), 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        pools.append((mean, count))
    level = np.concatenate([np.full(count, mean) for mean, count in pools])
    return np.asarray(np.clip(level, 0, max(room - steps[-1], 0)) + steps)


def draw_layer_key(axes: Axes, layers: Sequence[int], theme: Theme) -> None:
    """The colours of the layers as a strip."""
    colours = [choose_depth_colour(share, theme) for share in compute_depth_shares(len(layers))]
    for index, colour in enumerate(colours):
        axes.axvspan(index, index + 1, color=colour, linewidth=0)
    axes.set_xlim(0, len(layers))
    axes.set_xticks([0.5, len(layers) - 0.5] if len(layers) > 1 else [0.5])
    axes.set_xticklabels(
        [f"layer {layers[0]}", f"{layers[-1]}"] if len(layers) > 1 else [f"layer {layers[0]}"]
    )
    axes.set_yticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
