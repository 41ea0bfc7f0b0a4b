"""Numbers known to lie in balls, with their slopes over a box and the error of the deployed arithmetic.

`over` encloses the value over the whole box, `at` at its centre, and `slopes` the partial derivatives over
the box. The mean value form, at + slopes (y - centre), is as good as the slopes are: for y - 1.000001 y with
y in 2 +- 1 it is 2e-6 wide, where plain balls are 4 wide.

Some coordinates of a box are coordinates of the mix (what attention brings), the others are errors: how far a
deployed number is from the real one, from -error to error. At the centre every error is 0.

>>> rules = RoundingRules(np.dtype("float64"), "real")
>>> y = make_box_coordinates(rules, [np.array([1.0])], [np.array([3.0])])[0]
>>> difference = y - y * 1.000001
>>> bool(difference.over[0].rad() < 2e-6)
True
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from glassformer.checker.rounding import TINY, Bound, RoundingRules
from glassformer.checker.spans import Spans
from glassformer.models.blocks import Blocks

BITS = 128  # of a ball's centre; float64 has 53
Arbs = Any  # an array of flint.arb, or Spans where the rules are quick
_ByCoordinate = Mapping[int, Arbs]
_Made = tuple[Arbs, Arbs, _ByCoordinate, _ByCoordinate]  # over, at, slopes, reach
_PLACES = 1000  # coordinates below it belong to the mix, the others are errors
fresh = itertools.count(_PLACES)  # names of errors; two of them are never the same

_exactly = np.frompyfunc(arb, 1, 1)
_spread = np.frompyfunc(lambda low, high: arb(low).union(arb(high)), 2, 1)
_about_zero = np.frompyfunc(lambda radius: arb(0, radius), 1, 1)
_meet = np.frompyfunc(arb.intersection, 2, 1)
_upper = np.frompyfunc(arb.upper, 1, 1)
_lower = np.frompyfunc(arb.lower, 1, 1)
_most = np.frompyfunc(arb.abs_upper, 1, 1)
_least = np.frompyfunc(arb.abs_lower, 1, 1)
_is_zero = np.frompyfunc(arb.is_zero, 1, 1)
hull = np.frompyfunc(arb.union, 2, 1)


def to_exact_balls(x: Bound) -> Arbs:
    """Numbers of float64 as balls without radius."""
    return np.asarray(_exactly(x), object)


def enclose_exactly(rules: RoundingRules, x: Bound) -> Arbs:
    """Numbers of float64, as balls or spans."""
    return Spans(np.asarray(x, np.float64)) if rules.is_quick else to_exact_balls(x)


def enclose_about_zero(rules: RoundingRules, radius: Bound) -> Arbs:
    """Numbers of which only the largest magnitude is known."""
    return Spans(-radius, radius) if rules.is_quick else _make_zero_balls(radius)


def enclose_range(rules: RoundingRules, low: Bound, high: Bound) -> Arbs:
    """Balls that hold everything from low to high."""
    return Spans(low, high) if rules.is_quick else np.asarray(_spread(low, high), object)


def choose_narrower(x: Arbs, low: Bound, high: Bound) -> Arbs:
    """Balls or spans as they are, or from low to high where that says more."""
    below, above = bound_below(x), bound_above(x)
    is_less = np.isfinite(low) & np.isfinite(high) & ~(above - below <= high - low)
    if isinstance(x, Spans):
        return Spans(np.where(is_less, low, below), np.where(is_less, high, above))
    found: Arbs = x.copy()
    found[is_less] = _spread(low[is_less], high[is_less])
    return found


def as_enclosure(x: Any) -> Arbs:
    """What came of a computation, as an array also where it is a single ball."""
    return x if isinstance(x, Spans) else np.asarray(x, object)


def change_enclosure(x: Arbs, change: Callable[[np.ndarray], np.ndarray]) -> Arbs:
    """The same numbers in another order or shape."""
    return x.changed(change) if isinstance(x, Spans) else change(x)


def _make_zero_balls(radius: Bound) -> Arbs:
    return np.asarray(_about_zero(radius), object)


def bound_above(x: Arbs) -> Bound:
    """A float64 at or above every number of each ball."""
    if isinstance(x, Spans):
        return x.high
    return np.nextafter(np.asarray(_upper(x)).astype(np.float64), np.inf)


def bound_below(x: Arbs) -> Bound:
    """A float64 at or below every number of each ball."""
    if isinstance(x, Spans):
        return x.low
    return np.nextafter(np.asarray(_lower(x)).astype(np.float64), -np.inf)


def bound_magnitude(x: Arbs) -> Bound:
    """The largest magnitude in each ball; exactly 0 for the number 0 alone."""
    if isinstance(x, Spans):
        return x.magnitude()
    found = np.asarray(_most(x)).astype(np.float64)
    if (found == 0).any():
        found = np.where(np.asarray(_is_zero(x)).astype(bool), 0.0, np.maximum(found, TINY))
    return np.where(found == 0, 0.0, np.nextafter(found, np.inf))


def _bound_least_magnitude(x: Arbs) -> Bound:
    """The smallest magnitude in each ball."""
    if isinstance(x, Spans):
        return np.maximum(np.maximum(x.low, -x.high), 0.0)
    return np.maximum(np.nextafter(np.asarray(_least(x)).astype(np.float64), -np.inf), 0.0)


@dataclass(frozen=True, eq=False)
class Balls:
    """An array of such numbers; the last axis is the boxes' wherever there are slopes."""

    __array_ufunc__ = None  # NumPy leaves array * balls to us

    rules: RoundingRules
    over: Arbs
    error: Bound
    at: Arbs
    slopes: _ByCoordinate = field(default_factory=dict)  # those that are not there are 0
    reach: _ByCoordinate = field(default_factory=dict)  # y - centre over the boxes, `batch`

    @property
    def shape(self) -> tuple[int, ...]:
        found: tuple[int, ...] = self.over.shape
        return found

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @cached_property
    def size(self) -> Bound:
        return bound_magnitude(self.over)

    @cached_property
    def is_zero(self) -> np.ndarray:
        """Where the number is 0 and deployed as 0."""
        zero: np.ndarray = (self.size == 0) & (self.error == 0)
        return zero

    @property
    def T(self) -> "Balls":  # noqa: N802 (NumPy's name)
        return self.reshaped(np.transpose)

    def reshape(self, *shape: int) -> "Balls":
        return self.reshaped(lambda part: part.reshape(*shape))

    def __getitem__(self, key: Any) -> "Balls":
        return self.reshaped(lambda part: np.asarray(part[key]))

    def reshaped(self, turn: Callable[[np.ndarray], np.ndarray]) -> "Balls":
        """The same numbers in another order."""
        slopes = {name: change_enclosure(slope, turn) for name, slope in self.slopes.items()}
        over = change_enclosure(self.over, turn)
        at = change_enclosure(self.at, turn) if slopes else over
        return Balls(self.rules, over, turn(self.error), at, slopes, self.reach)

    def lift(self, value: object) -> "Balls":
        """Python and NumPy numbers, in the precision of the model."""
        return value if isinstance(value, Balls) else make_constant_balls(self.rules, value)

    def __neg__(self) -> "Balls":
        slopes = {name: as_enclosure(-slope) for name, slope in self.slopes.items()}
        over = as_enclosure(-self.over)
        at = as_enclosure(-self.at) if slopes else over
        return Balls(self.rules, over, self.error, at, slopes, self.reach)

    def __add__(self, value: Any) -> Any:
        if isinstance(value, Blocks):
            return NotImplemented  # blocks know how to be added
        other = self.lift(value)
        slopes = _combine_slopes(self, other, lambda mine: mine, lambda theirs: theirs)
        made = enclose_result((self, other), self.over + other.over, lambda: self.at + other.at, slopes)
        if self.rules.is_real:
            return make_real_balls(self.rules, made)
        error = self.rules.added(self.error, other.error, bound_magnitude(made[0]))
        error = np.where(self.is_zero, other.error, np.where(other.is_zero, self.error, error))
        return Balls(self.rules, made[0], error, *made[1:])

    def __sub__(self, value: Any) -> "Balls":
        difference: Balls = self + -self.lift(value)
        return difference

    def __mul__(self, value: Any) -> Any:
        if isinstance(value, Blocks):
            return NotImplemented  # blocks know how to be multiplied
        other = self.lift(value)
        slopes = _combine_slopes(
            self, other, lambda mine: mine * other.over, lambda theirs: self.over * theirs
        )
        made = enclose_result((self, other), self.over * other.over, lambda: self.at * other.at, slopes)
        if self.rules.is_real:
            return make_real_balls(self.rules, made)
        error = self.rules.times(self.size, self.error, other.size, other.error)
        is_nothing = (self.is_zero | other.is_zero) & np.isfinite(error)  # 0 x infinity is no number
        error = np.where(is_nothing, 0.0, error)
        return Balls(self.rules, made[0], error, *made[1:])

    def __truediv__(self, value: Any) -> "Balls":
        other = self.lift(value)
        ratio = self.over / other.over
        slopes = _combine_slopes(
            self, other, lambda mine: mine / other.over, lambda theirs: -ratio * theirs / other.over
        )
        made = enclose_result((self, other), ratio, lambda: self.at / other.at, slopes)
        if self.rules.is_real:
            return make_real_balls(self.rules, made)
        error = self.rules.divided(
            self.error, other.error, _bound_least_magnitude(other.over), bound_magnitude(made[0])
        )
        return Balls(self.rules, made[0], error, *made[1:])

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, value: Any) -> "Balls":
        return self.lift(value) - self

    def __rtruediv__(self, value: Any) -> "Balls":
        return self.lift(value) / self

    def real(self) -> Arbs:
        """The value over the mix alone, with every error 0."""
        places = {name: slope for name, slope in self.slopes.items() if name < _PLACES}
        return tighten_enclosure(self.over, self.at, places, self.reach)

    def drift(self) -> Bound:
        """How far the deployed number can be from the real one, by errors that are coordinates and others."""
        errors = {name: slope for name, slope in self.slopes.items() if name >= _PLACES}
        return self.rules.up(
            self.error
            + bound_magnitude(
                _evaluate_mean_form(enclose_exactly(self.rules, np.zeros(self.shape)), errors, self.reach)
            )
        )


