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
    enclose_about_zero,
    enclose_exactly,
    fresh,
    tighten_enclosure,
)
from glassformer.checker.rounding import RoundingRules


def separate_dimensions(x: Balls) -> tuple[Balls, list[int]]:
    """`dim ...` as coordinates of its own, one per dimension, each with the error of that dimension."""
    names = [next(fresh) for _ in range(x.shape[0])]
    unsure = enclose_about_zero(x.rules, x.error)
    over = x.over + unsure
    slopes = {name: _make_unit_slope(x.rules, x.shape, dim) for dim, name in enumerate(names)}
    reach = {name: over[dim] - x.at[dim] for dim, name in enumerate(names)}
    return Balls(x.rules, over, np.zeros(x.shape), x.at, slopes, reach), names


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
