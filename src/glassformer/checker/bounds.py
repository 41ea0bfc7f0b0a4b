"""Whether the claimed bounds of the mix hold: every coordinate, over all pairs of a part of a class.

A coordinate is a mean of numbers a by weights w, so it is at most b where the sum of w (a - b) is at most 0
for every pair. That sum has one term per position, rounded up to a whole number, and its largest value is
exact. Where it is above 0, by as much as floating point can explain, the bound is lifted by that much over
the smallest sum of weights; where it is more, the claim is wrong.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.checker.balls import bound_above, bound_below, bound_magnitude, to_exact_balls
from glassformer.checker.columns import MOST, NOWHERE, OpenPairs, PairClass, maximise_sums
from glassformer.checker.mixing import Mixture
from glassformer.checker.reading import HeadAxes, Proved
from glassformer.checker.rounding import TINY, UP, Bound
from glassformer.checker.tables import PremixTables
from glassformer.tasks import Addition

_BOUND_SLACK = 1e-11  # of the largest coordinate of any value: what a bound may be lifted by
_BEYOND = 1e-6  # of the same: how far a bound may lie outside of all values, where no mix is
_FLOOR = 2.0**-30  # of the values themselves: what counts as large where they hardly differ
_TERM_SLACK = 2.0**-47  # of a term's parts: a few roundings of float64
_WIDE = 1e-9  # share of a weight by which it varies that is not just rounded
_FINEST = 2.0**500  # scale of terms that are all as good as 0
_CHUNK = 1024  # parts at a time


class ClaimError(Exception):
    """A claim that does not hold, in one sentence."""


@dataclass(frozen=True, eq=False)
class ProvedPart:
    """A part of a class, with what is claimed for it."""

    one: PairClass
    open: OpenPairs
    leaf: Proved


@dataclass(frozen=True, eq=False)
class CertifiedBoxes:
    """Where the mixes of parts lie, one row per part: in the coordinates turn . axes . (mix - centre)."""

    low: Bound  # part coordinate
    high: Bound
    off: Bound  # part coordinate: how far the deployed mix can be from the real one
    turn: np.ndarray  # part coordinate coordinate
    rest: tuple[Bound, ...]  # a head: part dim, how far from the axes


@dataclass(frozen=True, eq=False)
class HeadProjection:
    """A head at the position of a step, and its tables along its axes."""

    mixture: Mixture
    along: HeadAxes
    values: tuple[Bound, Bound]  # axis key tok: a at least, at most
    products: tuple[Bound, Bound]  # axis query key tok: w a at least, at most
    weights: tuple[Bound, Bound]  # query key tok
    zero: tuple[Bound, Bound]  # axis query: w a of the zero vector
    zero_weight: tuple[Bound, Bound]  # query
    reach: Bound  # axis: the largest |a|, deployed errors included
    task: Addition | None = None  # of an adder

    @cached_property
    def is_wide(self) -> bool:
        """Whether weights are known to a range only, and not but for rounding."""
        low, high = self.weights
        return bool(((high - low > _WIDE * high) & self.mixture.allowed).any())

    @cached_property
    def unsure(self) -> Bound:
        """The widest range that a value is known by, per axis; next to 0 unless another layer moves it."""
        low, high = self.values
        found: Bound = np.where(self.mixture.allowed.any(0), high - low, 0.0).max((1, 2))
        return found

    @property
    def position(self) -> int:
        """Where the query stands."""
        return self.mixture.keys - 1


def find_query_position(task: Addition, step: int) -> int:
    """Where the query of a step stands."""
    return task.written().prompt_length - 1 + step


def bound_parts(
    tables: PremixTables, task: Addition, axes: tuple[HeadAxes, ...], parts: list[ProvedPart]
) -> CertifiedBoxes:
    """The boxes of parts that all have one step, each certain to hold the mixes of all its pairs."""
    position = find_query_position(task, parts[0].one.step)
    asking, query = np.unique([part.one.previous for part in parts], return_inverse=True)
    count = sum(len(along.axes) for along in axes)
    turn = np.stack([np.array(part.leaf.turn) if part.leaf.turn else np.eye(count) for part in parts])
    low, high, off = (np.zeros((len(parts), count)) for _ in range(3))
    rests, first = [], 0
    for head, along in enumerate(axes):
        spot, mine = project_head(tables.mixture(head, position, asking), along, task), len(along.axes)
        inner = turn[:, first : first + mine, first : first + mine]
        for i in range(mine):
            low[:, first + i], high[:, first + i] = _check_coordinate_ends(
                spot, query, inner[:, i], parts, first + i
            )
        slack = _TERM_SLACK * (np.abs(inner) @ np.abs(along.axes))
        sizes = np.abs(inner @ along.axes) + slack  # part coordinate dim
        off[:, first : first + mine] = (sizes * spot.mixture.error.T[query][:, None]).sum(2) * UP
        rests.append(bound_off_axis(spot, query, inner))
        first += mine
    return CertifiedBoxes(low, high, off, turn, tuple(rests))


def project_head(mixture: Mixture, along: HeadAxes, task: Addition | None = None) -> HeadProjection:
    """The tables of a head along its axes."""
    away = mixture.values.over - to_exact_balls(along.centre)[:, None, None]  # dim key tok
    axes = to_exact_balls(along.axes)[:, :, None, None]
    values = (axes * away).sum(1)  # axis key tok
    products = mixture.weights * values[:, None]
    at_zero = (
        mixture.extra * -(to_exact_balls(along.axes) * to_exact_balls(along.centre)).sum(1)[:, None]
    )  # axis query
    size = np.where(mixture.allowed.any(0), bound_magnitude(values), 0.0).max((1, 2))
    largest = mixture.largest(mixture.values.size)[
        :, 0
    ]  # where all values are one, a coordinate is its rounding
    if mixture.has_extra:
        size = np.maximum(size, np.abs(along.axes) @ np.abs(along.centre) * UP)
    error = np.abs(along.axes) @ mixture.error.max(1)
    return HeadProjection(
        mixture,
        along,
        (bound_below(values), bound_above(values)),
        (bound_below(products), bound_above(products)),
        (np.maximum(bound_below(mixture.weights), 0.0), bound_above(mixture.weights)),
        (bound_below(at_zero), bound_above(at_zero)),
        (np.maximum(bound_below(mixture.extra), 0.0), bound_above(mixture.extra)),
        (size + error + _FLOOR * (np.abs(along.axes) @ largest)) * UP,
        task,
    )


def _check_coordinate_ends(
    spot: HeadProjection, query: np.ndarray, direction: np.ndarray, parts: list[ProvedPart], which: int
) -> tuple[Bound, Bound]:
    """Low and high of a coordinate for each part, as claimed or a hair wider; directions are `part axis`."""
    low, high = (np.array([getattr(part.leaf, end)[which] for part in parts]) for end in ("low", "high"))
    scale, found = np.abs(direction) @ spot.reach, list[Bound]()
    furthest = scale * (1 + _BEYOND) + np.abs(direction) @ spot.unsure
    for sign, claimed in ((-1.0, low), (1.0, high)):
        lift = _compute_lifts(spot, query, direction * sign, claimed * sign, parts)
        for i in np.flatnonzero(~(np.abs(claimed) <= furthest))[:1]:
            said = f"the bound {claimed[i]:.17g} of coordinate {which} is outside of all values"
            raise ClaimError(f"{parts[i].one}: {said}, which reach to {scale[i]:.6g}")
        for i in np.flatnonzero(~(lift <= _BOUND_SLACK * scale))[:1]:
            said = f"the {'low' if sign < 0 else 'high'} bound {claimed[i]:.17g} of coordinate {which}"
            raise ClaimError(f"{parts[i].one}: a pair of it may be {lift[i]:.3g} beyond {said}")
        found.append(np.nextafter(claimed + sign * lift, sign * np.inf))
    return found[0], found[1]


def _compute_lifts(
    spot: HeadProjection, query: np.ndarray, direction: np.ndarray, bound: Bound, parts: list[ProvedPart]
) -> Bound:
    """By how much each high bound must be lifted to be certain; 0 where it is certain as it is."""
    found = []
    for begin in range(0, len(parts), _CHUNK):
        some = slice(begin, begin + _CHUNK)
        above = _bound_excess(spot, query[some], direction[some], bound[some], parts[some])
        found.append(np.maximum(above, 0.0) / spot.mixture.least_total[query[some]] * UP)
    return np.concatenate(found)


def _bound_excess(
    spot: HeadProjection, query: np.ndarray, direction: np.ndarray, bound: Bound, parts: list[ProvedPart]
) -> Bound:
    """The largest sum of w (a - bound) over the pairs of each part, rounded up."""
    assert spot.task
    layout = spot.task.written()
    tokens: np.ndarray = np.asarray(spot.mixture.allowed.any(0))  # key tok
    each = bound_pair_terms(spot.products, spot.weights, query, direction, bound)  # part key tok
    if spot.is_wide:
        each = np.minimum(each, _bound_wide_terms(spot, query, direction, bound))
    extra = bound_pair_terms(spot.zero, spot.zero_weight, query, direction, bound)  # part
    each = np.where(tokens, each, 0.0)
    room = np.abs(each).max(2).sum(1) + np.abs(extra)
    is_known = np.isfinite(room)
    each, extra = np.where(is_known[:, None, None], each, 0.0), np.where(is_known, extra, 0.0)
    _, exponent = np.frexp(np.minimum(MOST / np.maximum(np.where(is_known, room, 1.0), TINY), _FINEST))
    scale = np.ldexp(1.0, exponent - 1)  # part: a power of two, exactly, at most MOST over the room
    counted = np.ceil(each * scale[:, None, None]).astype(np.int64)
    digits = counted[:, :, : layout.base]
    nothing = np.zeros((len(parts), layout.base), np.int64)
    written = [digits[:, p] if p <= spot.position else nothing for p in layout.z_positions]
    marks = set(range(spot.position + 1)) - {*layout.x_positions, *layout.y_positions, *layout.z_positions}
    fixed = np.ceil(extra * scale).astype(np.int64)
    fixed = fixed + sum(counted[:, p][:, tokens[p]].sum(1) for p in marks)
    operation, second = layout.operation, list(layout.y_positions)
    none = np.zeros((len(parts), layout.digits, layout.base), np.int64)
    best = maximise_sums(
        np.stack([part.open.columns for part in parts]),
        np.stack([part.open.last for part in parts]),
        digits[:, list(layout.x_positions)],
        digits[:, second] if second else none,
        np.stack(written[:-1], 1),
        written[-1][:, (np.arange(operation.carries) + operation.find_top(layout.base)) % layout.base]
        + fixed[:, None],
        operation,
    )
    highest = np.where(best == NOWHERE, -np.inf, best.astype(np.float64) / scale * UP)
    return np.where(is_known, highest, np.inf)


def bound_pair_terms(
    products: tuple[Bound, Bound],
    weights: tuple[Bound, Bound],
    query: np.ndarray,
    direction: np.ndarray,
    bound: Bound,
) -> Bound:
    """Upper bounds of w (direction . a - bound), given w a and w from below and above, by axis and query."""
    many = (slice(None), *[None] * (weights[0].ndim - 1))  # a number per part, against all that a query has
    total = size = np.zeros((len(query), *weights[0].shape[1:]))
    for axis, share in enumerate(direction.T):
        ends = [share[many] * end[axis][query] for end in products]
        total, size = total + np.maximum(*ends), size + np.maximum(*np.abs(ends))
    taken = [-bound[many] * end[query] for end in weights]
    size = size + np.maximum(*np.abs(taken))
    found: Bound = total + np.maximum(*taken) + _TERM_SLACK * size + TINY
    return found


def _bound_wide_terms(spot: HeadProjection, query: np.ndarray, direction: np.ndarray, bound: Bound) -> Bound:
    """The same, given a and w apart: closer where weights are known to a range only, `part key tok`."""
    many, total, size = (slice(None), None, None), 0.0, np.abs(bound)[:, None, None]
    for axis, share in enumerate(direction.T):
        ends = [share[many] * end[axis] for end in spot.values]
        total, size = total + np.maximum(*ends), size + np.maximum(*np.abs(ends))
    moved = total - bound[many] + _TERM_SLACK * size
    found: Bound = np.maximum(*(end[query] * moved for end in spot.weights))
    return found + _TERM_SLACK * np.abs(found) + TINY


def bound_off_axis(spot: HeadProjection, query: np.ndarray, turn: np.ndarray) -> Bound:
    """How far a deployed mix can be from the span of its turned axes, `part dim`."""
    mixture, centre, size = spot.mixture, to_exact_balls(spot.along.centre), len(spot.along.centre)
    outside = to_exact_balls(np.eye(size))
    if len(spot.along.axes):
        axes = to_exact_balls(spot.along.axes)
        outside = outside - axes.T @ axes  # dim dim
    away = (mixture.values.over - centre[:, None, None]).reshape(size, -1)
    real = bound_magnitude(outside @ away).reshape(mixture.values.shape)  # dim key tok
    real = np.where(mixture.allowed.any(0), real, 0.0).max((1, 2))  # dim
    if mixture.has_extra:
        real = np.maximum(real, bound_magnitude(outside @ centre))
    straight = (real[:, None] + bound_magnitude(outside) @ mixture.error * UP).T * UP  # query dim
    found: Bound = (straight[query] + _bound_skew(spot, turn)) * UP
    return found


def _bound_skew(spot: HeadProjection, turn: np.ndarray) -> Bound:
    """What is lost where a turn, `part coordinate coordinate`, is not quite one, `part dim`."""
    count = turn.shape[2]
    square = np.abs(turn.transpose(0, 2, 1) @ turn - np.eye(count))
    is_turned = (turn != np.eye(count)).any((1, 2))
    slack = _TERM_SLACK * count * (1 + square.max((1, 2), keepdims=True, initial=0.0))
    square = np.where(is_turned[:, None, None], square + slack, 0.0)
    lost: Bound = (square @ spot.reach) @ np.abs(spot.along.axes) * UP
    return lost