def make_constant_balls(rules: RoundingRules, value: object) -> Balls:
    """Stored parameters: cast to the precision, then exact."""
    cast: Bound = np.asarray(value, rules.dtype).astype(np.float64)
    return make_fixed_balls(rules, enclose_exactly(rules, cast), np.zeros(cast.shape))


def make_fixed_balls(rules: RoundingRules, over: Arbs, error: Bound) -> Balls:
    """Numbers that do not vary over a box."""
    over = as_enclosure(over)
    return Balls(rules, over, np.broadcast_to(error, over.shape), over)


def make_box_coordinates(
    rules: RoundingRules, low: Sequence[Bound], high: Sequence[Bound], off: Sequence[Bound] = ()
) -> list[Balls]:
    """The coordinates of boxes, `batch` each, as functions of themselves; deployed ones are `off`."""
    over = [enclose_range(rules, a, b) for a, b in zip(low, high, strict=True)]
    middle = [enclose_exactly(rules, a + (b - a) / 2) for a, b in zip(low, high, strict=True)]
    reach = {i: whole - middle[i] for i, whole in enumerate(over)}
    none, one = np.zeros(len(low[0])), enclose_exactly(rules, np.ones(len(low[0])))
    found = []
    for i, whole in enumerate(over):
        slopes = {i: one}
        if off and off[i].any():
            name = next(fresh)
            slopes[name], reach[name] = one, enclose_about_zero(rules, off[i])
            whole = whole + reach[name]
        found.append(Balls(rules, whole, none, middle[i], slopes, reach))
    return found


