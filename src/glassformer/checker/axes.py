"""The coordinates of a certificate's bounds: a centre among the values of a head, and orthonormal axes.

Any axes would do for a sound check, since what they leave out is bounded; but with these the size of a
coordinate, and so the tolerance of its bounds, is that of the values and not of anything claimed.
"""

import numpy as np

from glassformer.checker.balls import Balls, bound_above, bound_below
from glassformer.checker.bounds import ClaimError
from glassformer.checker.reading import HeadAxes

_SKEW = 1e-9  # by which lengths and angles of axes may be off
_ASIDE = 1e-9  # of the values' range: how far the centre may be outside of it


def require_axes(values: Balls, allowed: np.ndarray, along: HeadAxes, has_extra: bool) -> None:
    """Raises unless the centre is in the range of the values, `dim pos tok`, and the axes are orthonormal."""
    if not len(along.axes):
        raise ClaimError("a head has no axes")
    if not is_orthonormal(along.axes):
        raise ClaimError("the axes of a head are not of length 1 and at right angles")
    low = np.where(allowed, bound_below(values.over), np.inf).min((1, 2))
    high = np.where(allowed, bound_above(values.over), -np.inf).max((1, 2))
    if has_extra:  # the zero vector is mixed too
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    room = _ASIDE * np.maximum(np.abs(low), np.abs(high))
    if not ((low - room <= along.centre) & (along.centre <= high + room)).all():
        raise ClaimError("the centre of a head's axes is not among its values")


def is_orthonormal(rows: np.ndarray) -> bool:
    """Whether vectors have length 1 and are at right angles, but for rounding."""
    if np.abs(rows).max(initial=0.0) > 1 + _SKEW:  # before anything can overflow
        return False
    return bool(np.abs(rows @ rows.T - np.eye(len(rows))).max(initial=0.0) <= _SKEW)
