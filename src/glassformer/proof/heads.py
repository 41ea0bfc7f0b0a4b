"""A head's part of the tables: weights, values along axes, and how far a deployed mix may be off."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from glassformer.model.bounded import LEAST, OWN, Bounded, Floats, between, exactly
from glassformer.model.ops_bounded import LIBRARY, BoundedOps

VARIES = 1e-6  # share of its size by which an earlier layer's attention may vary before it counts as mixing
THIN = 1e-7  # extent of the values along an axis, relative to the first axis, below which it gets none
NONE = 1e-13  # extent relative to the values themselves that is their rounding
NEVER = 1e-200  # what our own slack may vary by
MANY = 64  # own roundings of a sum over places

There = Bool[np.ndarray, "place 1 key tok"]


class Scores(NamedTuple):
    """Of every query with every key, all `place asked key tok`."""

    centre: np.ndarray
    radius: np.ndarray
    error: np.ndarray
    depends: bool  # on the key's token


class Weights(NamedTuple):
    """The exponentials of the scores, divided by a query's largest."""

    low: Float[np.ndarray, "place asked key tok"]  # 0 for later places and tokens that are never there
    high: Float[np.ndarray, "place asked key tok"]
    rest: Float[np.ndarray, "place asked"]  # the softmax's extra weight on nothing


@dataclass(frozen=True, eq=False)
class Head:
    """Weights, values, and axes along which the values extend: a mix is centre + axes y, give or take."""

    scores: Float[np.ndarray, "place asked key tok"]
    weights: Weights
    values: Bounded  # dim key tok
    centre: Float[np.ndarray, " dim"]
    axes: Float[np.ndarray, "axis dim"]
    along: Bounded  # axis key tok: values minus the centre, along each axis
    nothing: Float[np.ndarray, " axis"]  # the value 0 along each axis
    error: Float[np.ndarray, "dim place asked"]  # by which the deployed mix may be off the real one
    aside: Float[np.ndarray, "dim place asked"]  # how far a mix, real or deployed, may be off the axes
    widened: Float[np.ndarray, "axis place asked"]  # the error along the axes


def make_head(floats: Floats, extra: float, scores: Scores, values: Bounded, there: There) -> Head:
    weights = weigh(floats, extra, scores, there)
    points = points_of(values, there, extra)
    centre, axes = main_axes(points)
    exact = BoundedOps("float64", real=True)
    along = exact.linear(exact.array(axes), exactly_moved(values, centre))
    error = mix_error(floats, scores, values, weights, there)
    along_error = np.tensordot(np.abs(axes), error, 1) * (1 + OWN)  # axis place asked
    across = off_axes(axes)
    extent = (np.abs(points - centre).max(0) + values.reach.max((1, 2))) * (1 + OWN)
    aside = (across @ extent)[:, None, None] + np.tensordot(across, error, 1)
    return Head(
        scores.centre, weights, values, centre, axes, along, -(axes @ centre), error, aside, along_error
    )


def weigh(floats: Floats, extra: float, scores: Scores, there: There) -> Weights:
    """Bounds on the real weights; the deployed ones themselves where no token changes them."""
    top = np.where(there, scores.centre, -np.inf).max((2, 3), keepdims=True)  # place asked 1 1
    top = np.maximum(top, 0.0) if extra else top
    with np.errstate(under="ignore", over="ignore"):
        if is_known(floats, scores):
            powers = np.exp((scores.centre - top).astype(floats.dtype)).astype(np.float64)
            rest = extra * np.exp(-top.astype(floats.dtype)).astype(np.float64)[:, :, 0, 0]
            return Weights(np.where(there, powers, 0.0), np.where(there, powers, 0.0), rest)
        far = scores.centre - top
        width = scores.radius + OWN * (np.abs(scores.centre) + np.abs(top))
        high = np.exp(far + width) * (1 + LIBRARY * OWN) + LEAST
        low = np.exp(far - width) * (1 - LIBRARY * OWN)
    rest = extra * np.exp(-top[:, :, 0, 0])
    return Weights(np.where(there, low, 0.0), np.where(there, high, 0.0), rest)


def is_known(floats: Floats, scores: Scores) -> bool:
    """Scores are the deployed ones, bit for bit, and the same for all tokens: so are their exponentials."""
    return bool(floats.unit) and not scores.depends and not scores.radius.any() and not scores.error.any()


def exactly_moved(values: Bounded, centre: Float[np.ndarray, " dim"]) -> Bounded:
    """Values minus the centre, as real numbers."""
    real = Floats("float64", real=True)
    plain = Bounded(real, values.centre, None, values.reach, None, np.zeros(values.shape))
    return plain - exactly(real, centre[:, None, None])


def points_of(values: Bounded, there: There, extra: float) -> Float[np.ndarray, "point dim"]:
    """Every value that a mix is a mean of."""
    points = values.centre[:, there.any((0, 1))].T
    return np.concatenate([points, np.zeros((1, points.shape[1]))]) if extra else points


def main_axes(points: Float[np.ndarray, "point dim"]) -> tuple[np.ndarray, np.ndarray]:
    """A centre, and orthonormal axes along which the points extend, the longest first; one at least."""
    different = np.unique(points, axis=0)
    centre = different.mean(0)
    _, extent, axes = np.linalg.svd(different - centre, full_matrices=False)
    size = np.abs(different).max(initial=0.0)
    longest = (extent > THIN * extent[0]) & (extent > NONE * size)
    longest[0] = True
    return centre, axes[longest]


def off_axes(axes: Float[np.ndarray, "axis dim"]) -> Float[np.ndarray, "dim dim"]:
    """How much of a vector, by dimension, the axes may leave out; in one dimension an axis leaves none."""
    dims = axes.shape[1]
    own = 4 * dims * OWN if dims > 1 else 0.0
    found: np.ndarray = np.abs(np.eye(dims) - axes.T @ axes) + own
    return found