def make_real_balls(rules: RoundingRules, made: _Made) -> Balls:
    """What real numbers make: nothing is lost."""
    return Balls(rules, made[0], np.zeros(made[0].shape), *made[1:])


def _combine_slopes(
    x: Balls, y: Balls, of_x: Callable[[Arbs], Arbs], of_y: Callable[[Arbs], Arbs]
) -> dict[int, Arbs]:
    """Slopes of what x and y make together, given what each brings."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    slopes = {name: _broadcast(of_x(slope), shape) for name, slope in x.slopes.items()}
    for name, slope in y.slopes.items():
        brought = _broadcast(of_y(slope), shape)
        slopes[name] = slopes[name] + brought if name in slopes else brought
    return slopes


def _broadcast(x: Arbs, shape: tuple[int, ...]) -> Arbs:
    return x if x.shape == shape else change_enclosure(x, lambda part: np.broadcast_to(part, shape))


def enclose_result(
    parts: Sequence[Balls], over: object, at: Callable[[], Any], slopes: _ByCoordinate
) -> _Made:
    """The value over the box, by both forms, and at its centre; its slopes and their reach."""
    over = as_enclosure(over)
    if not slopes:
        return over, over, {}, {}
    centre = as_enclosure(at())
    reach = {name: delta for part in parts for name, delta in part.reach.items()}
    return tighten_enclosure(over, centre, slopes, reach), centre, slopes, reach


def tighten_enclosure(over: Arbs, at: Arbs, slopes: _ByCoordinate, reach: _ByCoordinate) -> Arbs:
    """The value over the box, cut down to the mean value form."""
    form = _evaluate_mean_form(at, slopes, reach)
    return over.meet(form) if isinstance(over, Spans) else np.asarray(_meet(over, form), object)


def _evaluate_mean_form(at: Arbs, slopes: _ByCoordinate, reach: _ByCoordinate) -> Arbs:
    """at + slopes . (y - centre)."""
    for name, slope in slopes.items():
        at = at + slope * reach[name]
    return at
