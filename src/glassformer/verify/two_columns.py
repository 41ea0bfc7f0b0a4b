"""Why an adder that looks at two columns is right on all pairs: every near case, and a bound on the rest.

Digit k depends on x_k, y_k, x_{k-1}, y_{k-1} and z_{k-1}, which is fixed by the two before it and the carry
into their column: at most 10^4 x 2 cases a place. All other digits together have a share of the attention,
the leak, and a digit's part of it is largest where it is 0 or 9. So the model is run on every case with the
others all 0 and all 9, and more than any other digits could move is taken off the gap between the logits.

    x_k + y_k = 9, x_{k-1} + y_{k-1} = 9, z_{k-1} = 0: a carry came in and goes on, and digit k must be 0.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.model.forward import forward, untie
from glassformer.model.model import Model
from glassformer.model.ops import Value
from glassformer.model.ops_numpy import NumpyOps
from glassformer.tasks import Layout

ROUNDING = 1e-10  # of what attention writes: float64 scores up to 484 move it by 3e-11 at the most
DIGIT = 1  # dimension that holds minus the digit; attention leaves dimension 0 alone
FILLS = (0, 9)  # the other digits; a weight in between lies between those of the two
MOST_DIGITS = 17  # significant ones that tell any two float64 apart
EPSILONS = 8  # by which the two logits of a gap may be off, in units of the last place


@dataclass(frozen=True)
class Proof:
    """The smallest gap over all pairs of numbers; positive means that every digit of every sum is right."""

    gap: float  # logits between the right digit and the next best, at the worst
    share: float  # of the gap that an exact estimate of the digit would have
    leak: float  # share of the attention on other places, at the most
    cases: int  # near digits, place by place

    @property
    def holds(self) -> bool:
        return self.gap > 0


class Cases(NamedTuple):
    """The near digits of a place, one case a column, and what must be written there."""

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


def prove(model: Model, layout: Layout) -> Proof:
    """Run every case at every place of the answer."""
    places = [prove_place(model, layout, k) for k in range(layout.digits + 1)]
    gap, share = min(place.gap for place in places), min(place.share for place in places)
    return Proof(gap, share, max(place.leak for place in places), sum(place.cases for place in places))


def prove_place(model: Model, layout: Layout, k: int) -> Proof:
    """All cases of answer digit k, with the other digits all 0 and all 9."""
    cases = cases_at(layout, k)
    seen = [watch(model, contexts(layout, k, cases, fill)) for fill in FILLS]
    leak = sum(share_elsewhere(layout, k, one) for one in seen)  # more than any other digits can have
    gain, slope = steepness(model)
    moved = slope * (gain * 2 * leak * swing(seen) + ROUNDING)
    table = seen[0]["token.table"]
    gap = min(smallest_gap(one["logits"][:, 0], table, cases.expected, moved) for one in seen)
    return Proof(gap, gap / one_step(table), leak, len(cases.x))


def cases_at(layout: Layout, k: int) -> Cases:
    """Every case; beyond a number's ends are the marks' zeros, and no carry comes into the first column."""
    digit, none, last = range(10), range(1), layout.digits
    now, before = (none if k == last else digit), (none if k == 0 else digit)
    grid = np.meshgrid(now, now, before, before, range(2 if k > 1 else 1), indexing="ij")
    return Cases(*(axis.ravel() for axis in grid))


def contexts(layout: Layout, k: int, cases: Cases, fill: int) -> Int[np.ndarray, "pos case"]:
    """The tokens up to the place that predicts digit k; digits that are not near are `fill`."""
    numbers = np.full((layout.digits, len(cases.x)), fill)
    tokens = layout.encode(numbers, numbers, np.full((layout.digits + 1, len(cases.x)), fill))
    for places, now, before in (
        (layout.x_places, cases.x, cases.x_before),
        (layout.y_places, cases.y, cases.y_before),
    ):
        if k < layout.digits:
            tokens[places[k]] = now
        if k > 0:
            tokens[places[k - 1]] = before
    if k > 0:
        tokens[layout.z_places[k - 1]] = cases.written
    return np.asarray(tokens[: layout.z_places[k]])


def watch(model: Model, tokens: Int[np.ndarray, "pos case"]) -> dict[str, Value]:
    """Every intermediate of the last place."""
    seen: dict[str, Value] = {}
    ops = NumpyOps(model.architecture.precision)
    forward(model.architecture, ops, model.params, tokens, last=1, record=seen.__setitem__)
    return seen


def share_elsewhere(layout: Layout, k: int, seen: dict[str, Value]) -> float:
    """The largest share of a head's attention on digits that are not near; marks never change."""
    near = slice(max(k - 1, 0), k + 1)
    others = {*layout.x_places, *layout.y_places} - {*layout.x_places[near], *layout.y_places[near]}
    others |= {*layout.z_places[: max(k - 1, 0)]}
    weights = [value[0] for name, value in seen.items() if ".weights." in name]  # key case
    return max(float(weight[sorted(others)].sum(0).max()) for weight in weights)


def swing(seen: list[dict[str, Value]]) -> float:
    """The difference of the largest value that attention can bring and the smallest."""
    values = np.concatenate([one["attn.v"].ravel() for one in seen])
    return float(values.max() - values.min())


def steepness(model: Model) -> tuple[float, float]:
    """By how much attention's output can move with a head's mix, and the stream with attention's output.

    Hinges have slope 0 or 1, so the absolute weights along all paths bound every slope.
    """
    layer, params, ops = model.architecture.layers[0], untie(model.architecture, model.params), NumpyOps()
    attention, feedforward = layer.attention, layer.feedforward
    assert attention and attention.out and feedforward, "a layer with an output projection and hinges"
    units, width = feedforward.units(model.architecture.width), model.architecture.width
    out = np.abs(attention.out.weight(ops, params, "attn.out", 1, attention.heads * attention.values))
    up = np.abs(feedforward.up.weight(ops, params, "ff.up", units, width))
    down = np.abs(feedforward.down.weight(ops, params, "ff.down", 1, units))
    return float(out.sum()), float(1 + (down @ up).sum())


def smallest_gap(
    logits: Float[np.ndarray, "tok case"],
    table: Float[np.ndarray, "tok dim"],
    expected: Int[np.ndarray, " case"],
    moved: float,
) -> float:
    """Between the right digit and any other, when the stream moves by `moved` and logits round."""
    best = np.take_along_axis(logits, expected[None], 0)
    apart = np.abs(table[:, DIGIT, None] - table[expected, DIGIT])  # tok case
    gaps = best - logits - apart * moved - EPSILONS * np.finfo(np.float64).eps * np.abs(best)
    gaps[expected, np.arange(len(expected))] = np.inf
    return float(gaps.min())


def one_step(table: Float[np.ndarray, "tok dim"]) -> float:
    """The gap c0 c1 to both neighbours of a digit that is hit exactly."""
    return float(table[0, 0] * (table[0, 0] - table[1, 0]))


def digits_needed(model: Model, layout: Layout) -> dict[str, int]:
    """Significant digits of each number, rounded alone, with which the proof of the middle place holds."""

    def holds(name: str, digits: int) -> bool:
        rounded = np.array(float(f"{float(model.params[name]):.{digits - 1}e}"))
        changed = Model(model.architecture, {**model.params, name: rounded})
        return prove_place(changed, layout, layout.digits // 2).holds

    return {name: next(n for n in range(1, MOST_DIGITS + 1) if holds(name, n)) for name in model.params}
