"""A head's part of the tables: weights, values along axes, and how far a deployed mix may be off."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from glassformer.models.bounded import BoundedArray, bound_constant
from glassformer.models.elementary import EXP_UNITS, exp, round_once
from glassformer.models.float_format import LEAST, OWN, OWN_STEPS, FloatFormat, widen_own
from glassformer.models.ops_bounded import BoundedOps, bound_power
from glassformer.models.ops_numpy import NumpyOps

_THIN = 1e-7  # extent of the values along an axis, relative to the first axis, below which it gets none
_NONE = 1e-13  # extent relative to the values themselves that is their rounding
LEAST_FACTOR = 2.0**-39  # of a norm, which the pass may give to weights and not to values
MOST_KEYS = 2000  # positions of a context: our own sums over them round as often, each time by half of OWN
_MANY = MOST_KEYS // 2 + 24  # what they may be off in units of OWN, some other operations included

_There = Bool[np.ndarray, "query 1 key tok"]


class ScoreTable(NamedTuple):
    """Of every query with every key, all `query asked key tok`."""

    centre: np.ndarray
    radius: np.ndarray
    error: np.ndarray
    depends: bool  # on the key's token


class _WeightBounds(NamedTuple):
    """The exponentials of the scores, divided by a query's largest."""

    low: Float[np.ndarray, "query asked key tok"]  # 0 for later positions and tokens that are never there
    high: Float[np.ndarray, "query asked key tok"]
    rest: Float[np.ndarray, "query asked"]  # the softmax's extra weight on nothing


@dataclass(frozen=True, eq=False)
class HeadTable:
    """Weights, values, and axes along which the values extend: a mix is centre + axes y, give or take."""

    scores: Float[np.ndarray, "query asked key tok"]
    weights: _WeightBounds
    values: BoundedArray  # dim key tok
    centre: Float[np.ndarray, " dim"]
    axes: Float[np.ndarray, "axis dim"]
    along: BoundedArray  # axis key tok: values minus the centre, along each axis
    nothing: Float[np.ndarray, " axis"]  # the value 0 along each axis
    error: Float[np.ndarray, "dim query asked"]  # by which the deployed mix may be off the real one
    outside: Float[np.ndarray, "dim query asked"]  # by which it may lie outside of what real mixes can be
    aside: Float[np.ndarray, "dim query asked"]  # how far a mix, real or deployed, may be off the axes
    widened: Float[np.ndarray, "axis query asked"]  # the error along the axes


def make_head_table(
    floats: FloatFormat, extra: float, scores: ScoreTable, values: BoundedArray, there: _There
) -> HeadTable:
    weights = _bound_weights(floats, extra, scores, there)
    points = _list_value_points(values, there, extra)
    centre, axes = _find_main_axes(points)
    exact = BoundedOps("float64", real=True)
    along = exact.linear(exact.array(axes), _shift_values(values, centre))
    error, outside = _bound_mix_error(floats, scores, values, weights, there)
    along_error = np.tensordot(np.abs(axes), error, 1) * (1 + OWN)  # axis query asked
    across = _measure_axis_loss(axes)
    extent = (np.abs(points - centre).max(0) + values.reach.max((1, 2))) * (1 + OWN)
    aside = (across @ extent)[:, None, None] + np.tensordot(across, error, 1)
    return HeadTable(
        scores.centre,
        weights,
        values,
        centre,
        axes,
        along,
        -(axes @ centre),
        error,
        outside,
        aside,
        along_error,
    )


def _bound_weights(floats: FloatFormat, extra: float, scores: ScoreTable, there: _There) -> _WeightBounds:
    """Bounds on the real weights; the deployed ones themselves where no token changes them."""
    top = np.where(there, scores.centre + scores.radius, -np.inf).max(
        (2, 3), keepdims=True
    )  # query asked 1 1
    top = np.maximum(top, 0.0) if extra else top
    with np.errstate(under="ignore", over="ignore"):
        if _has_known_scores(floats, scores):
            deployed = NumpyOps(floats.dtype.name)
            powers = deployed.exp((scores.centre - top).astype(floats.dtype)).astype(np.float64)
            rest = _weigh_nothing(deployed.exp, extra, top.astype(floats.dtype)[:, :, 0, 0])
            return _WeightBounds(np.where(there, powers, 0.0), np.where(there, powers, 0.0), rest)
        far = scores.centre - top
        size = np.abs(far) + scores.radius
        high = bound_power(far + scores.radius, size)
        low = np.maximum((1 - OWN_STEPS * OWN) * bound_power(far - scores.radius, -size) - 2 * LEAST, 0.0)
    rest = _weigh_nothing(partial(round_once, exp), extra, top[:, :, 0, 0])
    return _WeightBounds(np.where(there, low, 0.0), np.where(there, high, 0.0), rest)


