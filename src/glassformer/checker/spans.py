"""Numbers between two ends of float64: quicker than balls, and certain all the same, only wider.

Every end is moved outwards by more than its own rounding. What is not a number says nothing: a bound that
cannot be had is none. A third, in float64 and between its ends:

>>> third = Spans(np.array([1.0])) / Spans(np.array([3.0]))
>>> bool(third.low[0] < 1 / 3 < third.high[0] < third.low[0] + 1e-15)
True
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from flint import arb

from glassformer.checker.rounding import TINY, Bound

_OWN = 2.0**-52  # share of a result that its rounding is always below
_UP = 1 + 2.0**-40  # for bounds that take up to a thousand roundings themselves
_POWER = 2.0**-45  # of a share's power: 48 roundings of 2**-53, each of up to e times the result, and 1e-19
_TERMS = 16  # of the series of a power, for shares up to 1/2
_FARTHEST = 700  # powers beyond it are left unknown

_is_float = np.frompyfunc(lambda ball, number: ball.is_exact() and ball == arb(number), 2, 1)


class Spans:
    """An array of them; low and high are the ends."""

    __array_ufunc__ = None  # NumPy leaves array * spans to us
    dtype = np.dtype(np.float64)

    def __init__(self, low: Bound, high: Bound | None = None) -> None:
        self.low, self.high = low, low if high is None else high

    @property
    def is_exact(self) -> bool:
        return self.low is self.high

    @property
    def shape(self) -> tuple[int, ...]:
        return self.low.shape

    @property
    def ndim(self) -> int:
        return self.low.ndim

    def __len__(self) -> int:
        return len(self.low)

    def changed(self, change: Callable[[Bound], Bound]) -> "Spans":
        """The same numbers in another order or shape."""
        return Spans(change(self.low)) if self.is_exact else Spans(change(self.low), change(self.high))

    def __getitem__(self, key: Any) -> "Spans":
        return self.changed(lambda end: np.asarray(end[key]))

    def reshape(self, *shape: Any) -> "Spans":
        return self.changed(lambda end: end.reshape(*shape))

    def transpose(self, *axes: int) -> "Spans":
        return self.changed(lambda end: end.transpose(*axes))

    def __neg__(self) -> "Spans":
        return Spans(-self.low) if self.is_exact else Spans(-self.high, -self.low)

    def __add__(self, other: Any) -> "Spans":
        other = _to_spans(other)
        return _widen(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Any) -> "Spans":
        return self + -_to_spans(other)

    def __rsub__(self, other: Any) -> "Spans":
        return _to_spans(other) - self

    def __mul__(self, other: Any) -> "Spans":
        other = _to_spans(other)
        one, two = (other, self) if self.is_exact else (self, other)
        ends = [one.low * two.low, one.high * two.low]
        if not two.is_exact:
            ends += [one.low * two.high, one.high * two.high]
        return _widen_products(ends, _is_nothing(one) | _is_nothing(two))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> "Spans":
        """Unknown where the divisor may be 0."""
        other = _to_spans(other)
        ends = [self.low / other.low, self.high / other.low, self.low / other.high, self.high / other.high]
        found = _widen_products(ends, _is_nothing(self))
        unknown = ~((other.low > 0) | (other.high < 0))
        return Spans(np.where(unknown, np.nan, found.low), np.where(unknown, np.nan, found.high))

    def __rtruediv__(self, other: Any) -> "Spans":
        return _to_spans(other) / self

    def __matmul__(self, other: "Spans") -> "Spans":
        """By middle and radius, in any order of summation."""
        mine, mine_off = self.split()
        theirs, theirs_off = other.split()
        size, other_size = np.abs(mine), np.abs(theirs)
        share = (self.shape[-1] + 4) * _OWN
        off = size @ theirs_off + share * (size @ other_size)
        if mine_off.any():
            off = off + mine_off @ (other_size + theirs_off)
        middle = mine @ theirs
        off = (off + _OWN * np.abs(middle)) * (_UP + 4 * share)
        meets = (~_is_nothing(self)).astype(np.float64) @ (~_is_nothing(other)).astype(np.float64)
        off = off + np.where(meets > 0, TINY, 0.0)  # what underflow can lose; nothing where only 0 is added
        return Spans(middle - off, middle + off)

    def sum(self, axis: int) -> "Spans":
        share = self.shape[axis] * _OWN
        low, high = self.low.sum(axis), self.high.sum(axis)
        below, above = (share * np.abs(end).sum(axis) * (_UP + 4 * share) for end in (self.low, self.high))
        return Spans(low - below, high + above)

    def split(self) -> tuple[Bound, Bound]:
        """Middle and radius."""
        if self.is_exact:
            return self.low, np.zeros(self.shape)
        middle = self.low / 2 + self.high / 2
        radius = np.maximum(self.high - middle, middle - self.low)
        return middle, radius * _UP

    def magnitude(self) -> Bound:
        """The largest magnitude."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def meet(self, other: "Spans") -> "Spans":
        """What lies in both; where one says nothing, the other."""
        return Spans(np.fmax(self.low, other.low), np.fmin(self.high, other.high))


