"""Why an adder that looks at two columns is right on all pairs: every near case, and a bound on the rest.

Digit k depends on x_k, y_k, x_{k-1}, y_{k-1} and z_{k-1}, which is fixed by the two before it and the carry
into their column: at most 10^4 x 2 cases per position. All other digits together have a share of the
attention, the leak, and a digit's part of it is largest where it is 0 or 9. So the model is run on every case
with the others all 0 and all 9, and more than any other digits could move is taken off the gap between the
logits.

    x_k + y_k = 9, x_{k-1} + y_{k-1} = 9, z_{k-1} = 0: a carry came in and is passed on, and digit k must be
    0.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import require_value
from glassformer.models.forward import forward, untie_parameters
from glassformer.models.model import Model
from glassformer.models.ops import Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.tasks import Layout

_ROUNDING = 1e-10  # of what attention writes: float64 scores up to 484 move it by 3e-11 at the most
_DIGIT = 1  # dimension that holds minus the digit; attention leaves dimension 0 alone
_BASE = 10  # the one that the models have which were made for this proof
_FILLS = (0, 9)  # the other digits; a weight in between lies between those of the two
_MOST_DIGITS = 17  # significant ones that tell any two float64 apart
_EPSILONS = 8  # by which the two logits of a gap may be off, in units of the last place


@dataclass(frozen=True)
class ColumnProof:
    """The smallest gap over all pairs of numbers; positive means that every digit of every sum is right."""

    gap: float  # logits between the right digit and the next best, at the worst
    share: float  # of the gap that an exact estimate of the digit would have
    leak: float  # share of the attention on other positions, at the most
    cases: int  # near digits, position by position

    @property
    def holds(self) -> bool:
        return self.gap > 0


class _NearCases(NamedTuple):
    """The near digits of a position, one case per column, and what must be written there."""

    x: Int[np.ndarray, " case"]
    y: Int[np.ndarray, " case"]
    x_before: Int[np.ndarray, " case"]
    y_before: Int[np.ndarray, " case"]
    carry: Int[np.ndarray, " case"]  # into the column before

    @property
    def written(self) -> Int[np.ndarray, " case"]:
        return np.asarray((self.x_before + self.y_before + self.carry) % 10)

    @property
    def expected(self) -> Int[np.ndarray, " case"]:
        carried = (self.x_before + self.y_before + self.carry) // 10
        return np.asarray((self.x + self.y + carried) % 10)


def prove_two_columns(model: Model, layout: Layout) -> ColumnProof:
    """Run every case at every position of the answer."""
    require_value(layout.base == _BASE, "the base of a two-column proof", str(_BASE), layout.base)
    positions = [prove_answer_digit(model, layout, k) for k in range(layout.digits + 1)]
    gap, share = min(position.gap for position in positions), min(position.share for position in positions)
    return ColumnProof(
        gap,
        share,
        max(position.leak for position in positions),
        sum(position.cases for position in positions),
    )


def prove_answer_digit(model: Model, layout: Layout, k: int) -> ColumnProof:
    """All cases of answer digit k, with the other digits all 0 and all 9."""
    cases = list_near_cases(layout, k)
    seen = [trace_last_position(model, encode_near_cases(layout, k, cases, fill)) for fill in _FILLS]
    leak = sum(_measure_leak(layout, k, one) for one in seen)  # more than any other digits can have
    gain, slope = _bound_steepness(model)
    moved = slope * (gain * 2 * leak * _measure_value_swing(seen) + _ROUNDING)
    table = seen[0]["token.table"]
    gap = min(_find_smallest_gap(one["logits"][:, 0], table, cases.expected, moved) for one in seen)
    return ColumnProof(gap, gap / _compute_digit_gap(table), leak, len(cases.x))


def list_near_cases(layout: Layout, k: int) -> _NearCases:
    """Every case; beyond a number's ends are the marks' zeros, and no carry comes into the first column."""
    digit, none, last = range(10), range(1), layout.digits
    now, before = (none if k == last else digit), (none if k == 0 else digit)
    grid = np.meshgrid(now, now, before, before, range(2 if k > 1 else 1), indexing="ij")
    return _NearCases(*(axis.ravel() for axis in grid))


def encode_near_cases(layout: Layout, k: int, cases: _NearCases, fill: int) -> Int[np.ndarray, "pos case"]:
    """The tokens up to the position that predicts digit k; digits that are not near are `fill`."""
    numbers = np.full((layout.digits, len(cases.x)), fill)
    tokens = layout.encode(numbers, numbers, np.full((layout.digits + 1, len(cases.x)), fill))
    for positions, now, before in (
        (layout.x_positions, cases.x, cases.x_before),
        (layout.y_positions, cases.y, cases.y_before),
    ):
        if k < layout.digits:
            tokens[positions[k]] = now
        if k > 0:
            tokens[positions[k - 1]] = before
    if k > 0:
        tokens[layout.z_positions[k - 1]] = cases.written
    return np.asarray(tokens[: layout.z_positions[k]])


def trace_last_position(model: Model, tokens: Int[np.ndarray, "pos case"]) -> dict[str, Value]:
    """Every intermediate of the last position."""
    seen: dict[str, Value] = {}
    ops = NumpyOps(model.architecture.precision)
    forward(model.architecture, ops, model.params, tokens, last=1, record=seen.__setitem__)
    return seen


def _measure_leak(layout: Layout, k: int, seen: dict[str, Value]) -> float:
    """The largest share of a head's attention on digits that are not near; marks never change."""
    near = slice(max(k - 1, 0), k + 1)
    others = {*layout.x_positions, *layout.y_positions} - {
        *layout.x_positions[near],
        *layout.y_positions[near],
    }
    others |= {*layout.z_positions[: max(k - 1, 0)]}
    weights = [value[0] for name, value in seen.items() if ".weights." in name]  # key case
    return max(float(weight[sorted(others)].sum(0).max()) for weight in weights)


