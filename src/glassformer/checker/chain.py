"""A stretch of a pass on its own: its slopes along what goes in, then chained with the slopes of that.

The logits of two digits move together, so plain differences of their slopes lose much. Seen from the last
state h, both are nearly linear: the slopes of their difference along h are known almost exactly, and only
then meet the slopes of h.
"""

from collections.abc import Sequence

import numpy as np

from glassformer.checker.balls import (
    Arbs,
    Balls,
    as_enclosure,
    bound_above,
    bound_below,
    enclose_about_zero,
    enclose_exactly,
    enclose_range,
    fresh,
    tighten_enclosure,
)
from glassformer.checker.rounding import TINY, RoundingRules

_WIDE = 1e-9  # share of its size by which a number varies that is not just rounded
_MOST_DIMENSIONS = 16  # of a stream that gets a coordinate for each


def separate_dimensions(x: Balls) -> tuple[Balls, list[int]]:
    """`dim ...` as coordinates of its own, one per dimension, each with the error of that dimension."""
    names = [next(fresh) for _ in range(x.shape[0])]
    unsure = enclose_about_zero(x.rules, x.error)
    over = x.over + unsure
    slopes = {name: _make_unit_slope(x.rules, x.shape, dim) for dim, name in enumerate(names)}
    reach = {name: over[dim] - x.at[dim] for dim, name in enumerate(names)}
    return Balls(x.rules, over, np.zeros(x.shape), x.at, slopes, reach), names


def vary_dimensions(x: Balls, number: int) -> Balls:
    """`dim ...` that is wide, each dimension as a coordinate of the mix: it may be anything in its ball.

    `number` tells it from others that vary. Wide stays wide, but what depends on it twice does so alike.
    """
    low, high = bound_below(x.over), bound_above(x.over)
    is_wide = (high - low > _WIDE * np.maximum(np.abs(low), np.abs(high)) + TINY).any()
    if not is_wide or x.slopes or not len(x.over) <= _MOST_DIMENSIONS:
        return x
    at, over = enclose_exactly(x.rules, low + (high - low) / 2), enclose_range(x.rules, low, high)
    names = [-1 - number * _MOST_DIMENSIONS - dim for dim in range(x.shape[0])]  # below all coordinates
    slopes = {name: _make_unit_slope(x.rules, x.shape, dim) for dim, name in enumerate(names)}
    reach = {name: over[dim] - at[dim] for dim, name in enumerate(names)}
    return Balls(x.rules, over, x.error, at, slopes, reach)


def chain_slopes(y: Balls, x: Balls, names: Sequence[int]) -> Balls:
    """What was made of x apart, as a function of the coordinates of x; the errors of x become some."""
    along = [y.slopes.get(name) for name in names]
    slopes = {name: slope for name, slope in y.slopes.items() if name not in names}
    reach = {name: delta for name, delta in y.reach.items() if name not in names} | dict(x.reach)
    for name, inner in x.slopes.items():
        parts = [outer * inner[dim] for dim, outer in enumerate(along) if outer is not None]
        if parts:
            slopes[name] = as_enclosure(sum(parts[1:], parts[0]))
    for dim, (name, outer) in enumerate(zip(names, along, strict=True)):
        if outer is not None and x.error[dim].any():
            slopes[name], reach[name] = outer, enclose_about_zero(x.rules, x.error[dim])
    return Balls(y.rules, tighten_enclosure(y.over, y.at, slopes, reach), y.error, y.at, slopes, reach)


def _make_unit_slope(rules: RoundingRules, shape: tuple[int, ...], dim: int) -> Arbs:
    """The slope of an array along one of its dimensions: 1 there, 0 elsewhere."""
    slope = np.zeros(shape)
    slope[dim] = 1.0
    return enclose_exactly(rules, slope)
