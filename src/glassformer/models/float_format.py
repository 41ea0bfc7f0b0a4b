"""The deployed floating point as the proofs see it, and what our own float64 may be off.

>>> floats = FloatFormat("float32")
>>> floats.unit == 2.0**-24, FloatFormat("float32", real=True).unit
(True, 0.0)
"""

import numpy as np

OWN = 2.0**-52  # twice what one operation of our own float64 can be off, as a share of its result
LEAST = 1e-300  # the same for results so small that they lose digits
OWN_STEPS = 8  # our own operations between two widenings, at the most, beside sums
BACKEND_UNITS = 8.0  # of roundoff, four in the last place: what a function of any backend may be off


def widen_own(terms: int = 0) -> float:
    """A factor that makes an upper bound certain, after a few operations of our own and a sum of so many.

    Each operation may come out lower by half of OWN, as a share of it, and so may the product with this.
    """
    return 1 + (terms + OWN_STEPS) * OWN


class FloatFormat:
    """The deployed arithmetic: unit roundoff, smallest step and largest number; real numbers have none.

    Our own pass, or that of any backend: it may add in any order, multiply and add at once, flush small
    numbers to 0, and take quotients, roots and functions that are off by four units in the last place.
    """

    def __init__(self, precision: str, real: bool = False, any_backend: bool = False) -> None:
        self.dtype, self.any_backend = np.dtype(precision), any_backend
        about = np.finfo(self.dtype)
        self.unit = 0.0 if real else float(about.eps) / 2
        self.step = 0.0 if real else float(about.tiny if any_backend else about.smallest_subnormal)
        self.most = np.inf if real else float(about.max)

    @property
    def division_units(self) -> float:
        """Units of roundoff of a quotient and of a square root."""
        return BACKEND_UNITS if self.any_backend else 1.0

    def of_function(self, own: float) -> float:
        """Share by which a function is off: within so many units in float64, and rounded once, or any's."""
        if not self.unit or self.any_backend:
            return BACKEND_UNITS * self.unit
        inner = own * 2.0**-53
        return inner if self.dtype == np.float64 else self.unit * (1 + 2 * inner) + inner

    def of_sum(self, terms: int) -> float:
        """Relative error of a sum of products of so many terms, in any order."""
        errors = (terms + 2) * self.unit
        return errors / (1 - errors)
