"""A bias over columns as weights: how much a key m columns up gets, and from where on it gets exactly 0.

any-8 scores -c (m - mu)^2. On a scale of powers of ten its weights are a parabola, and what lies below the
smallest number of float32 is 0: a query sees a window of columns, whatever the length of the numbers.

>>> from glassformer.runs.load import load_model
>>> kernel = measure_column_kernel(load_model("any-8"), 0)
>>> kernel.window, [f"{share:.3f}" for share in kernel.shares[0][3:7]]
(ColumnWindow(below=2, above=4), ['0.000', '0.067', '1.000', '0.000'])
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, mix_colours
from glassformer.core.words import format_power, format_trimmed
from glassformer.models.forward import format_layer_prefix
from glassformer.models.model import Model
from glassformer.pictures.poster.style import SIZE, open_axes
from glassformer.proofs.tables import NotProvableError
from glassformer.proofs.window import ColumnWindow, find_window

_BESIDE = 2  # columns that are drawn on either side of the window
_NAMED = 1e-3  # shares from which on the number stands beside its dot
_FINE = 401  # points of a curve
_BELOW = 0.22  # share of the height that lies below the smallest number
_TICKS = 5  # powers of ten beside the axis, at most


@dataclass(frozen=True, eq=False)
class ColumnKernel:
    """What the heads of a layer make of a distance of columns."""

    kind: str
    layer: int
    window: ColumnWindow
    precision: str
    distances: Float[np.ndarray, " distance"]  # columns up
    shares: Float[np.ndarray, "head distance"]  # weights, of the best column's; 0 outside of the window
    fine: Float[np.ndarray, " point"]
    curves: Float[np.ndarray, "head point"]  # powers of ten of the same, without rounding
    constants: tuple[tuple[float, float], ...]  # sharpness and peak of each head

    @property
    def floor(self) -> float:
        """The power of ten below which rounding to nearest gives 0: half of the smallest number."""
        return float(np.log10(np.finfo(self.precision).smallest_subnormal) - np.log10(2.0))


def measure_column_kernel(model: Model, layer: int) -> ColumnKernel | None:
    """Of a layer whose scores depend on columns alone; none where no window is known."""
    try:
        window = find_window(model)
    except NotProvableError:
        return None
    shape, name = model.architecture, f"{format_layer_prefix(model.architecture, layer)}attn.relation"
    attention = shape.layers[layer].attention
    assert attention is not None
    distances = np.arange(-window.below - _BESIDE, window.above + _BESIDE + 1.0)
    fine = np.linspace(distances[0] - 0.5, distances[-1] + 0.5, _FINE)
    heads = range(attention.heads)

    def score(far: np.ndarray) -> np.ndarray:
        every = [attention.relation.measure_bias(model.params, name, h, len(heads), list(far)) for h in heads]
        return np.array(every)

    best = score(distances).max(1, keepdims=True)
    is_seen = (distances >= -window.below) & (distances <= window.above)
    return ColumnKernel(
        attention.relation.kind,
        layer,
        window,
        shape.precision,
        distances,
        np.where(is_seen, np.exp(score(distances) - best), 0.0),
        fine,
        (score(fine) - best) / np.log(10.0),
        tuple(
            (float(model.params[f"{name}.sharpness"][h]), float(model.params[f"{name}.peak"][h]))
            for h in heads
        ),
    )


def title_column_kernel(kernel: ColumnKernel) -> str:
    down, up = kernel.window.below, kernel.window.above
    return (
        f"Scores fall with the squared distance of columns; beyond {down} down and {up} up weights are "
        "exactly 0"
    )


def describe_column_kernel(kernel: ColumnKernel) -> str:
    """Formula, constants and window, in two sentences."""
    constants = "; ".join(
        f"c = {format_trimmed(sharpness, 4)}, \N{GREEK SMALL LETTER MU} = {format_trimmed(peak, 4)}"
        for sharpness, peak in kernel.constants
    )
    return (
        "Left: weights exp(\N{MINUS SIGN}c (m \N{MINUS SIGN} \N{GREEK SMALL LETTER MU})²) as shares of the "
        f"best, {constants}. Beyond {kernel.window.below} columns down and {kernel.window.above} up "
        f"{kernel.precision} rounds them to exactly 0, so no step depends on how long the numbers are."
    )


def draw_column_kernel(axes: Axes, kernel: ColumnKernel, theme: Theme) -> None:
    """Dots for columns on a curve of powers of ten; the window tinted, and what is 0 below a line."""
    floor = kernel.floor
    low, high = floor * (1 + _BELOW), -0.09 * floor
    axes.set_xlim(kernel.fine[0], kernel.fine[-1])
    axes.set_ylim(low, high)
    _draw_window(axes, kernel, floor, theme)
    for curve, shares in zip(kernel.curves, kernel.shares, strict=True):
        above = np.where(curve > floor, curve, np.nan)
        axes.plot(kernel.fine, above, linewidth=1.2, color=mix_colours(theme.accent, theme.paper, 0.6))
        _draw_columns(axes, kernel.distances, shares, floor, theme)
    step = 10 * max(1, -(-int(-floor) // (10 * _TICKS)))
    powers = np.arange(0, -floor, step, dtype=int)
    axes.set_yticks(-powers, [format_power(-int(power), 10) if power else "1" for power in powers])
    axes.set_xticks(kernel.distances[:: 1 if len(kernel.distances) < 16 else 2])
    axes.set_xlabel("m: columns up from the query to the key")
    axes.set_title("weight of a key, as a share of the best one's")
    open_axes(axes)


def _draw_window(axes: Axes, kernel: ColumnKernel, floor: float, theme: Theme) -> None:
    left, right = -kernel.window.below - 0.5, kernel.window.above + 0.5
    axes.axvspan(left, right, color=mix_colours(theme.accent, theme.paper, 0.1), linewidth=0, zorder=0)
    axes.axhspan(axes.get_ylim()[0], floor, color=theme.zero, linewidth=0, zorder=0.5)
    axes.axhline(floor, color=theme.muted, linewidth=0.8, zorder=1)
    words = {"fontsize": SIZE, "ha": "center", "color": theme.ink}
    axes.text((left + right) / 2, 0.72 * floor, "the window", va="center_baseline", **words)
    exponent = round(floor / np.log10(2.0))
    axes.text(
        (left + right) / 2,
        floor * (1 + 0.68 * _BELOW),
        f"below {format_power(exponent, 2)}: exactly 0 in {kernel.precision}",
        va="center_baseline",
        **words,
    )


def _draw_columns(axes: Axes, distances: np.ndarray, shares: np.ndarray, floor: float, theme: Theme) -> None:
    """A dot per column; those without any weight are open, and lie where 0 is."""
    has_weight = shares > 0
    seen, powers = distances[has_weight], np.log10(shares[has_weight])
    axes.scatter(seen, powers, s=30, color=theme.accent, edgecolors=theme.paper, linewidths=0.6, zorder=4)
    zero = distances[~has_weight]
    axes.scatter(
        zero, np.full(len(zero), floor * (1 + 0.25 * _BELOW)), s=22, facecolors=theme.paper,
        edgecolors=theme.muted, linewidths=1.0, zorder=4,
    )  # fmt: skip
    best = float(distances[shares.argmax()])
    for column, share, power in zip(seen, shares[has_weight], powers, strict=True):
        if share >= _NAMED:
            side = -1 if column < best else 1
            axes.annotate(
                format_trimmed(float(share), 2), (column, power), (6 * side, 1), textcoords="offset points",
                ha="right" if side < 0 else "left", fontsize=SIZE, color=theme.ink,
            )  # fmt: skip
