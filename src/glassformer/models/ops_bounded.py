"""The operations on numbers with bounds: the model's own pass, over a whole box of inputs at once.

Library functions (exp, sin, erf and so on) are trusted to LIBRARY units in the last place, in float32 and in
float64; a test measures them against Arb. docs/proof.md lists the rounding rule of every operation.

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

from glassformer.models.blocks import Blocks, apply_blockwise_linear, map_blocks, to_dense
from glassformer.models.bounded import (
    OWN,
    Array,
    BoundedArray,
    FloatFormat,
    add_rounding_bounds,
    bound_constant,
    bound_curve,
    bound_overflow,
    scale_parts,
    separate_row_errors,
    to_bounded,
)
from glassformer.models.ops import Value

LIBRARY = 8.0  # units of roundoff: four in the last place
BENT = 12.0  # units of roundoff in x times a share between 0 and 1 that a library function gave
HALF_NORMAL = 1 / np.sqrt(2 * np.pi)


class BoundedOps:
    """What `Ops` asks for, over a `BoundedArray`; `apart`: every sum of products tells its rounding apart."""

    def __init__(self, precision: str, real: bool = False, apart: bool = False) -> None:
        self.floats, self.apart = FloatFormat(precision, real), apart
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
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            value, most = np.exp(x.centre), np.exp(x.centre + (x.reach + x.off))
            real = bound_curve(x, value, value, most, LIBRARY * self.unit * most)
        if real.noise is not None:
            return real
        return replace(real, error=np.fmin(real.error, 2 * most + self.floats.step))  # both lie below that

    def sqrt(self, x: BoundedArray) -> BoundedArray:
        low = np.maximum(x.range()[0] - x.off, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.sqrt(x.centre)
            bend = 0.25 / (low * np.sqrt(low))
            return bound_curve(x, value, 0.5 / value, bend, self.unit * np.sqrt(x.size + x.off))

    def sin(self, x: BoundedArray) -> BoundedArray:
        return bound_curve(x, np.sin(x.centre), np.cos(x.centre), 1.0, LIBRARY * self.unit)

    def cos(self, x: BoundedArray) -> BoundedArray:
        return bound_curve(x, np.cos(x.centre), -np.sin(x.centre), 1.0, LIBRARY * self.unit)

    def abs(self, x: BoundedArray) -> BoundedArray:
        return _bound_hinge(x, (-1.0, 1.0))

    def relu(self, x: Value) -> Value:
        return map_blocks(lambda part: _bound_hinge(part, (0.0, 1.0)), x)

    def gelu(self, x: Value) -> Value:
        from scipy.special import ndtr

        def bent(part: BoundedArray) -> BoundedArray:
            share, density = ndtr(part.centre), HALF_NORMAL * np.exp(-0.5 * part.centre**2)
            far, near = _bound_magnitudes(part)
            bend = 1.01 * HALF_NORMAL * np.exp(-0.5 * near * near) * np.maximum(2.0, far * far - 2)
            steep = share + part.centre * density
            return bound_curve(
                part, part.centre * share, steep, np.minimum(0.8, bend), BENT * self.unit * far
            )

        return map_blocks(bent, x)

    def silu(self, x: Value) -> Value:
        from scipy.special import expit

        def bent(part: BoundedArray) -> BoundedArray:
            share, (far, near) = expit(part.centre), _bound_magnitudes(part)
            bend = np.minimum(0.51, 1.01 * np.exp(-near) * (2 + far))
            steep = share * (1 + part.centre * (1 - share))
            return bound_curve(part, part.centre * share, steep, bend, BENT * self.unit * far)

        return map_blocks(bent, x)

    def sum(self, x: BoundedArray, axis: int) -> BoundedArray:
        def summed(parts: Array | None) -> Array | None:
            return None if parts is None else parts.sum(axis + 1)

        terms = x.shape[axis]
        radius = x.radius.sum(axis) + terms * OWN * x.size.sum(axis)
        both = (x.size + x.off).sum(axis)
        rounded = bound_overflow(self.floats, both, self.floats.of_sum(terms) * both)
        return add_rounding_bounds(
            self.floats,
            x.centre.sum(axis),
            summed(x.slope),
            radius,
            summed(x.noise),
            x.error.sum(axis) + rounded,
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
        both = rule(x.size, y.size + y.off if self.unit else y.size)
        radius = rule(size, y.radius) + terms * OWN * both
        if not self.unit:
            radius = radius + rule(x.radius, y.size) if x.radius.any() else radius
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
        if x.radius.any():
            radius, error = radius + rule(x.radius, y.size), error + rule(x.radius, y.off)
        if x.off.any():
            error = error + rule(x.off, y.size + y.off)
        return add_rounding_bounds(
            self.floats,
            rule(x.centre, y.centre),
            through(y.slope),
            radius,
            through(y.noise),
            error,
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


def _bound_magnitudes(x: BoundedArray) -> tuple[Array, Array]:
    """The largest and the smallest magnitude that real or deployed values have."""
    reach = x.reach + x.off
    return np.abs(x.centre) + reach, np.maximum(np.abs(x.centre) - reach, 0.0)


def _bound_hinge(x: BoundedArray, slopes: tuple[float, float]) -> BoundedArray:
    """A function with one bend, at 0; where the sign is unknown, the line between the ends, give or take."""
    below, above = slopes
    low, high = x.range()
    low, high = low - x.off, high + x.off
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = (low < 0) & (high > 0)
        chord = np.where(crossing, (above * high - below * low) / (high - low), 0.0)
    steep = np.where(crossing, chord, np.where(low >= 0, above, below))
    lift = np.where(crossing, 0.5 * high * (above - chord), 0.0)  # half the gap between line and bend
    radius = np.abs(steep) * x.radius + np.abs(lift) * (1 + 4 * OWN)
    certain = np.where(crossing, 0.0, steep)  # what rounding moves by this factor
    error = np.where(crossing, max(abs(below), abs(above)) * x.off, np.abs(steep) * x.error)
    slope, noise = scale_parts(x.slope, steep), scale_parts(x.noise, certain)
    return add_rounding_bounds(x.floats, steep * x.centre + lift, slope, radius, noise, error, units=0.0)
