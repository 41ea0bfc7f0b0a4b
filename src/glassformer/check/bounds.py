"""Whether the claimed bounds of the mix hold: every coordinate, over all pairs of a part of a class.

A coordinate is a mean of numbers a by weights w, so it is at most b where the sum of w (a - b) is at most 0
for every pair. That sum has one term a place, rounded up to a whole number, and its largest value is exact.
Where it is above 0, by as much as floating point can explain, the bound is lifted by that much over the
smallest sum of weights; where it is more, the claim is wrong.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.check.balls import exactly, lower, most, upper
from glassformer.check.columns import MOST, NOWHERE, Class, Open, largest
from glassformer.check.mixing import Mixture
from glassformer.check.reading import Axes, Proved
from glassformer.check.rounding import TINY, UP, Bound
from glassformer.check.tables import Tables
from glassformer.tasks import Addition
from glassformer.tasks.addition import BASE

SPAN_SLACK = 1e-9  # of the way from low to high: what a bound may be lifted by
SCALE_SLACK = 1e-12  # of the bound and of the largest number that is mixed: float64 has 1e-16
TERM_SLACK = 2.0**-47  # of a term's parts: a few roundings of float64
FINEST = 2.0**500  # scale of terms that are all as good as 0
CHUNK = 1024  # parts at a time


class ClaimError(Exception):
    """A claim that does not hold, in one sentence."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a class, with what is claimed for it."""

    one: Class
    open: Open
    leaf: Proved


@dataclass(frozen=True, eq=False)
class Box:
    """Where the mixes of parts lie, one row a part: in the coordinates turn . axes . (mix - centre)."""

    low: Bound  # part coordinate
    high: Bound
    off: Bound  # part coordinate: how far the deployed mix can be from the real one
    turn: np.ndarray  # part coordinate coordinate
    rest: tuple[Bound, ...]  # a head: part dim, how far from the axes


@dataclass(frozen=True, eq=False)
class Spot:
    """A head at the place of a step, and its tables along its axes."""

    task: Addition
    place: int
    mixture: Mixture
    along: Axes
    products: tuple[Bound, Bound]  # axis query key tok: w a at least, at most
    weights: tuple[Bound, Bound]  # query key tok
    zero: tuple[Bound, Bound]  # axis query: w a of the zero vector
    zero_weight: tuple[Bound, Bound]  # query
    reach: Bound  # axis: the largest |a|, deployed errors included


def place_of(task: Addition, step: int) -> int:
    """Where the query of a step stands."""
    return task.written().prompt_length - 1 + step


def bound_parts(tables: Tables, task: Addition, axes: tuple[Axes, ...], parts: list[Part]) -> Box:
    """The boxes of parts that all have one step, each certain to hold the mixes of all its pairs."""
    place = place_of(task, parts[0].one.step)
    asking, query = np.unique([part.one.previous for part in parts], return_inverse=True)
    count = sum(len(along.axes) for along in axes)
    turn = np.stack([np.array(part.leaf.turn) if part.leaf.turn else np.eye(count) for part in parts])
    low, high, off = (np.zeros((len(parts), count)) for _ in range(3))
    rests, first = [], 0
    for head, along in enumerate(axes):
        spot, mine = spot_of(task, place, tables.mixture(head, place, asking), along), len(along.axes)
        inner = turn[:, first : first + mine, first : first + mine]
        for i in range(mine):
            low[:, first + i], high[:, first + i] = checked_ends(spot, query, inner[:, i], parts, first + i)
        slack = TERM_SLACK * (np.abs(inner) @ np.abs(along.axes))
        sizes = np.abs(inner @ along.axes) + slack  # part coordinate dim
        off[:, first : first + mine] = (sizes * spot.mixture.error.T[query][:, None]).sum(2) * UP
        rests.append(rest(spot, query, inner))
        first += mine
    return Box(low, high, off, turn, tuple(rests))


def spot_of(task: Addition, place: int, mixture: Mixture, along: Axes) -> Spot:
    """The tables of a head along its axes."""
    away = mixture.values.over - exactly(along.centre)[:, None, None]  # dim key tok
    axes = exactly(along.axes)[:, :, None, None]
    values = (axes * away).sum(1)  # axis key tok
    products = mixture.weights * values[:, None]
    at_zero = mixture.extra * -(exactly(along.axes) * exactly(along.centre)).sum(1)[:, None]  # axis query
    size = np.where(mixture.allowed.any(0), most(values), 0.0).max((1, 2))
    if mixture.has_extra:
        size = np.maximum(size, np.abs(along.axes) @ np.abs(along.centre) * UP)
    error = np.abs(along.axes) @ mixture.error.max(1)
    return Spot(
        task,
        place,
        mixture,
        along,
        (lower(products), upper(products)),
        (np.maximum(lower(mixture.weights), 0.0), upper(mixture.weights)),
        (lower(at_zero), upper(at_zero)),
        (np.maximum(lower(mixture.extra), 0.0), upper(mixture.extra)),
        (size + error) * UP,
    )


