"""The operations on numbers with bounds: the model's own pass, over a whole box of inputs at once.

Functions are those of `elementary.py`, whose errors are derived; docs/arithmetic.md lists the rounding rule
of every operation and says why it holds.

>>> ops = BoundedOps("float64")
>>> low, high = ops.relu(ops.array([-1.0, 2.0])).range()
>>> bool((low <= [0, 2]).all() and (high >= [0, 2]).all())
True
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from glassformer.models import elementary
from glassformer.models.blocks import Blocks, apply_blockwise_linear, map_blocks, to_dense
from glassformer.models.bounded import (
    Array,
    BoundedArray,
    Nearly,
    add_rounding_bounds,
    bound_constant,
    bound_curve,
    bound_magnitudes,
    bound_overflow,
    choose_narrower,
    scale_parts,
    separate_row_errors,
    to_bounded,
)
from glassformer.models.elementary import round_once
from glassformer.models.float_format import LEAST, OWN, OWN_STEPS, FloatFormat, widen_own
from glassformer.models.ops import Value

BENT = 12.0  # units of roundoff of x: what a gelu or silu of any backend may be off, however it is composed
HALF_NORMAL = 0.3989422804014327  # 1 / sqrt(2 pi), at most OWN of it off
_SHARE_UNITS = 64.0  # of OWN: more than a share, or x times its slope, is off
_SMALLEST_MEAN = 1e-280  # of squares, 4,096 of which lose less than 1e-304 by underflow
_DEEPEST, _STEEPEST = 0.2785, 1.13  # neither gelu nor silu is further below 0, or below x, or steeper
_STEEPEST_BEND = 0.8, 0.51  # of gelu, sqrt(2 / pi) at 0, and of silu, 1/2 at 0: their second derivatives


class BoundedOps:
    """What `Ops` asks for, over a `BoundedArray`; `apart`: every sum of products tells its rounding apart."""

    def __init__(
        self, precision: str, real: bool = False, apart: bool = False, any_backend: bool = False
    ) -> None:
        self.floats, self.apart = FloatFormat(precision, real, any_backend), apart
        self.noises, self.told = 0, dict[tuple[Any, ...], tuple[int, BoundedArray]]()

    def renewed(self, noises: int) -> Self:
        """The same operations for another pass, in which so many noises are known already."""
        other = copy(self)
        other.noises, other.told = noises, {}
        return other

    def tell_apart(self, x: BoundedArray) -> BoundedArray:
        """Every row's error as a noise with a number of its own; the very same rows get the same again."""
        if not self.apart or not x.error.any():
            return x
        key = (x.shape, *(part.__array_interface__["data"][0] for part in (x.centre, x.error)))
        if key not in self.told:  # which keeps x, so that no other array can come to lie there
            self.told[key] = self.noises, x
            self.noises += len(x.error)
        return separate_row_errors(x, self.told[key][0])

    def array(self, value: Value) -> Value:
        return to_bounded(self.floats, value)

    def exp(self, x: BoundedArray) -> BoundedArray:
        value, most = _find_powers(x.centre), bound_power(x.centre + (x.reach + x.off), x.size + x.off)
        error = self.floats.of_function(elementary.EXP_UNITS) * most
        real = bound_curve(x, value, value, most, error)
        with np.errstate(invalid="ignore"):
            moved = most * x.off + error + self.floats.step
        real = choose_narrower(x, real, np.zeros(x.shape), most, moved)
        if real.noise is not None:
            return real
        both = np.fmin(real.error, 2 * most + self.floats.step)  # real and deployed lie below that
        return replace(real, error=bound_overflow(self.floats, most, both))

    def sqrt(self, x: BoundedArray) -> BoundedArray:
        low = np.maximum((x.centre - (x.reach + x.off)) - OWN_STEPS * OWN * (x.size + x.off), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.sqrt(x.centre)
            slope = 0.5 / value
            bend = 0.25 / (low * np.sqrt(low)) * widen_own()
            error = self.floats.division_units * self.unit * np.sqrt(x.size + x.off) * widen_own()
            found = bound_curve(x, Nearly(value, OWN * value), Nearly(slope, 2 * OWN * slope), bend, error)
            ends = np.sqrt(low) * (1 - OWN), np.sqrt(x.size + x.off) * widen_own()
            return choose_narrower(x, found, *ends, 0.5 / np.sqrt(low) * x.off + error + self.floats.step)

    def sin(self, x: BoundedArray) -> BoundedArray:
        return self.wave(x, elementary.sin, elementary.cos, 1.0)

    def cos(self, x: BoundedArray) -> BoundedArray:
        return self.wave(x, elementary.cos, elementary.sin, -1.0)

    def wave(self, x: BoundedArray, function: Value, slope: Value, sign: float) -> BoundedArray:
        """A sine or cosine; no value, slope or bend is above 1."""
        off = elementary.WAVE_UNITS * OWN
        value, steep = (Nearly(round_once(one, x.centre), off) for one in (function, slope))
        error = self.floats.of_function(elementary.WAVE_UNITS)
        return bound_curve(x, value, Nearly(sign * steep.value, off), 1.0, error)

    def abs(self, x: BoundedArray) -> BoundedArray:
        return _bound_hinge(x, (-1.0, 1.0))

    def relu(self, x: Value) -> Value:
        return map_blocks(lambda part: _bound_hinge(part, (0.0, 1.0)), x)

    def gelu(self, x: Value) -> Value:
        """x S(x), S the normal distribution's share below x: slope S + x D, bend D (2 - x^2), D its density.

        S is between 0 and 1, and |x D| below 1/4; what is computed of them is off by some units of these.
        """

        def bent(part: BoundedArray) -> BoundedArray:
            far, near = bound_magnitudes(part)
            share = round_once(elementary.measure_normal_share, part.centre)
            density = _find_powers(-0.5 * part.centre * part.centre).value * HALF_NORMAL
            bend = bound_power(-0.5 * near * near, near * near) * HALF_NORMAL * np.maximum(2.0, far * far - 2)
            return self.bend(part, share, part.centre * density, (bend, _STEEPEST_BEND[0]), far)

        return map_blocks(bent, x)

    def silu(self, x: Value) -> Value:
        """x S(x), S = 1 / (1 + e^-x): slope S + x S (1 - S), bend S (1 - S) (2 + x (1 - 2 S))."""

        def bent(part: BoundedArray) -> BoundedArray:
            far, near = bound_magnitudes(part)
            share = round_once(elementary.logistic, part.centre)
            bend = bound_power(-near, near) * (2 + far)
            return self.bend(part, share, part.centre * (share * (1 - share)), (bend, _STEEPEST_BEND[1]), far)

        return map_blocks(bent, x)

    def bend(
        self, x: BoundedArray, share: Array, more: Array, bends: tuple[Array, float], far: Array
    ) -> BoundedArray:
        """x times a share, with slope share + more; the second derivative is below both bends."""
        off = _SHARE_UNITS * OWN
        value = Nearly(x.centre * share, off * np.abs(x.centre))
        least = np.fmin(bends[0] * widen_own(), bends[1])
        floats = self.floats
        share_off = BENT * self.unit if floats.any_backend else floats.of_function(elementary.SHARE_UNITS + 1)
        found = bound_curve(x, value, Nearly(share + more, off), least, share_off * far)
        low, high = x.range()
        low, high = np.clip(low - x.off, -_DEEPEST, 0.0), np.maximum(high + x.off, 0.0)
        return choose_narrower(x, found, low, high, _STEEPEST * x.off + share_off * far + floats.step)

    def tighten_norm(self, x: Value, scaled: Value, eps: float) -> Value:
        """x / sqrt(mean(x^2) + eps) of wide x: it grows with x_i, and shrinks as any other grows.

        So its ends are those of x_i with the others at their smallest or largest. No slope by x_i is above
        1 / root, and by another none above half of that.
        """
        wide = to_dense(x)
        if not isinstance(wide, BoundedArray) or wide.slope is not None or wide.noise is not None:
            return scaled
        low, high = wide.range()
        far, near = bound_magnitudes(wide)
        dims, units = len(far), len(far) + 2 * self.floats.division_units + OWN_STEPS
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least, most = (_sum_others(part * part) for part in (near, far))
            bottom = _find_norm_end(low, np.where(low > 0, most, least), eps)
            top = _find_norm_end(high, np.where(high > 0, least, most), eps)
            bottom, top = bottom - units * OWN * np.abs(bottom), top + units * OWN * np.abs(top)
            root = np.sqrt((near * near).sum(0) / dims + eps) * (1 - units * OWN)
            moved = 0.5 * (wide.off + wide.off.sum(0)) / root
            lost = units * self.unit * np.sqrt(dims) + (1 + dims / (root * root)) * self.floats.step
            error = np.where(np.isfinite(top - bottom), (moved + lost) * widen_own(dims), np.inf)
        return choose_narrower(wide, to_dense(scaled), bottom, top, error)

    def sum(self, x: BoundedArray, axis: int) -> BoundedArray:
        def summed(parts: Array | None) -> Array | None:
            return None if parts is None else parts.sum(axis + 1)

        terms = x.shape[axis]
        both = (x.size + x.off).sum(axis) * widen_own(terms)
        radius = x.radius.sum(axis) + terms * OWN * both
        rounded = bound_overflow(self.floats, both, self.floats.of_sum(terms) * both)
        own = terms * OWN * x.off.sum(axis)  # of the noises, which may cancel
        return add_rounding_bounds(
            self.floats,
            x.centre.sum(axis),
            summed(x.slope),
            radius,
            summed(x.noise),
            (x.error.sum(axis) + rounded + own) * widen_own(terms),
        )

    def softmax(self, scores: BoundedArray, extra: float) -> BoundedArray:
        """Shares of concrete inputs; for a box of them the proof has better means."""
        top = scores.centre.max(1, keepdims=True)
        top = np.maximum(top, 0.0) if extra else top
        powers = self.exp(scores - bound_constant(FloatFormat("float64"), top))
        total = self.sum(powers, 1)[:, None]
        return powers / (
            total + self.exp(bound_constant(FloatFormat("float64"), -top)) * extra if extra else total
        )

    def scores(self, queries: Value, keys: Value) -> Value:
        return self.contracted(
            lambda q, k: np.einsum("dqb,dkb->qkb", q, k), to_dense(queries), to_dense(keys), 0
        )

    def mix(self, weights: Value, values: Value) -> Value:
        return self.contracted(lambda w, v: np.einsum("qkb,dkb->dqb", w, v), weights, to_dense(values), 1)

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return self.together(values, lambda parts: np.stack(np.broadcast_arrays(*parts), axis))

    def rows(self, values: Sequence[Value]) -> Value:
        return to_dense(Blocks(self, [value[None] for value in values]))

    def join(self, values: Sequence[Value]) -> Value:
        return self.together(values, np.concatenate)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        if isinstance(x, Blocks) and not self.apart:
            return apply_blockwise_linear(self, weight, x, bias)
        x = to_dense(x)  # all rows get noises of their own, and no two the same
        weight, columns = self.array(weight), x.reshape(x.shape[0], -1)
        flat = self.contracted(np.matmul, weight, self.tell_apart(columns), 1)
        if bias is not None:
            flat = flat + self.array(bias)[:, None]
        return flat.reshape(weight.shape[0], *x.shape[1:])

    def lookup(self, table: BoundedArray, tokens: Value) -> BoundedArray:
        return table.per_part(lambda part: part.T.take(tokens, axis=1))

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        def laid_out(part: Array) -> Array:
            matrix = np.zeros(shape)
            matrix[tuple(np.array(places).T)] = part
            return matrix

        return self.array(values).per_part(laid_out)

    @property
    def unit(self) -> float:
        return self.floats.unit

    def contracted(
        self, rule: Callable[[Array, Array], Array], x: BoundedArray, y: BoundedArray, over: int
    ) -> BoundedArray:
        """Sums of products over axis `over` of x, in any order of summation; only y has slopes and noises."""

        def through(parts: Array | None) -> Array | None:
            if parts is None or rule is not np.matmul:
                return None if parts is None else np.stack([rule(x.centre, one) for one in parts])
            return np.asarray(np.matmul(x.centre, parts))

        terms, size = x.shape[over], np.abs(x.centre)
        both = rule(x.size, y.size + y.off if self.unit else y.size) * widen_own(terms)
        radius = rule(size, y.radius) + terms * OWN * both
        if not self.unit:
            radius = radius + rule(x.radius, y.size) * widen_own(terms) if x.radius.any() else radius
            return add_rounding_bounds(
                self.floats,
                rule(x.centre, y.centre),
                through(y.slope),
                radius,
                through(y.noise),
                np.zeros(radius.shape),
            )
        error = rule(size, y.error) + self.floats.of_sum(terms) * both + terms * self.floats.step
        error = bound_overflow(self.floats, both, error)
        if y.noise is not None:  # our own rounding of noises, which may cancel
            error = error + terms * OWN * rule(size, y.off)
        if x.radius.any():
            radius = radius + rule(x.radius, y.size) * widen_own(terms)
            error = error + rule(x.radius, y.off)
        if x.off.any():
            error = error + rule(x.off, y.size + y.off)
        return add_rounding_bounds(
            self.floats,
            rule(x.centre, y.centre),
            through(y.slope),
            radius,
            through(y.noise),
            error * widen_own(terms),
            units=0.0,
        )

    def together(self, values: Sequence[Value], joined: Callable[[list[Array]], Array]) -> BoundedArray:
        """Several values in one array; those without slopes or noises get such of 0."""
        every = [self.array(value) for value in values]
        slope, noise = (
            _join_padded_parts([getattr(value, key) for value in every], every, joined)
            for key in ("slope", "noise")
        )
        centre, radius, error = (
            joined([getattr(value, key) for value in every]) for key in ("centre", "radius", "error")
        )
        return BoundedArray(self.floats, centre, slope, radius, noise, error)


def _join_padded_parts(
    parts: list[Array | None], every: list[BoundedArray], joined: Callable[[list[Array]], Array]
) -> Array | None:
    count = max((len(one) for one in parts if one is not None), default=0)
    if not count:
        return None
    full = [np.zeros((count, *value.shape)) for value in every]
    for into, one in zip(full, parts, strict=True):
        if one is not None:
            into[: len(one)] = one
    return np.stack([joined([one[i] for one in full]) for i in range(count)])


def _sum_others(parts: Array) -> Array:
    """For each row the sum of all other rows, without what subtraction would cost."""
    return np.stack([np.delete(parts, row, 0).sum(0) for row in range(len(parts))])


def _find_norm_end(x: Array, others: Array, eps: float) -> Array:
    """x_i / sqrt((x_i^2 + others) / dims + eps), but for our own rounding.

    No number where squares overflow or count for less than what underflows, or where eps is below 0: the norm
    may then shrink as x_i grows.
    """
    mean = (x * x + others) / len(x) + eps
    is_plain = (mean > _SMALLEST_MEAN) & (mean < np.inf) & (eps >= 0)
    return np.where(is_plain, x / np.sqrt(mean), np.nan)


def _find_powers(x: Array) -> Nearly:
    """Exponentials, and how far they may be off."""
    value = round_once(elementary.exp, x)
    return Nearly(value, elementary.EXP_UNITS * OWN * value + LEAST)


def bound_power(x: Array, size: Array) -> Array:
    """At least e^x, for a sum x of numbers whose sizes add up to `size`."""
    with np.errstate(over="ignore"):
        raised = round_once(elementary.exp, x + OWN_STEPS * OWN * size)
        return np.asarray(raised * (1 + elementary.EXP_UNITS * OWN) + LEAST)


def _bound_hinge(x: BoundedArray, slopes: tuple[float, float]) -> BoundedArray:
    """A function with one bend, at 0; where the sign is unknown, the line between the ends, give or take.

    The chord's own rounding, a few units, turns the line by as much: `turned` is what that moves at the ends.
    """
    below, above = slopes
    low, high = x.range()
    low, high = low - x.off * widen_own(), high + x.off * widen_own()
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = (low < 0) & (high > 0)
        chord = np.where(crossing, (above * high - below * low) / (high - low), 0.0)
    steep = np.where(crossing, chord, np.where(low >= 0, above, below))
    lift = np.where(crossing, 0.5 * high * (above - chord), 0.0)  # half the gap between line and bend
    turned = np.where(crossing, OWN_STEPS * OWN * (high - low), 0.0)
    radius = np.abs(steep) * x.radius + np.abs(lift) + turned
    certain = np.where(crossing, 0.0, steep)  # what rounding moves by this factor
    error = np.where(crossing, max(abs(below), abs(above)) * x.off, np.abs(steep) * x.error)
    slope, noise = scale_parts(x.slope, steep), scale_parts(x.noise, certain)
    return add_rounding_bounds(x.floats, steep * x.centre + lift, slope, radius, noise, error, units=0.0)
