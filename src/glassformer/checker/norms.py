"""A norm of numbers that are known in wide balls only: x / sqrt(mean(x^2) + eps) without its operations.

Operation by operation a square may seem negative, and a quotient unbounded. As a function of x_i the norm
grows, and as a function of any other it shrinks towards 0; so its ends are found at ends of the balls. By x_i
it has no slope above 1 / root, by any other none above half of that: 2 |x_i x_j| is at most x_i^2 + x_j^2.
"""

from typing import NamedTuple

import numpy as np

from glassformer.checker.balls import Balls, bound_above, bound_below
from glassformer.checker.rounding import UP, Bound

_SMALLEST = 1e-280  # mean of squares: 4,096 of them lose less than 1e-304 by underflow


class NormBounds(NamedTuple):
    """Ends of the norm, and how far the deployed one may be off."""

    low: Bound
    high: Bound
    error: Bound


def bound_norm(x: Balls, eps: float) -> NormBounds:
    """`dim pos batch`, over the dimensions; what is no finite number is no bound."""
    if not eps >= 0:  # then it may shrink as x_i grows
        return NormBounds(*(np.full(x.shape, end) for end in (-np.inf, np.inf, np.inf)))
    low, high = bound_below(x.over), bound_above(x.over)
    far = (np.maximum(np.abs(low), np.abs(high)) + x.error) * UP
    near = np.maximum(np.maximum(low, -high) - x.error, 0.0) * (2 - UP)
    least, most = _sum_other_squares(near) * (2 - UP), _sum_other_squares(far) * UP
    bottom = _divide_by_root(low, np.where(low > 0, most, least), eps)
    top = _divide_by_root(high, np.where(high > 0, least, most), eps)
    return NormBounds(
        bottom - (UP - 1) * np.abs(bottom), top + (UP - 1) * np.abs(top), _bound_error(x, near, far, eps)
    )


def _bound_error(x: Balls, near: Bound, far: Bound, eps: float) -> Bound:
    """What errors of x move it by, and what its own operations are off, as shares of at most sqrt(n)."""
    rules, dims = x.rules, len(near)
    root = np.sqrt((near * near).sum(0) / dims + eps) * (2 - UP)
    moved = (x.error / 2 + x.error.sum(0) / 2) / root
    own = rules.gathered(2 * dims + 16) + 4 * rules.coarse
    lost = rules.eta * (1 + dims / (root * root))
    found: Bound = rules.up((moved + own * np.sqrt(dims) + lost) * UP, far * far * dims)
    return np.where(np.isnan(found), np.inf, found)


def _sum_other_squares(x: Bound) -> Bound:
    """For each dimension the squares of all others, summed."""
    return np.stack([(np.delete(x, row, 0) ** 2).sum(0) for row in range(len(x))])


def _divide_by_root(x: Bound, others: Bound, eps: float) -> Bound:
    """No number where squares overflow, or are so small that what underflows counts."""
    mean = (x * x + others) / len(x) + eps
    found: Bound = np.where((mean > _SMALLEST) & (mean < np.inf), x / np.sqrt(mean), np.nan)
    return found