def checked_ends(
    spot: Spot, query: np.ndarray, direction: np.ndarray, parts: list[Part], which: int
) -> tuple[Bound, Bound]:
    """Low and high of a coordinate for each part, as claimed or a hair wider; directions are `part axis`."""
    low, high = (np.array([getattr(part.leaf, end)[which] for part in parts]) for end in ("low", "high"))
    scale, found = np.abs(direction) @ spot.reach, list[Bound]()
    for sign, claimed in ((-1.0, low), (1.0, high)):
        lift = lifts(spot, query, direction * sign, claimed * sign, parts)
        allowance = SPAN_SLACK * (high - low) + SCALE_SLACK * (np.abs(claimed) + scale)
        for i in np.flatnonzero(~(lift <= allowance))[:1]:
            said = f"the {'low' if sign < 0 else 'high'} bound {claimed[i]:.17g} of coordinate {which}"
            raise ClaimError(f"{parts[i].one}: a pair of it may be {lift[i]:.3g} beyond {said}")
        found.append(np.nextafter(claimed + sign * lift, sign * np.inf))
    return found[0], found[1]


def lifts(spot: Spot, query: np.ndarray, direction: np.ndarray, bound: Bound, parts: list[Part]) -> Bound:
    """By how much each high bound must be lifted to be certain; 0 where it is certain as it is."""
    found = []
    for begin in range(0, len(parts), CHUNK):
        some = slice(begin, begin + CHUNK)
        above = excess(spot, query[some], direction[some], bound[some], parts[some])
        found.append(np.maximum(above, 0.0) / spot.mixture.least_total[query[some]] * UP)
    return np.concatenate(found)


def excess(spot: Spot, query: np.ndarray, direction: np.ndarray, bound: Bound, parts: list[Part]) -> Bound:
    """The largest sum of w (a - bound) over the pairs of each part, rounded up."""
    layout = spot.task.written()
    tokens: np.ndarray = np.asarray(spot.mixture.allowed.any(0))  # key tok
    each = terms(spot.products, spot.weights, query, direction, bound)  # part key tok
    extra = terms(spot.zero, spot.zero_weight, query, direction, bound)  # part
    each = np.where(tokens, each, 0.0)
    room = np.abs(each).max(2).sum(1) + np.abs(extra)
    scale = np.exp2(np.floor(np.log2(np.minimum(MOST / np.maximum(room, TINY), FINEST))))  # part
    counted = np.ceil(each * scale[:, None, None]).astype(np.int64)
    digits, nothing = counted[:, :, :BASE], np.zeros((len(parts), BASE), np.int64)
    written = [digits[:, p] if p <= spot.place else nothing for p in layout.z_places]
    marks = set(range(spot.place + 1)) - {*layout.x_places, *layout.y_places, *layout.z_places}
    fixed = np.ceil(extra * scale).astype(np.int64)
    fixed = fixed + sum(counted[:, p][:, tokens[p]].sum(1) for p in marks)
    best = largest(
        np.stack([part.open.columns for part in parts]),
        np.stack([part.open.last for part in parts]),
        digits[:, list(layout.x_places)],
        digits[:, list(layout.y_places)],
        np.stack(written[:-1], 1),
        written[-1][:, :2] + fixed[:, None],
    )
    return np.where(best == NOWHERE, -np.inf, best.astype(np.float64) / scale * UP)


def terms(
    products: tuple[Bound, Bound],
    weights: tuple[Bound, Bound],
    query: np.ndarray,
    direction: np.ndarray,
    bound: Bound,
) -> Bound:
    """At least w (direction . a - bound), given w a and w from below and above, by axis and query."""
    many = (slice(None), *[None] * (weights[0].ndim - 1))  # a number a part, against all that a query has
    total = size = np.zeros((len(query), *weights[0].shape[1:]))
    for axis, share in enumerate(direction.T):
        ends = [share[many] * end[axis][query] for end in products]
        total, size = total + np.maximum(*ends), size + np.maximum(*np.abs(ends))
    taken = [-bound[many] * end[query] for end in weights]
    size = size + np.maximum(*np.abs(taken))
    found: Bound = total + np.maximum(*taken) + TERM_SLACK * size + TINY
    return found


def rest(spot: Spot, query: np.ndarray, turn: np.ndarray) -> Bound:
    """How far a deployed mix can be from the span of its turned axes, `part dim`."""
    mixture, centre, size = spot.mixture, exactly(spot.along.centre), len(spot.along.centre)
    outside = exactly(np.eye(size))
    if len(spot.along.axes):
        axes = exactly(spot.along.axes)
        outside = outside - axes.T @ axes  # dim dim
    away = (mixture.values.over - centre[:, None, None]).reshape(size, -1)
    real = most(outside @ away).reshape(mixture.values.shape)  # dim key tok
    real = np.where(mixture.allowed.any(0), real, 0.0).max((1, 2))  # dim
    if mixture.has_extra:
        real = np.maximum(real, most(outside @ centre))
    straight = (real[:, None] + most(outside) @ mixture.error * UP).T * UP  # query dim
    found: Bound = (straight[query] + skewed(spot, turn)) * UP
    return found


def skewed(spot: Spot, turn: np.ndarray) -> Bound:
    """What is lost where a turn, `part coordinate coordinate`, is not quite one, `part dim`."""
    count = turn.shape[2]
    square = np.abs(turn.transpose(0, 2, 1) @ turn - np.eye(count))
    is_turned = (turn != np.eye(count)).any((1, 2))
    slack = TERM_SLACK * count * (1 + square.max((1, 2), keepdims=True, initial=0.0))
    square = np.where(is_turned[:, None, None], square + slack, 0.0)
    lost: Bound = (square @ spot.reach) @ np.abs(spot.along.axes) * UP
    return lost
