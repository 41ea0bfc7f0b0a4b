"""Numbers with bounds: a real value over a whole box of inputs, and how far floating point may be off it.

A value is centre + sum of slope_i y_i, give or take a radius, for coordinates y_i between -1 and 1 (affine
arithmetic: what depends on the same coordinate cancels). The deployed arithmetic, in whatever order it adds,
gives that value plus sum of noise_i z_i, give or take an error, for unknown z_i between -1 and 1: so what
comes from the same rounding cancels as well. Every operation rounds outwards.

>>> x = bound_coordinate(FloatFormat("float32"), 0, 1, np.array(0.0), np.array(2.0))
>>> low, high = (x - x * 0.5).range()
>>> float(low) < 0 < 0.9999 < float(high) < 1.0001
True
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from glassformer.models.blocks import Blocks
from glassformer.models.float_format import LEAST, OWN, FloatFormat, widen_own

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class BoundedArray:
    """An array of numbers with bounds."""

    __array_ufunc__ = None  # NumPy leaves array * bounded to us

    floats: FloatFormat
    centre: Array
    slope: Array | None  # coordinate, then as the centre; none: no coordinate moves it
    radius: Array
    noise: Array | None  # rounding that is told apart, then as the centre
    error: Array  # all other rounding

    @property
    def shape(self) -> tuple[int, ...]:
        return self.centre.shape

    @property
    def ndim(self) -> int:
        return self.centre.ndim

    @cached_property
    def sway(self) -> Array | float:
        """How far all coordinates together move the value."""
        return sum_magnitudes(self.slope)

    @cached_property
    def reach(self) -> Array:
        """How far the real value may be from the centre."""
        return np.asarray((self.sway + self.radius) * widen_own())

    @cached_property
    def size(self) -> Array:
        """The largest magnitude of the real value."""
        return np.asarray((np.abs(self.centre) + self.reach) * widen_own())

    @cached_property
    def off(self) -> Array:
        """How far the deployed value may be from the real one."""
        if not self.floats.unit:
            return self.error
        return np.asarray((sum_magnitudes(self.noise) + self.error) * widen_own())

    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest real value."""
        reach = self.reach
        return _widen_downwards(self.centre - reach), _widen_upwards(self.centre + reach)

    def per_part(self, change: Callable[[Array], Array]) -> "BoundedArray":
        """The same change of shape for every array; the first axis of slope and noise stays."""
        return self._changed(change, lambda parts: np.stack([change(one) for one in parts]))

    def _changed(
        self, change: Callable[[Array], Array], of_parts: Callable[[Array], Array]
    ) -> "BoundedArray":
        """A change of shape, and the same one behind the first axis of slope and noise."""
        slope, noise = (None if parts is None else of_parts(parts) for parts in (self.slope, self.noise))
        return BoundedArray(
            self.floats, change(self.centre), slope, change(self.radius), noise, change(self.error)
        )

    @property
    def T(self) -> "BoundedArray":  # noqa: N802, as NumPy calls it
        return self.per_part(np.transpose)

    def reshape(self, *shape: int) -> "BoundedArray":
        return self._changed(
            lambda part: part.reshape(*shape), lambda parts: parts.reshape(len(parts), *shape)
        )

    def __getitem__(self, key: Any) -> "BoundedArray":
        keys = key if isinstance(key, tuple) else (key,)
        if all(one is None or isinstance(one, int | slice) for one in keys):  # a view, nothing is copied
            return self._changed(lambda part: np.asarray(part[keys]), lambda parts: parts[:, *keys])
        return self.per_part(lambda part: np.asarray(part[key]))

    def __neg__(self) -> "BoundedArray":
        slope, noise = (None if parts is None else -parts for parts in (self.slope, self.noise))
        return BoundedArray(self.floats, -self.centre, slope, self.radius, noise, self.error)

    def __add__(self, other: Any) -> "BoundedArray":
        if isinstance(other, Blocks):
            return NotImplemented
        other = to_bounded(self.floats, other)
        slope = _add_parts(*_align_axes(self.slope, other.slope, self, other))
        noise = _add_parts(*_align_axes(self.noise, other.noise, self, other))
        return add_rounding_bounds(
            self.floats,
            self.centre + other.centre,
            slope,
            self.radius + other.radius,
            noise,
            self.error + other.error,
        )

    def __sub__(self, other: Any) -> "BoundedArray":
        return self + -to_bounded(self.floats, other)

    def __rsub__(self, other: Any) -> "BoundedArray":
        return to_bounded(self.floats, other) - self

    def __mul__(self, other: Any) -> "BoundedArray":
        if isinstance(other, Blocks):
            return NotImplemented
        found = _multiply_bounded(self, to_bounded(self.floats, other))
        return _bound_square(self, found) if other is self else found

    def __truediv__(self, other: Any) -> "BoundedArray":
        other = _invert_bounded(to_bounded(self.floats, other))
        return _multiply_bounded(self, other, self.floats.division_units)

    def __rtruediv__(self, other: Any) -> "BoundedArray":
        return to_bounded(self.floats, other) / self

    __radd__, __rmul__ = __add__, __mul__


