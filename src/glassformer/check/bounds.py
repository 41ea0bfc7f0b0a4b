"""Whether the claimed bounds of the mix hold: every coordinate, over all pairs of a part of a class.

A coordinate is a mean of numbers a by weights w, so it is at most b where the sum of w (a - b) is at most 0
for every pair. That sum has one term a place, rounded up to a whole number, and its largest value is exact.
Where it is above 0, by as much as floating point can explain, the bound is lifted by that much over the
smallest sum of weights; where it is more, the claim is wrong.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.check.balls import Arbs, exactly, lower, most, upper
from glassformer.check.columns import MOST, NOWHERE, Class, Open, largest
from glassformer.check.mixing import Mixture
from glassformer.check.reading import Axes, Proved
from glassformer.check.rounding import TINY, UP, Bound
from glassformer.check.tables import Tables
from glassformer.tasks import Addition, Layout
from glassformer.tasks.addition import BASE

SPAN_SLACK = 1e-9  # of the way from low to high: what a bound may be lifted by
SCALE_SLACK = 1e-12  # of the bound and of the largest number that is mixed: float64 has 1e-16
TERM_SLACK = 2.0**-50  # of a term's two parts: three roundings of float64
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
    """Where the mixes of parts lie, one row a part."""

    low: Bound  # part coordinate
    high: Bound
    off: Bound  # part coordinate: how far the deployed mix can be from the real one
    rest: tuple[Bound, ...]  # a head: part dim, how far from the axes


@dataclass(frozen=True, eq=False)
class Terms:
    """What each place brings to one side of one coordinate, by query: weights w and products w a."""

    lightest: Bound  # query key tok
    heaviest: Bound
    product: Bound  # at least
    extra: Bound  # query: at least w a of the zero vector
    extra_weight: tuple[Bound, Bound]  # query: at least, at most


def place_of(task: Addition, step: int) -> int:
    """Where the query of a step stands."""
    return task.written().prompt_length - 1 + step


def bound_parts(tables: Tables, task: Addition, axes: tuple[Axes, ...], parts: list[Part]) -> Box:
    """The boxes of parts that all have one step, each certain to hold the mixes of all its pairs."""
    place = place_of(task, parts[0].one.step)
    previous = np.array([part.one.previous for part in parts])
    asking, query = np.unique(previous, return_inverse=True)
    ends, off, rests = list[tuple[Bound, Bound]](), list[Bound](), list[Bound]()
    for head, along in enumerate(axes):
        mixture = tables.mixture(head, place, asking)
        for axis in along.axes:
            ends.append(checked_ends(task, place, mixture, query, along.centre, axis, parts, len(ends)))
            off.append((mixture.error * np.abs(axis)[:, None]).sum(0)[query] * UP)
        rests.append(rest(mixture, along)[query])
    low, high = (np.stack([end[side] for end in ends], 1) for side in (0, 1))
    return Box(low, high, np.stack(off, 1), tuple(rests))


def checked_ends(
    task: Addition,
    place: int,
    mixture: Mixture,
    query: np.ndarray,
    centre: np.ndarray,
    axis: np.ndarray,
    parts: list[Part],
    which: int,
) -> tuple[Bound, Bound]:
    """Low and high of a coordinate for each part, as claimed or a hair wider."""
    away = mixture.values.over - exactly(centre)[:, None, None]
    along = (away * exactly(axis)[:, None, None]).sum(0)  # key tok
    at_zero = -(exactly(centre) * exactly(axis)).sum()
    low, high = (np.array([getattr(part.leaf, end)[which] for part in parts]) for end in ("low", "high"))
    scale = float(np.where(mixture.allowed.any(0), most(along), 0.0).max())
    found = []
    for sign, claimed in ((-1.0, low), (1.0, high)):
        terms = terms_of(mixture, along * int(sign), at_zero * int(sign))
        lift = lifts(task, place, mixture, terms, query, claimed * sign, parts)
        allowance = SPAN_SLACK * (high - low) + SCALE_SLACK * (np.abs(claimed) + scale)
        refuse_lifts(parts, which, "low" if sign < 0 else "high", claimed, lift, allowance)
        found.append(np.nextafter(claimed + sign * lift, sign * np.inf))
    return found[0], found[1]


def refuse_lifts(
    parts: list[Part], which: int, end: str, claimed: Bound, lift: Bound, allowance: Bound
) -> None:
    """Reject the first bound that would have to be lifted by more than rounding can explain."""
    for i in np.flatnonzero(~(lift <= allowance))[:1]:
        raise ClaimError(
            f"{parts[i].one}: coordinate {which} is said to have the {end} bound {claimed[i]:.17g}, "
            f"but a pair of the class may be {lift[i]:.3g} beyond it"
        )


def terms_of(mixture: Mixture, along: Arbs, at_zero: Arbs) -> Terms:
    """The terms for the high side of a coordinate."""
    return Terms(
        np.maximum(lower(mixture.weights), 0.0),
        upper(mixture.weights),
        upper(mixture.weights * along),
        upper(mixture.extra * at_zero) if mixture.has_extra else np.zeros(len(mixture.extra)),
        (np.maximum(lower(mixture.extra), 0.0), upper(mixture.extra)) if mixture.has_extra else (0.0, 0.0),
    )


def lifts(
    task: Addition,
    place: int,
    mixture: Mixture,
    terms: Terms,
    query: np.ndarray,
    bound: Bound,
    parts: list[Part],
) -> Bound:
    """By how much each high bound must be lifted to be certain; 0 where it is certain as it is."""
    found = []
    for begin in range(0, len(parts), CHUNK):
        some = slice(begin, begin + CHUNK)
        tokens = mixture.allowed.any(0)  # key tok
        above = excess(task.written(), place, terms, query[some], bound[some], parts[some], tokens)
        found.append(np.maximum(above, 0.0) / mixture.least_total[query[some]] * UP)
    return np.concatenate(found)


def excess(
    layout: Layout,
    place: int,
    terms: Terms,
    query: np.ndarray,
    bound: Bound,
    parts: list[Part],
    tokens: np.ndarray,
) -> Bound:
    """The largest sum of w (a - bound) over the pairs of each part, rounded up."""
    columns = np.stack([part.open.columns for part in parts])
    last = np.stack([part.open.last for part in parts])
    lightest, heaviest = terms.lightest[query], terms.heaviest[query]  # part key tok
    each = lifted_terms(terms.product[query], lightest, heaviest, bound[:, None, None])
    each = np.where(tokens, each, 0.0)
    light, heavy = (np.broadcast_to(end, len(terms.extra))[query] for end in terms.extra_weight)
    extra = lifted_terms(terms.extra[query], light, heavy, bound)  # part
    room = np.abs(each).max(2).sum(1) + np.abs(extra)
    scale = np.exp2(np.floor(np.log2(np.minimum(MOST / np.maximum(room, TINY), FINEST))))  # part
    counted = np.ceil(each * scale[:, None, None]).astype(np.int64)
    digits, nothing = counted[:, :, :BASE], np.zeros((len(parts), BASE), np.int64)
    written = [digits[:, p] if p <= place else nothing for p in layout.z_places]
    marks = [p for p in range(place + 1) if not tokens[p, :BASE].all()]
    fixed = sum((counted[:, p][:, tokens[p]].sum(1) for p in marks), np.ceil(extra * scale).astype(np.int64))
    best = largest(
        columns,
        last,
        digits[:, list(layout.x_places)],
        digits[:, list(layout.y_places)],
        np.stack(written[:-1], 1),
        written[-1][:, :2] + fixed[:, None],
    )
    return np.where(best == NOWHERE, -np.inf, best.astype(np.float64) / scale * UP)


def lifted_terms(product: Bound, lightest: Bound, heaviest: Bound, bound: Bound) -> Bound:
    """At least w a - w bound."""
    taken = np.maximum(-bound * lightest, -bound * heaviest)
    return product + taken + TERM_SLACK * (np.abs(product) + np.abs(taken)) + TINY


def rest(mixture: Mixture, along: Axes) -> Bound:
    """How far a deployed mix can be from the span of its axes, `query dim`."""
    axes, size = exactly(along.axes), len(along.centre)  # axis dim
    outside = exactly(np.eye(size))
    if len(along.axes):
        outside = outside - axes.T @ axes  # dim dim
    away = (mixture.values.over - exactly(along.centre)[:, None, None]).reshape(size, -1)
    real = most(outside @ away).reshape(mixture.values.shape)  # dim key tok
    real = np.where(mixture.allowed.any(0), real, 0.0).max((1, 2))  # dim
    if mixture.has_extra:
        real = np.maximum(real, most(outside @ exactly(along.centre)))
    return (real[:, None] + most(outside) @ mixture.error * UP).T * UP