def _to_spans(x: Any) -> Spans:
    return x if isinstance(x, Spans) else Spans(np.asarray(x, np.float64))


def from_balls(x: np.ndarray) -> Spans:
    """Spans that hold balls."""
    low, high = (_to_floats(x, end) for end in (arb.lower, arb.upper))
    fits = np.asarray(_is_float(x, low)).astype(bool)  # a parameter: a float64, as it is
    down, up = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return Spans(low) if fits.all() else Spans(np.where(fits, low, down), np.where(fits, high, up))


def _to_floats(x: np.ndarray, end: Callable[[arb], arb]) -> Bound:
    return np.asarray(np.frompyfunc(end, 1, 1)(x)).astype(np.float64)


def _widen(low: Bound, high: Bound) -> Spans:
    """Ends that are each the rounded result of one operation; sums that are 0 or tiny are exact."""
    return Spans(low - _measure_rounding(low), high + _measure_rounding(high))


def _measure_rounding(end: Bound) -> Bound:
    """How far one rounding moves an end, at most."""
    found = np.asarray(np.abs(end))
    found *= _OWN
    return found


def _widen_products(ends: list[Bound], is_nothing: np.ndarray) -> Spans:
    """From the products or quotients of all ends; they may underflow, but 0 times anything is 0."""
    low, high = np.asarray(np.minimum(ends[0], ends[1])), np.asarray(np.maximum(ends[0], ends[1]))
    for end in ends[2:]:  # in place: arrays are large, and a fresh one costs more than the operation
        np.minimum(low, end, out=low)
        np.maximum(high, end, out=high)
    tiny = np.where(is_nothing, 0.0, TINY)
    below, above = _measure_rounding(low), _measure_rounding(high)
    below += tiny
    above += tiny
    return Spans(low - below, high + above)


def _is_nothing(x: Spans) -> np.ndarray:
    found: np.ndarray = x.low == 0
    return found if x.is_exact else found & (x.high == 0)


def take_root(x: Spans) -> Spans:
    found = _widen(np.sqrt(x.low), np.sqrt(x.high))  # not a number below 0
    return Spans(np.maximum(found.low, 0.0), found.high)


def take_absolute(x: Spans) -> Spans:
    least = np.where((x.low <= 0) & (x.high >= 0), 0.0, np.minimum(np.abs(x.low), np.abs(x.high)))
    return Spans(least + 0 * (x.low + x.high), x.magnitude())


def find_step(x: Spans) -> Spans:
    """0 below 0, 1 above it, anything between where the sign is not known."""
    return Spans(np.where(x.low > 0, 1.0, 0.0), np.where(x.high < 0, 0.0, 1.0))


def take_positive(x: Spans) -> Spans:
    return Spans(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0))


def take_power(x: Spans) -> Spans:
    """e to the x: that of the nearest whole number, as Arb has it, times the series of what is left."""
    low = _bound_powers(x.low)[0]
    return Spans(low, _bound_powers(x.high)[1])


def _bound_powers(x: Bound) -> tuple[Bound, Bound]:
    """Below and above e to the x; nothing known far out."""
    known = np.abs(x) <= _FARTHEST
    whole = np.where(known, np.rint(x), 0.0)
    share = np.where(known, x, 0.0) - whole  # exact, at most 1/2
    series = np.ones(x.shape)
    for term in range(_TERMS, 0, -1):
        series = 1 + series * share / term
    below, above = (table[whole.astype(np.int64) + _FARTHEST] for table in _tabulate_powers())
    low, high = series * (1 - _POWER) * below, series * (1 + _POWER) * above
    low, high = low * (1 - _OWN * 4), high * (1 + _OWN * 4)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


@cache
def _tabulate_powers() -> tuple[Bound, Bound]:
    """Below and above e to every whole number."""
    powers = np.array([arb(number).exp() for number in range(-_FARTHEST, _FARTHEST + 1)], object)
    found = from_balls(powers)
    return found.low, found.high


def apply_by_balls(function: Callable[[np.ndarray], Any], x: Spans) -> Spans:
    """Any function of balls, one number at a time."""
    return from_balls(np.asarray(function(to_balls_of_spans(x)), object))


def to_balls_of_spans(x: Spans) -> np.ndarray:
    join = np.frompyfunc(lambda low, high: arb(low).union(arb(high)), 2, 1)
    return np.asarray(join(x.low, x.high), object)