def _weigh_nothing(
    power: Callable[[np.ndarray], np.ndarray], extra: float, top: Float[np.ndarray, "query asked"]
) -> Float[np.ndarray, "query asked"]:
    """The extra weight of a softmax; without one 0, also where scores are so low that the power overflows."""
    return extra * power(-top).astype(np.float64) if extra else np.zeros(top.shape)


def _has_known_scores(floats: FloatFormat, scores: ScoreTable) -> bool:
    """Scores are the deployed ones, bit for bit, and the same for all tokens: so are their exponentials."""
    return bool(floats.unit) and not scores.depends and not scores.radius.any() and not scores.error.any()


def _shift_values(values: BoundedArray, centre: Float[np.ndarray, " dim"]) -> BoundedArray:
    """Values minus the centre, as real numbers."""
    real = FloatFormat("float64", real=True)
    plain = BoundedArray(real, values.centre, None, values.reach, None, np.zeros(values.shape))
    return plain - bound_constant(real, centre[:, None, None])


def _list_value_points(values: BoundedArray, there: _There, extra: float) -> Float[np.ndarray, "point dim"]:
    """Every value that a mix is a mean of."""
    points = values.centre[:, there.any((0, 1))].T
    return np.concatenate([points, np.zeros((1, points.shape[1]))]) if extra else points


def _find_main_axes(points: Float[np.ndarray, "point dim"]) -> tuple[np.ndarray, np.ndarray]:
    """A centre, and orthonormal axes along which the points extend, the longest first; one at least."""
    different = np.unique(points, axis=0)
    centre = different.mean(0)
    _, extent, axes = np.linalg.svd(different - centre, full_matrices=False)
    size = np.abs(different).max(initial=0.0)
    longest = (extent > _THIN * extent[0]) & (extent > _NONE * size)
    longest[0] = True
    return centre, axes[longest]


def _measure_axis_loss(axes: Float[np.ndarray, "axis dim"]) -> Float[np.ndarray, "dim dim"]:
    """How much of a vector, by dimension, the axes may leave out; in one dimension an axis leaves none."""
    dims = axes.shape[1]
    own = 4 * dims * OWN if dims > 1 else 0.0
    found: np.ndarray = np.abs(np.eye(dims) - axes.T @ axes) + own
    return found


def _bound_mix_error(
    floats: FloatFormat, scores: ScoreTable, values: BoundedArray, weights: _WeightBounds, there: _There
) -> tuple[Float[np.ndarray, "dim query asked"], Float[np.ndarray, "dim query asked"]]:
    """How far a deployed mix may be from the real one: shares, values, and the rounding of the sums.

    And how far from all real ones: whatever its weights are, it is a mean of values, but for that rounding.
    """
    most = _bound_shares(weights, there)
    wrong = _bound_share_errors(floats, scores, weights, there)  # relative, of each share
    moved = (most * wrong).max(3).sum(2)  # query asked
    moved = np.where(moved < 0.5, moved / (1 - moved), np.inf)
    tiny = most.max(3) <= floats.unit  # query asked key
    rounded = _bound_sum_error(floats, (~tiny).sum(2)) + np.where(tiny, most.max(3), 0.0).sum(
        2
    )  # query asked
    at_worst = _bound_sum_error(floats, there.any(3).sum(2))
    is_finite = np.where(there, np.isfinite(scores.error), True).all((2, 3))  # no score overflows
    found = np.empty((2, values.shape[0], *weights.rest.shape))
    for dim in range(len(values.centre)):
        size, off = np.abs(values.centre[dim]) + values.reach[dim], values.off[dim]  # key tok
        mean = _bound_mean_size(most, size, there)  # of the magnitudes, at the most
        largest = np.where(there, size, 0.0).max()  # a key of little weight may be far above the mean
        share = np.fmin(_bound_mean_size(most * wrong, size, there) + moved * mean, moved * 2 * largest)
        small = np.where(tiny, (most * size).max(3), 0.0).sum(2)
        sums = np.fmin(rounded * mean + small, at_worst * mean)
        lost = there.shape[2] * floats.step * (1 + 2 * largest) * 2 / LEAST_FACTOR  # by underflow
        found[0, dim] = 2 * share + sums + _bound_mean_size(most, off, there) + lost
        outside = at_worst * largest + np.where(there, off, 0.0).max() + lost
        found[1, dim] = np.where(is_finite, outside, np.inf)
        apart = _measure_value_span(values, dim, there, weights) + found[1, dim]
        found[0, dim] = np.fmin(found[0, dim], apart)
    error, outside = found * (1 + _MANY * OWN)
    return error, outside