def _measure_value_swing(seen: list[dict[str, Value]]) -> float:
    """The difference of the largest value that attention can bring and the smallest."""
    values = np.concatenate([one["attn.v"].ravel() for one in seen])
    return float(values.max() - values.min())


def _bound_steepness(model: Model) -> tuple[float, float]:
    """By how much attention's output can move with a head's mix, and the stream with attention's output.

    Hinges have slope 0 or 1, so the absolute weights along all paths bound every slope.
    """
    layer, params, ops = (
        model.architecture.layers[0],
        untie_parameters(model.architecture, model.params),
        NumpyOps(),
    )
    attention, feedforward = layer.attention, layer.feedforward
    assert attention and attention.out and feedforward, "a layer with an output projection and hinges"
    units, width = feedforward.units(model.architecture.width), model.architecture.width
    out = np.abs(attention.out.weight(ops, params, "attn.out", 1, attention.heads * attention.values))
    up = np.abs(feedforward.up.weight(ops, params, "ff.up", units, width))
    down = np.abs(feedforward.down.weight(ops, params, "ff.down", 1, units))
    return float(out.sum()), float(1 + (down @ up).sum())


def _find_smallest_gap(
    logits: Float[np.ndarray, "tok case"],
    table: Float[np.ndarray, "tok dim"],
    expected: Int[np.ndarray, " case"],
    moved: float,
) -> float:
    """Between the right digit and any other, when the stream moves by `moved` and logits round."""
    best = np.take_along_axis(logits, expected[None], 0)
    apart = np.abs(table[:, _DIGIT, None] - table[expected, _DIGIT])  # tok case
    gaps = best - logits - apart * moved - _EPSILONS * np.finfo(np.float64).eps * np.abs(best)
    gaps[expected, np.arange(len(expected))] = np.inf
    return float(gaps.min())


def _compute_digit_gap(table: Float[np.ndarray, "tok dim"]) -> float:
    """The gap c0 c1 to both neighbours of a digit that is hit exactly."""
    return float(table[0, 0] * (table[0, 0] - table[1, 0]))


def count_needed_digits(model: Model, layout: Layout) -> dict[str, int]:
    """Significant digits that each parameter, rounded alone, needs for the proof of the middle position."""

    def holds(name: str, digits: int) -> bool:
        rounded = np.array(float(f"{float(model.params[name]):.{digits - 1}e}"))
        changed = Model(model.architecture, {**model.params, name: rounded})
        return prove_answer_digit(changed, layout, layout.digits // 2).holds

    return {name: next(n for n in range(1, _MOST_DIGITS + 1) if holds(name, n)) for name in model.params}