def bound_constant(floats: FloatFormat, value: object) -> BoundedArray:
    """Stored parameters and constants, as the deployed precision has them."""
    centre = np.asarray(np.asarray(value, floats.dtype), np.float64)
    return BoundedArray(floats, centre, None, np.zeros(centre.shape), None, np.zeros(centre.shape))


def bound_range(floats: FloatFormat, low: Array, high: Array, error: Array | float = 0.0) -> BoundedArray:
    """Real values between two numbers that may be anything there."""
    centre = (low + high) / 2
    radius = np.maximum(high - centre, centre - low) * widen_own() + LEAST
    errors = np.broadcast_to(np.asarray(error, np.float64), centre.shape)
    return BoundedArray(floats, centre, None, radius, None, errors)


def bound_coordinate(floats: FloatFormat, number: int, count: int, low: Array, high: Array) -> BoundedArray:
    """Coordinate `number` of `count`, running from low to high."""
    middle = bound_range(floats, low, high)
    slope = np.zeros((count, *middle.shape))
    slope[number] = middle.radius
    radius = OWN * np.abs(middle.centre) + LEAST
    return BoundedArray(floats, middle.centre, slope, radius, None, middle.error)


def separate_row_errors(x: BoundedArray, first: int) -> BoundedArray:
    """The same, with the error of every row as a noise of its own, from number `first` on."""
    rows, before = np.arange(len(x.error)), 0 if x.noise is None else len(x.noise)
    noise = np.zeros((max(first + len(rows), before), *x.shape))
    if x.noise is not None:
        noise[:before] = x.noise
    noise[first + rows, rows] += x.error
    return BoundedArray(x.floats, x.centre, x.slope, x.radius, noise, np.zeros(x.shape))


def to_bounded(floats: FloatFormat, value: object) -> BoundedArray:
    return value if isinstance(value, BoundedArray) else bound_constant(floats, value)


def add_rounding_bounds(
    floats: FloatFormat,
    centre: Array,
    slope: Array | None,
    radius: Array,
    noise: Array | None,
    error: Array,
    units: float = 1.0,
) -> BoundedArray:
    """A result with our own rounding in its radius, and so many units of the deployed one in its error.

    Real numbers are never rounded: their error is 0, and stays so.
    """
    slope, noise = _broadcast_parts(slope, centre), _broadcast_parts(noise, centre)
    sway = sum_magnitudes(slope)
    size = np.abs(centre) + sway
    radius = (radius + (OWN * size + LEAST)) * widen_own()
    if not floats.unit:
        return _keep_sway(BoundedArray(floats, centre, slope, radius, noise, error), sway)
    off = sum_magnitudes(noise) + error
    error = error + OWN * off
    if units and floats.unit:
        error = error + (floats.unit * units) * (size + radius + off)
    error = (bound_overflow(floats, size + radius + off, error) + floats.step) * widen_own()
    return _keep_sway(BoundedArray(floats, centre, slope, radius, noise, error), sway)


def _keep_sway(x: BoundedArray, sway: Array | float) -> BoundedArray:
    """The same, which need not add up its slopes once more."""
    vars(x)["sway"] = sway
    return x


def bound_overflow(floats: FloatFormat, size: Array, error: Array) -> Array:
    """The error, infinite where a deployed number, or a part of a sum, might overflow."""
    if floats.most == np.inf or size.max(initial=0.0) < floats.most:
        return error
    return np.where(size < floats.most, error, np.inf)


def _broadcast_parts(parts: Array | None, centre: Array) -> Array | None:
    """Slopes or noises as large as the numbers that they belong to."""
    if parts is None or parts.shape[1:] == centre.shape:
        return parts
    return np.broadcast_to(parts, (len(parts), *centre.shape))


def sum_magnitudes(parts: Array | None) -> Array | float:
    """At least the sum of magnitudes over the first axis."""
    if parts is None or not len(parts):
        return 0.0
    total = np.abs(parts[0])
    if len(parts) == 1:
        return np.asarray(total)
    for part in parts[1:]:  # no array as large as all parts, and none for each sum
        total += np.abs(part)
    return np.asarray(total * widen_own(len(parts)))


def _add_parts(first: Array | None, second: Array | None) -> Array | None:
    """Sums of slopes or of noises; one that has more of them has them at the end."""
    if first is None or second is None:
        return second if first is None else first
    if len(first) == len(second):
        return np.asarray(first + second)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    both = np.array(
        np.broadcast_to(longer, (len(longer), *np.broadcast_shapes(first.shape[1:], second.shape[1:])))
    )
    both[: len(shorter)] += shorter
    return both


def _align_axes(
    first: Array | None, second: Array | None, x: BoundedArray, y: BoundedArray
) -> tuple[Array | None, Array | None]:
    """Slopes or noises of x and y, both with as many axes as the result."""
    axes = max(x.ndim, y.ndim)

    def deep(parts: Array | None, of: BoundedArray) -> Array | None:
        if parts is None or of.ndim == axes:
            return parts
        return parts.reshape(len(parts), *[1] * (axes - of.ndim), *of.shape)

    return deep(first, x), deep(second, y)


