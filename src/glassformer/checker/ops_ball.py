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
    as_enclosure,
    bound_above,
    bound_below,
    bound_magnitude,
    change_enclosure,
    choose_narrower,
    enclose_about_zero,
    enclose_exactly,
    enclose_result,
    fresh,
    make_constant_balls,
    make_fixed_balls,
    make_real_balls,
)
from glassformer.checker.norms import bound_norm
from glassformer.checker.rounding import Bound, RoundingRules
from glassformer.checker.spans import (
    Spans,
    apply_by_balls,
    find_step,
    from_balls,
    take_absolute,
    take_positive,
    take_power,
    take_root,
)
from glassformer.models.blocks import Blocks, apply_blockwise_linear, map_blocks, to_dense
from glassformer.models.ops import Value

_GELU_SLOPE, _SILU_SLOPE = 1.13, 1.1  # the largest anywhere
_GELU_LEAST, _SILU_LEAST = -0.18, -0.28  # neither is below it anywhere
_TWO = arb(2)

_Function = Callable[[Any], Any]  # of balls, or of spans


def _make_function(
    of_ball: Callable[[arb], arb], of_spans: Callable[[Spans], Spans] | None = None
) -> _Function:
    """A function of every number of an array; of spans by its balls where there is no quicker way."""
    every = np.frompyfunc(of_ball, 1, 1)

    def apply(x: Arbs) -> Arbs:
        if not isinstance(x, Spans):
            return every(x)
        return of_spans(x) if of_spans else apply_by_balls(every, x)

    return apply


_exp = _make_function(lambda x: x.exp(), take_power)
_sqrt = _make_function(lambda x: x.sqrt(), take_root)
_sin = _make_function(lambda x: x.sin())
_cos = _make_function(lambda x: x.cos())
_abs = _make_function(abs, take_absolute)
_erf = _make_function(lambda x: x.erf())
_step = _make_function(lambda x: arb(1) if x > 0 else arb(0) if x < 0 else arb(0.5, 0.5), find_step)
_positive = _make_function(
    lambda x: x if x >= 0 else arb(0) if x <= 0 else arb(0).union(x.upper()), take_positive
)  # a ball that is not a number stays one: its upper end is none either


def _raise_ends(x: Arbs, least: float) -> Arbs:
    """Wide balls, cut off below what a function never is."""
    low, high = bound_below(as_enclosure(x)), bound_above(as_enclosure(x))
    if not (low < least).any():
        return x
    return choose_narrower(as_enclosure(x), np.maximum(low, least), np.maximum(high, least))