def _measure_value_span(
    values: BoundedArray, dim: int, there: _There, weights: _WeightBounds
) -> Float[np.ndarray, "query asked"]:
    """From the smallest to the largest value: two means are no further apart, whatever their weights."""
    low, high = values.centre[dim] - values.reach[dim], values.centre[dim] + values.reach[dim]  # key tok
    least, most = np.where(there, low, np.inf).min((2, 3)), np.where(there, high, -np.inf).max((2, 3))
    has_rest = weights.rest > 0
    least, most = (
        np.where(has_rest, np.minimum(least, 0.0), least),
        np.where(has_rest, np.maximum(most, 0.0), most),
    )
    return np.asarray(most - least)


def _bound_sum_error(floats: FloatFormat, count: np.ndarray) -> np.ndarray:
    """Relative error of the sums of weights and of products, for so many keys that matter.

    Adding a term t is off by |t| at most, so keys with hardly any weight do not count.
    """
    errors = (2 * count + 6) * floats.unit
    found: np.ndarray = errors / (1 - errors)
    return found


def _bound_shares(weights: _WeightBounds, there: _There) -> Float[np.ndarray, "query asked key tok"]:
    """The largest share of a query's attention that a token at a position can have."""
    least = np.where(there.any(3), np.where(there, weights.low, np.inf).min(3), 0.0)  # query asked key
    others = least.sum(2, keepdims=True) - least + weights.rest[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights.high / (others[..., None] * (1 - _MANY * OWN) + weights.high)
    return np.where(there, np.fmin(share * (1 + _MANY * OWN), 1.0), 0.0)


def _bound_mean_size(most: np.ndarray, size: Float[np.ndarray, "key tok"], there: _There) -> np.ndarray:
    """The largest mean of sizes: no more than the largest of them, nor than all with their largest shares."""
    largest = np.where(there, size, 0.0).max((2, 3))
    found: np.ndarray = np.fmin(largest, (most * size).max(3).sum(2))
    return found


def _bound_share_errors(
    floats: FloatFormat, scores: ScoreTable, weights: _WeightBounds, there: _There
) -> np.ndarray:
    """Relative errors of the exponentials; that of the division is left to the sums."""
    if _has_known_scores(floats, scores):
        return np.zeros(scores.centre.shape)
    lowest = np.where(there, scores.centre, np.inf).min(3, keepdims=True)  # query asked key 1
    highest = np.where(there, scores.centre, -np.inf).max((2, 3), keepdims=True)
    least_top = np.where(np.isfinite(lowest), lowest, -np.inf).max((2, 3), keepdims=True)
    if weights.rest.any():
        highest, least_top = np.maximum(highest, 0.0), np.maximum(least_top, 0.0)
    far = np.maximum(np.abs(scores.centre - highest), np.abs(scores.centre - least_top))
    own = floats.of_function(EXP_UNITS)
    with np.errstate(over="ignore"):
        off = _bound_power_gain(scores.error + own + floats.unit * (far + scores.radius))
    return np.where(there, off, 0.0)


def _bound_power_gain(x: np.ndarray) -> np.ndarray:
    """At least e^x - 1, for x >= 0: x + x^2 / 2 + ... is below x (1 + x/2 + (x/2)^2 + ...), below 2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: np.ndarray = np.where(x < 1, x / (1 - 0.5 * x) * widen_own(), np.inf)
    return found
