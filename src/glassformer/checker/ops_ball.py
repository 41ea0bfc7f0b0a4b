"""The operations on balls: the model's own pass, enclosed, with the error of its deployed arithmetic.

>>> ops = BallOps("float32", "float32")
>>> logits = ops.linear(ops.array([[0.1]]), ops.array([[3.0]]))
>>> bool(logits.over[0, 0].overlaps(arb(np.float32(0.1).item() * 3))), bool(logits.error[0, 0] < 1e-7)
(True, True)
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb

from glassformer.checker.balls import (
    Arbs,
    Balls,
    bound_above,
    bound_below,
    bound_magnitude,
    enclose_result,
    fresh,
    make_constant_balls,
    make_real_balls,
    make_zero_balls,
    to_exact_balls,
)
from glassformer.checker.rounding import Bound, RoundingRules
from glassformer.models.blocks import Blocks, apply_blockwise_linear, map_blocks, to_dense
from glassformer.models.ops import Value

_GELU_SLOPE, _SILU_SLOPE = 1.13, 1.1  # the largest anywhere
_HALF, _TWO = arb(0.5), arb(2)

_exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
_sqrt = np.frompyfunc(lambda x: x.sqrt(), 1, 1)
_sin = np.frompyfunc(lambda x: x.sin(), 1, 1)
_cos = np.frompyfunc(lambda x: x.cos(), 1, 1)
_abs = np.frompyfunc(abs, 1, 1)
_erf = np.frompyfunc(lambda x: x.erf(), 1, 1)
_step = np.frompyfunc(lambda x: arb(1) if x > 0 else arb(0) if x < 0 else arb(0.5, 0.5), 1, 1)
_positive = np.frompyfunc(
    lambda x: x if x >= 0 else arb(0) if x <= 0 else arb(0).union(x.upper()), 1, 1
)  # a ball that is not a number stays one: its upper end is none either


class BallOps:
    """Enclosures in one precision; `arithmetic` is the one whose rounding is bounded, or "real"."""

    def __init__(self, precision: str, arithmetic: str, any_backend: bool = False) -> None:
        self.rules = RoundingRules(np.dtype(precision), arithmetic, any_backend)

    def array(self, value: Value) -> Balls:
        return make_constant_balls(self.rules, value)

    def exp(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _exp, _exp, lambda value: self.rules.power(x.error, bound_magnitude(value)))

    def sqrt(self, x: Balls) -> Balls:
        def error(value: Arbs) -> Bound:
            return self.rules.root(np.maximum(bound_below(x.over), 0.0), x.error, bound_magnitude(value))

        return _apply_to_balls(x, _sqrt, lambda over: _HALF / _sqrt(over), error)

    def sin(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _sin, _cos, lambda value: self.rules.wave(x.error))

    def cos(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _cos, lambda over: -_sin(over), lambda value: self.rules.wave(x.error))

    def abs(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _abs, lambda over: _TWO * _step(over) - 1, lambda value: x.error)

    def relu(self, x: Value) -> Value:
        def bent(part: Balls) -> Balls:
            off = bound_above(part.over) + part.error < 0  # deployed as exactly 0
            return _apply_to_balls(part, _positive, _step, lambda value: np.where(off, 0.0, part.error))

        return map_blocks(bent, x)

    def gelu(self, x: Value) -> Value:
        """x Phi(x), its slope Phi(x) + x phi(x)."""
        root, pi = arb(0.5).sqrt(), arb.pi()

        def slope(over: Arbs) -> Arbs:
            density: Arbs = _exp(over * over * -_HALF) / (_TWO * pi).sqrt()
            return np.asarray(_HALF * (_erf(over * root) + 1) + over * density, object)

        def bent(part: Balls) -> Balls:
            return _apply_to_balls(
                part,
                lambda over: over * (_HALF * (_erf(over * root) + 1)),
                slope,
                lambda value: self.rules.bent(_GELU_SLOPE, part.error, part.size),
            )

        return map_blocks(bent, x)

    def silu(self, x: Value) -> Value:
        """x s(x) with s the logistic function, its slope s (1 + x (1 - s))."""

        def slope(over: Arbs) -> Arbs:
            share = 1 / (1 + _exp(-over))
            return np.asarray(share * (1 + over * (1 - share)), object)

        def bent(part: Balls) -> Balls:
            return _apply_to_balls(
                part,
                lambda over: over / (1 + _exp(-over)),
                slope,
                lambda value: self.rules.bent(_SILU_SLOPE, part.error, part.size),
            )

        return map_blocks(bent, x)

    def sum(self, x: Balls, axis: int) -> Balls:
        slopes = {name: slope.sum(axis) for name, slope in x.slopes.items()}
        made = enclose_result([x], x.over.sum(axis), lambda: x.at.sum(axis), slopes)
        if self.rules.is_real:
            return make_real_balls(self.rules, made)
        return Balls(self.rules, made[0], self.rules.summed(x.size, x.error, axis), *made[1:])

    def softmax(self, scores: Balls, extra: float) -> Balls:
        """Shares `query key batch` in real numbers; their rounding is bounded with the mix (mixing.py)."""
        powers = _exp(scores.over)
        over = powers / (powers.sum(1, keepdims=True) + extra)
        return Balls(self.rules, over, self.unbounded(over.shape), over)

    def scores(self, queries: Value, keys: Value) -> Balls:
        """Products of `dim query batch` and `dim key batch`, as `query key batch`."""
        q, k = to_dense(queries)[:, :, None], to_dense(keys)[:, None]
        over = np.asarray((q.over * k.over).sum(0), object)
        gathered = self.rules.gathered(len(q.over) + 2)
        carried = (q.size * k.error + q.error * k.size + q.error * k.error).sum(0)
        size = (q.size * k.size).sum(0)
        grown = gathered * size + len(q.over) * self.rules.eta
        return Balls(self.rules, over, self.rules.up(carried * (1 + gathered) + grown, size), over)

    def mix(self, weights: Balls, values: Value) -> Balls:
        """Sums of `dim key batch`, weighted by `query key batch`, as `dim query batch`, in real numbers."""
        over = np.asarray((weights.over[None] * to_dense(values).over[:, None]).sum(2), object)
        return Balls(self.rules, over, self.unbounded(over.shape), over)

    def unbounded(self, shape: tuple[int, ...]) -> Bound:
        return np.full(shape, 0.0 if self.rules.is_real else np.inf)

    def stack(self, values: Sequence[Balls], axis: int = 0) -> Balls:
        return _arrange_balls(values, lambda parts: np.stack(parts, axis))

    def rows(self, values: Sequence[Balls]) -> Balls:
        """Rows `pos batch` as `dim pos batch`."""
        joined: Balls = to_dense(Blocks(self, [value[None] for value in values]))
        return joined

    def join(self, values: Sequence[Value]) -> Balls:
        return _arrange_balls(values, np.concatenate)

    def linear(self, weight: Balls, x: Value, bias: Balls | None = None) -> Value:
        """`out dim` times `dim ...` gives `out ...`, plus the bias of each output; weights have no slopes."""
        if isinstance(x, Blocks):
            return apply_blockwise_linear(self, weight, x, bias)
        outer = (len(weight.over), *x.shape[1:])
        shift = self.array(np.zeros(len(weight.over))) if bias is None else bias

        def through(part: Arbs) -> Arbs:
            return np.asarray(weight.over @ part.reshape(len(part), -1), object)

        slopes = {name: through(slope).reshape(outer) for name, slope in x.slopes.items()}
        if x.slopes and x.error.any():
            x, names = _widen_errors(x, weight)
            columns = {
                name: weight.over[:, dim].reshape(-1, *[1] * (x.ndim - 1)) for name, dim in names.items()
            }
            slopes |= {name: np.broadcast_to(column, outer) for name, column in columns.items()}
        made = enclose_result(
            [x],
            (through(x.over) + shift.over[:, None]).reshape(outer),
            lambda: (through(x.at) + shift.over[:, None]).reshape(outer),
            slopes,
        )
        if self.rules.is_real:
            return make_real_balls(self.rules, made)
        size, error = (part.reshape(x.shape[0], -1) for part in (x.size, x.error))
        bias_size, bias_error = shift.size[:, None], shift.error[:, None]
        found = self.rules.linear(weight.size, weight.error, size, error, bias_size, bias_error)
        return Balls(self.rules, made[0], found.reshape(outer), *made[1:])

    def lookup(self, table: Balls, tokens: np.ndarray) -> Balls:
        """Rows of `tok dim` for tokens `pos batch`, as `dim pos batch`."""
        return table.T[:, tokens]

    def scatter(self, values: Balls, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Balls:
        """A matrix that holds `values` at `places` and 0 elsewhere."""
        over, error = to_exact_balls(np.zeros(shape)), np.zeros(shape)
        where = tuple(np.array(places).T)
        over[where], error[where] = values.over, values.error
        return Balls(self.rules, over, error, over)


def _widen_errors(x: Balls, weight: Balls) -> tuple[Balls, dict[int, int]]:
    """The error of each dimension as a coordinate of its own, so that what cancels later does cancel.

    Which coordinate is the error of which dimension comes with it; dimensions that no weight reads have none.
    """
    is_off = x.error.reshape(x.shape[0], -1).any(1) & weight.size.any(0)
    names = {next(fresh): int(dim) for dim in np.flatnonzero(is_off)}
    reach = dict(x.reach) | {name: make_zero_balls(x.error[dim]) for name, dim in names.items()}
    return Balls(x.rules, x.over + make_zero_balls(x.error), np.zeros(x.shape), x.at, x.slopes, reach), names


def _apply_to_balls(
    x: Balls,
    function: Callable[[Arbs], Any],
    slope: Callable[[Arbs], Any],
    error: Callable[[Arbs], Bound],
) -> Balls:
    """A function of every number, given its derivative and how its rounding is bounded from its value."""
    steep = slope(x.over) if x.slopes else None
    slopes = {name: steep * part for name, part in x.slopes.items()}
    made = enclose_result([x], function(x.over), lambda: function(x.at), slopes)
    if x.rules.is_real:
        return make_real_balls(x.rules, made)
    return Balls(x.rules, made[0], error(made[0]), *made[1:])


def _arrange_balls(values: Sequence[Balls], arrange: Callable[[list[np.ndarray]], np.ndarray]) -> Balls:
    """Several arrays in one; a slope that one of them has is 0 where another has it not."""
    over, error = arrange([value.over for value in values]), arrange([value.error for value in values])
    reach = {name: delta for value in values for name, delta in value.reach.items()}
    names = {name for value in values for name in value.slopes}
    still = [to_exact_balls(np.zeros(value.shape)) for value in values] if names else []
    slopes = {
        name: arrange([value.slopes.get(name, nothing) for value, nothing in zip(values, still, strict=True)])
        for name in sorted(names)
    }
    at = arrange([value.at for value in values]) if names else over
    return Balls(values[0].rules, over, error, at, slopes, reach if names else {})