class BallOps:
    """Enclosures in one precision; `arithmetic` is the one whose rounding is bounded, or "real"."""

    def __init__(
        self, precision: str, arithmetic: str, any_backend: bool = False, is_quick: bool = False
    ) -> None:
        self.rules = RoundingRules(np.dtype(precision), arithmetic, any_backend, is_quick)

    def array(self, value: Value) -> Balls:
        return make_constant_balls(self.rules, value)

    def constant(self, ball: arb) -> Any:
        """A number that is no float64."""
        return from_balls(np.array(ball, object)) if self.rules.is_quick else ball

    def exp(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _exp, _exp, lambda value: self.rules.power(x.error, bound_magnitude(value)))

    def sqrt(self, x: Balls) -> Balls:
        def error(value: Arbs) -> Bound:
            return self.rules.root(np.maximum(bound_below(x.over), 0.0), x.error, bound_magnitude(value))

        return _apply_to_balls(x, _sqrt, lambda over: 0.5 / _sqrt(over), error)

    def sin(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _sin, _cos, lambda value: self.rules.wave(x.error))

    def cos(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _cos, lambda over: -_sin(over), lambda value: self.rules.wave(x.error))

    def abs(self, x: Balls) -> Balls:
        return _apply_to_balls(x, _abs, lambda over: _step(over) * 2.0 - 1, lambda value: x.error)

    def relu(self, x: Value) -> Value:
        def bent(part: Balls) -> Balls:
            off = bound_above(part.over) + part.error < 0  # deployed as exactly 0
            return _apply_to_balls(part, _positive, _step, lambda value: np.where(off, 0.0, part.error))

        return map_blocks(bent, x)

    def gelu(self, x: Value) -> Value:
        """x Phi(x), its slope Phi(x) + x phi(x)."""
        root, width = (self.constant(ball) for ball in (arb(0.5).sqrt(), (_TWO * arb.pi()).sqrt()))

        def slope(over: Arbs) -> Arbs:
            density: Arbs = _exp(over * over * -0.5) / width
            return as_enclosure((_erf(over * root) + 1) * 0.5 + over * density)

        def bent(part: Balls) -> Balls:
            return _apply_to_balls(
                part,
                lambda over: _raise_ends(over * ((_erf(over * root) + 1) * 0.5), _GELU_LEAST),
                slope,
                lambda value: self.rules.bent(_GELU_SLOPE, part.error, part.size),
            )

        return map_blocks(bent, x)

    def silu(self, x: Value) -> Value:
        """x s(x) with s the logistic function, its slope s (1 + x (1 - s))."""

        def slope(over: Arbs) -> Arbs:
            share = 1 / (1 + _exp(-over))
            return as_enclosure(share * (1 + over * (1 - share)))

        def bent(part: Balls) -> Balls:
            return _apply_to_balls(
                part,
                lambda over: _raise_ends(over / (1 + _exp(-over)), _SILU_LEAST),
                slope,
                lambda value: self.rules.bent(_SILU_SLOPE, part.error, part.size),
            )

        return map_blocks(bent, x)

    def tighten_norm(self, x: Value, scaled: Value, eps: float) -> Value:
        """What a norm's operations leave wide, where no coordinate moves x (`norms.py`)."""
        wide = to_dense(x)
        if not isinstance(wide, Balls) or wide.slopes:
            return scaled
        found, ends = to_dense(scaled), bound_norm(wide, eps)
        over = choose_narrower(found.over, ends.low, ends.high)
        error = found.error if self.rules.is_real else np.fmin(found.error, ends.error)
        return make_fixed_balls(self.rules, over, error)

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
            return as_enclosure(weight.over @ part.reshape(len(part), -1))

        slopes = {name: through(slope).reshape(outer) for name, slope in x.slopes.items()}
        if x.slopes and x.error.any():
            x, names = _widen_errors(x, weight)
            columns = {
                name: weight.over[:, dim].reshape(-1, *[1] * (x.ndim - 1)) for name, dim in names.items()
            }
            slopes |= {
                name: change_enclosure(column, lambda part: np.broadcast_to(part, outer))
                for name, column in columns.items()
            }
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
        index = np.full(shape, len(places))
        index[tuple(np.array(places).T)] = np.arange(len(places))
        return self.join([values, self.array(np.zeros(1))])[index]


def _widen_errors(x: Balls, weight: Balls) -> tuple[Balls, dict[int, int]]:
    """The error of each dimension as a coordinate of its own, so that what cancels later does cancel.

    Which coordinate is the error of which dimension comes with it; dimensions that no weight reads have none.
    """
    is_off = x.error.reshape(x.shape[0], -1).any(1) & weight.size.any(0)
    names = {next(fresh): int(dim) for dim in np.flatnonzero(is_off)}
    reach = dict(x.reach) | {name: enclose_about_zero(x.rules, x.error[dim]) for name, dim in names.items()}
    return Balls(
        x.rules, x.over + enclose_about_zero(x.rules, x.error), np.zeros(x.shape), x.at, x.slopes, reach
    ), names


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
    error = arrange([value.error for value in values])
    over = _arrange_enclosures([value.over for value in values], arrange)
    reach = {name: delta for value in values for name, delta in value.reach.items()}
    names = {name for value in values for name in value.slopes}
    still = [enclose_exactly(value.rules, np.zeros(value.shape)) for value in values] if names else []
    slopes = {
        name: _arrange_enclosures(
            [value.slopes.get(name, nothing) for value, nothing in zip(values, still, strict=True)], arrange
        )
        for name in sorted(names)
    }
    at = _arrange_enclosures([value.at for value in values], arrange) if names else over
    return Balls(values[0].rules, over, error, at, slopes, reach if names else {})


def _arrange_enclosures(parts: list[Arbs], arrange: Callable[[list[np.ndarray]], np.ndarray]) -> Arbs:
    if isinstance(parts[0], Spans):
        return Spans(arrange([part.low for part in parts]), arrange([part.high for part in parts]))
    return arrange(parts)