def mix_error(
    floats: Floats, scores: Scores, values: Bounded, weights: Weights, there: There
) -> Float[np.ndarray, "dim place asked"]:
    """How far a deployed mix may be from the real one: shares, values, and the rounding of the sums."""
    most = most_shares(weights, there)
    wrong = share_errors(floats, scores, weights, there)  # relative, of each share
    moved = (most * wrong).max(3).sum(2)  # place asked
    moved = np.where(moved < 0.5, moved / (1 - moved), np.inf)
    tiny = most.max(3) <= floats.unit  # place asked key
    rounded = by_count(floats, (~tiny).sum(2)) + np.where(tiny, most.max(3), 0.0).sum(2)  # place asked
    at_worst = by_count(floats, there.any(3).sum(2))
    found = np.empty((values.shape[0], *weights.rest.shape))
    for dim in range(len(found)):
        size, off = np.abs(values.centre[dim]) + values.reach[dim], values.off[dim]  # key tok
        mean = at_most(most, size, there)  # of the magnitudes, at the most
        share = np.fmin(at_most(most * wrong, size, there) + moved * mean, moved * 2 * mean)
        small = np.where(tiny, (most * size).max(3), 0.0).sum(2)
        sums = np.fmin(rounded * mean + small, at_worst * mean)
        lost = there.shape[2] * floats.step * (1 + 2 * np.where(there, size, 0.0).max())  # by underflow
        found[dim] = 2 * share + sums + at_most(most, off, there) + lost
    every: np.ndarray = found * (1 + MANY * OWN)
    return every


def by_count(floats: Floats, count: np.ndarray) -> np.ndarray:
    """Relative error of the sums of weights and of products, for so many keys that matter.

    Adding a term t is off by |t| at most, so keys with hardly any weight do not count.
    """
    errors = (2 * count + 6) * floats.unit
    found: np.ndarray = errors / (1 - errors)
    return found


def most_shares(weights: Weights, there: There) -> Float[np.ndarray, "place asked key tok"]:
    """The largest share of a query's attention that a token at a place can have."""
    least = np.where(there.any(3), np.where(there, weights.low, np.inf).min(3), 0.0)  # place asked key
    others = least.sum(2, keepdims=True) - least + weights.rest[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weights.high / (others[..., None] * (1 - MANY * OWN) + weights.high)
    return np.where(there, np.fmin(share * (1 + MANY * OWN), 1.0), 0.0)


def at_most(most: np.ndarray, size: Float[np.ndarray, "key tok"], there: There) -> np.ndarray:
    """The largest mean of sizes: no more than the largest of them, nor than all with their largest shares."""
    largest = np.where(there, size, 0.0).max((2, 3))
    found: np.ndarray = np.fmin(largest, (most * size).max(3).sum(2))
    return found


def share_errors(floats: Floats, scores: Scores, weights: Weights, there: There) -> np.ndarray:
    """Relative errors of the exponentials; that of the division is left to the sums."""
    if is_known(floats, scores):
        return np.zeros(scores.centre.shape)
    lowest = np.where(there, scores.centre, np.inf).min(3, keepdims=True)  # place asked key 1
    highest = np.where(there, scores.centre, -np.inf).max((2, 3), keepdims=True)
    least_top = np.where(np.isfinite(lowest), lowest, -np.inf).max((2, 3), keepdims=True)
    if weights.rest.any():
        highest, least_top = np.maximum(highest, 0.0), np.maximum(least_top, 0.0)
    far = np.maximum(np.abs(scores.centre - highest), np.abs(scores.centre - least_top))
    with np.errstate(over="ignore"):
        off = np.expm1(scores.error + floats.unit * (LIBRARY + far + scores.radius))
    return np.where(there, off, 0.0)


def fixed_mix(
    floats: Floats, head: Head, there: There, asked: Bool[np.ndarray, "place tok"]
) -> tuple[Bounded, float]:
    """`dim place tok`: each query's mix whatever the tokens are; and how much it varies, if that matters."""
    low, high, rest = head.weights
    least_total = np.where(there.any(3), np.where(there, low, np.inf).min(3), 0.0).sum(2) + rest
    most_total = high.max(3).sum(2) + rest  # place asked
    low_value, high_value = head.values.centre - head.values.reach, head.values.centre + head.values.reach
    least = place_sums(np.minimum, low, high, low_value, there)
    most = place_sums(np.maximum, low, high, high_value, there)
    slack = MANY * OWN * (np.abs(least) + np.abs(most)) + LEAST
    ends = np.stack([least - slack, most + slack])
    quotients = np.stack([ends / (least_total * (1 - MANY * OWN)), ends / (most_total * (1 + MANY * OWN))])
    bottom, top = quotients.min((0, 1)), quotients.max((0, 1))  # dim place asked
    vary = float((top - bottom)[:, asked].max())
    matters = vary > VARIES * float(np.abs(quotients).max()) + NEVER
    return between(floats, bottom, top, head.error), vary if matters else 0.0


def place_sums(
    best: np.ufunc, low: np.ndarray, high: np.ndarray, value: Float[np.ndarray, "dim key tok"], there: There
) -> Float[np.ndarray, "dim place asked"]:
    """Over the places the best, smallest or largest, weight x value of any token that may be there."""
    found = np.zeros((len(value), *low.shape[:2]))
    none = np.inf if best is np.minimum else -np.inf
    for dim, row in enumerate(value):
        every = best(low * row, high * row)  # place asked key tok
        chosen = best.reduce(np.where(there, every, none), axis=3)
        found[dim] = np.where(there.any(3), chosen, 0.0).sum(2)
    return found