def _multiply_bounded(x: BoundedArray, y: BoundedArray, units: float = 1.0) -> BoundedArray:
    """x y, rounded once, or as coarsely as so many units."""
    first, second = _align_axes(x.slope, y.slope, x, y)
    slope = _add_parts(scale_parts(first, y.centre), scale_parts(second, x.centre))
    first, second = _align_axes(x.noise, y.noise, x, y)
    noise = _add_parts(scale_parts(first, y.centre), scale_parts(second, x.centre))
    mine, theirs, reach, other = np.abs(x.centre), np.abs(y.centre), x.reach, y.reach
    radius = mine * y.radius + theirs * x.radius + reach * other
    if not x.floats.unit:
        return add_rounding_bounds(
            x.floats, x.centre * y.centre, slope, radius, noise, np.zeros(radius.shape)
        )
    own = OWN * (mine * y.off + theirs * x.off)  # of the noises, which may cancel
    error = mine * y.error + theirs * x.error + (reach + x.off) * y.off + other * x.off + own
    return add_rounding_bounds(x.floats, x.centre * y.centre, slope, radius, noise, error, units)


def scale_parts(parts: Array | None, factor: Array) -> Array | None:
    return None if parts is None else parts * factor


def _bound_square(x: BoundedArray, found: BoundedArray) -> BoundedArray:
    """x x is not below 0, however wide x is."""
    far, near = bound_magnitudes(x)
    size = far + x.off
    with np.errstate(invalid="ignore", over="ignore"):
        error = 2 * size * x.off + x.floats.unit * size * size + x.floats.step
        return choose_narrower(x, found, near * near * (1 - OWN), far * far * widen_own(), error)


def bound_magnitudes(x: BoundedArray) -> tuple[Array, Array]:
    """The largest and the smallest magnitude that real or deployed values have."""
    reach = (x.reach + x.off) * widen_own()
    size = np.abs(x.centre)
    return (size + reach) * widen_own(), np.maximum(size - reach, 0.0) * (1 - OWN)


def _invert_bounded(x: BoundedArray) -> BoundedArray:
    """1 / x; without bounds where x may be 0."""
    far, least = bound_magnitudes(x)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = 1 / x.centre
        bend = 2 / (least * least * least) * widen_own()
        slope = -value * value
        found = bound_curve(
            x, Nearly(value, OWN * np.abs(value)), Nearly(slope, 2 * OWN * np.abs(slope)), bend, 0.0
        )
        ends = np.sign(x.centre) * np.stack([1 / far * (1 - OWN), 1 / least * widen_own()])
        return choose_narrower(x, found, ends.min(0), ends.max(0), x.off / (least * least))


class Nearly(NamedTuple):
    """A number that our own arithmetic found, and how far the true one may be from it."""

    value: Array
    off: Array | float


def bound_curve(
    x: BoundedArray, value: Nearly, slope: Nearly, bend: Array | float, error: Array | float
) -> BoundedArray:
    """A function by its tangent at the centre, deployed to within `error`.

    `bend` bounds its second derivative over all real and deployed values.
    """
    reach, off, steep = x.reach, x.off, np.abs(slope.value)
    with np.errstate(invalid="ignore", over="ignore"):
        radius = steep * x.radius + 0.5 * bend * reach * reach + (slope.off * reach + value.off)
        moved = np.zeros(x.shape)
        if x.floats.unit:
            moved = steep * x.error + bend * (reach + off) * off + (slope.off * off + error)
    radius, moved = (np.where(np.isnan(part), np.inf, part) for part in (radius, moved))
    slopes, noise = scale_parts(x.slope, slope.value), scale_parts(x.noise, slope.value)
    return add_rounding_bounds(x.floats, value.value, slopes, radius, noise, moved, units=0.0)


def choose_narrower(
    x: BoundedArray, found: BoundedArray, low: Array, high: Array, error: Array
) -> BoundedArray:
    """f(x) as found, or between low and high where that says more: for x that is wide and has no slope.

    A tangent at the centre is best for narrow x, but its radius grows as the square of x's. Both bound the
    error, what rounding of x and of f may move f by.
    """
    if x.slope is not None or x.noise is not None:
        return found
    with np.errstate(invalid="ignore", over="ignore"):
        hull = bound_range(x.floats, low, high)
        error = bound_overflow(x.floats, np.maximum(np.abs(low), np.abs(high)) + error, error * widen_own())
        narrower = np.isfinite(hull.centre) & ~(found.reach <= hull.radius)
    return BoundedArray(
        x.floats,
        np.where(narrower, hull.centre, found.centre),
        None,
        np.where(narrower, hull.radius, found.radius),
        None,
        np.fmin(found.error, error) if x.floats.unit else found.error,
    )


def _widen_downwards(x: Array) -> Array:
    return np.asarray(x - (OWN * np.abs(x) + LEAST))


def _widen_upwards(x: Array) -> Array:
    return np.asarray(x + (OWN * np.abs(x) + LEAST))
