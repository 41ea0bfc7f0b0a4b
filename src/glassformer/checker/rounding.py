"""How far deployed floating-point numbers can be from the real ones: one rule per operation.

Every rule takes upper bounds, |x| as `size` and |deployed - real| as `error`, and holds for any order of
summation. Adding 1 and 2 in float32 costs at most one rounding of 3:

>>> rules = RoundingRules(np.dtype("float32"), "float32")
>>> nothing = np.zeros(1)
>>> float(rules.added(nothing, nothing, np.array([3.0]))[0]) / 2**-24
3.0000000000027285
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

UNITS = {"float32": 2.0**-24, "float64": 2.0**-53, "real": 0.0}  # largest relative error of one operation
_ETAS = {"float32": 2.0**-149, "float64": 2.0**-1074, "real": 0.0}  # smallest number: what underflow can lose
_NORMALS = {"float32": 2.0**-126, "float64": 2.0**-1022, "real": 0.0}  # below it a backend may say 0
# Units that a function is off: ours, of its value (a sine: of 1), and of x where x is multiplied by a share;
# then those of any backend, four in the last place, and what the steps of a gelu or silu come to.
_OWN_UNITS, _OWN_BENT = {"float32": 1.0001, "float64": 4.0}, {"float32": 1.0001, "float64": 10.0}
_ANY_UNITS, _ANY_BENT = 8.0, 12.0
_LARGEST = {"float32": 2.0**128, "float64": 2.0**1023, "real": np.inf}  # beyond it a number may overflow
UP = 1 + 2.0**-40  # covers 8,191 operations of float64 in a row, each off by 2**-53; `linear` may be longer
TINY = 1e-300  # and what their own underflow can lose

Bound = NDArray[np.float64]  # an upper bound of each number


@dataclass(frozen=True)
class RoundingRules:
    """The rules for one arithmetic; in real numbers nothing is ever lost."""

    dtype: np.dtype  # what stored parameters and constants are cast to
    arithmetic: str
    any_backend: bool = False
    is_quick: bool = False  # numbers lie in spans of float64, not in balls

    @cached_property
    def unit(self) -> float:
        return UNITS[self.arithmetic]

    @cached_property
    def eta(self) -> float:
        return (_NORMALS if self.any_backend else _ETAS)[self.arithmetic]

    @cached_property
    def coarse(self) -> float:
        """Largest relative error of a quotient or a root."""
        return self.unit * (_ANY_UNITS if self.any_backend else 1)

    @cached_property
    def function(self) -> float:
        """The same of a function."""
        return self.unit * (_ANY_UNITS if self.any_backend else _OWN_UNITS.get(self.arithmetic, 0.0))

    @cached_property
    def share(self) -> float:
        """Error of x times a share between 0 and 1, as a share of x."""
        return self.unit * (_ANY_BENT if self.any_backend else _OWN_BENT.get(self.arithmetic, 0.0))

    @property
    def is_real(self) -> bool:
        return self.arithmetic == "real"

    def up(self, error: Bound, size: Bound | float = 0.0) -> Bound:
        """The bound made certain: float64 itself rounds, and a number of that size may overflow."""
        if self.is_real:
            return np.zeros_like(error)
        fits = size + error < _LARGEST[self.arithmetic] * (2 - UP)
        return np.where(fits, error * UP + TINY, np.inf)

    def gathered(self, count: int) -> float:
        """Relative error of a sum of so many products, in any order."""
        return count * self.unit / (1 - count * self.unit)

    def added(self, x: Bound, y: Bound, size: Bound) -> Bound:
        """Of a sum or a difference, given both errors and the size of the result."""
        return self.up((x + y) * (1 + self.unit) + self.unit * size, size)

    def times(self, x_size: Bound, x: Bound, y_size: Bound, y: Bound) -> Bound:
        carried = x_size * y + y_size * x + x * y
        size = x_size * y_size
        return self.up(carried * (1 + self.unit) + self.unit * size + self.eta, size)

    def divided(self, x: Bound, y: Bound, y_least: Bound, size: Bound) -> Bound:
        """Of a quotient, given both errors, the divisor's smallest magnitude and the size of the result."""
        carried = _divide_bounds(x + size * y, (y_least - y) * (2 - UP))
        return self.up(carried * (1 + self.coarse) + self.coarse * size + self.eta, size)

    def linear(self, w_size: Bound, w: Bound, x_size: Bound, x: Bound, b_size: Bound, b: Bound) -> Bound:
        """Of `out inner` times `inner many`, plus a bias `out 1`; what is exactly 0 costs nothing."""
        terms = ((w_size > 0) | (w > 0)).sum(1, keepdims=True) + (b_size > 0)  # out 1
        gathered = terms * self.unit / (1 - terms * self.unit)
        carried = w_size @ x + w @ x_size + w @ x + b
        size = w_size @ x_size + b_size  # of every part of the sum, in any order
        grown = 1 + w_size.shape[1] * 2.0**-52  # our own sums: a hidden layer can be longer than UP covers
        return self.up((carried * (1 + gathered) + gathered * size) * grown + terms * self.eta, size * grown)

    def summed(self, size: Bound, error: Bound, axis: int) -> Bound:
        gathered = self.gathered(size.shape[axis] + 2)
        total = size.sum(axis)
        return self.up((1 + gathered) * error.sum(axis) + gathered * total, total)

    def root(self, least: Bound, error: Bound, size: Bound) -> Bound:
        """Of a square root, given the smallest argument, its error and the size of the result."""
        slide = _divide_bounds(error, np.sqrt(np.maximum(least - error, 0.0)) * (2 - UP))
        return self.up(slide * (1 + self.coarse) + self.coarse * size)

    def wave(self, error: Bound) -> Bound:
        """Of a sine or cosine."""
        return self.up(error + self.function)

    def power(self, error: Bound, size: Bound) -> Bound:
        """Of an exponential, given the argument's error and the size of the result."""
        return self.up(size * (bound_growth(error) * (1 + self.function) + self.function) + self.eta, size)

    def bent(self, steepest: float, error: Bound, size: Bound) -> Bound:
        """Of gelu and silu, given the largest slope, the argument's error and its size."""
        return self.up(steepest * error + self.share * (size + error) + self.eta, size)


def bound_growth(error: Bound) -> Bound:
    """At least exp(e) - 1, by + and * alone: no library's exponential is trusted in a bound.

    Up to e = 1 the terms from e^2 / 2! on are at most e^2 (1/2! + 1/3! + ...) = 0.72 e^2; beyond, exp(e) is
    at most 4^k for the whole k from e on, a power of two that float64 has exactly.
    """
    whole = np.minimum(np.ceil(np.where(error > 1, error, 1.0)), 600.0).astype(np.int64)
    grown: Bound = np.where(error <= 1, error * (1 + error) * UP, np.ldexp(1.0, 2 * whole))
    return np.where(np.isnan(error), np.inf, grown)


def _divide_bounds(above: Bound, below: Bound) -> Bound:
    """The quotient of bounds, infinite where nothing is left below; 0 over anything is 0."""
    above, below = np.broadcast_arrays(above, below)
    infinite = np.where(above == 0, 0.0, np.inf)
    return np.divide(above, below, out=infinite, where=(below > 0) & (above != 0))
