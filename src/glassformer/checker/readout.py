"""Whether the right token leads over a box of mixes, by the claimed margin and by more than any rounding.

The gaps of the right logit to all others are enclosed for thousands of boxes at once; a box that cannot be
decided is halved, along the coordinate that moves its gaps most.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Protocol

import numpy as np

from glassformer.checker.balls import (
    Arbs,
    Balls,
    bound_above,
    bound_below,
    enclose_about_zero,
    enclose_exactly,
    make_box_coordinates,
    make_fixed_balls,
)
from glassformer.checker.bounds import CertifiedBoxes, ClaimError
from glassformer.checker.chain import chain_slopes, separate_dimensions
from glassformer.checker.reading import HeadAxes
from glassformer.checker.rounding import UP, Bound
from glassformer.checker.tables import PremixTables
from glassformer.models.head import CLOSED

_DEPTH = 12  # halvings of a box
_FIRST = 16  # boxes, the worst, of which points are looked at before any is halved
_MOST, _A_PART = 4096, 16  # boxes looked at for a step, and as many more per part, at which a check gives up
_CORNERS = 3  # most coordinates of a box whose corners are visited
_CHUNK = 1024  # boxes at a time
_LOOK = 3  # halvings between two looks at points, in spans of float64
_QUICK_CHUNK = 4096  # the same, in spans of float64
_SHUT = CLOSED / 10  # logits below it belong to tokens that a head never writes


class _Named(Protocol):
    """A part of the inputs, by the name that a refusal gives it."""

    @property
    def one(self) -> object: ...


@dataclass(frozen=True, eq=False)
class MarginBoxes:
    """Boxes to decide, one row each."""

    part: np.ndarray  # which part of a class it belongs to
    position: np.ndarray  # where the query stands
    previous: np.ndarray  # the token there
    right: np.ndarray  # the token that must lead
    margin: Bound  # by how much at least
    bounds: CertifiedBoxes
    rivals: np.ndarray | None = None  # box tok: which tokens it must lead; none: all others

    def __len__(self) -> int:
        return len(self.part)

    def __getitem__(self, rows: Any) -> "MarginBoxes":
        here = self.bounds
        rest = tuple(one[rows] for one in here.rest)
        bounds = CertifiedBoxes(here.low[rows], here.high[rows], here.off[rows], here.turn[rows], rest)
        named = (self.part, self.position, self.previous, self.right, self.margin)
        part, position, previous, right, margin = (one[rows] for one in named)
        rivals = None if self.rivals is None else self.rivals[rows]
        return MarginBoxes(part, position, previous, right, margin, bounds, rivals)


@dataclass(frozen=True, eq=False)
class _LogitGaps:
    """How far the right logit is above the others, over boxes, `tok box`; infinite for itself."""

    least: Bound  # in real numbers, at least
    taken: Bound  # what rounding can take from it
    counts: np.ndarray  # whether a head can write the token
    slopes: tuple[Bound, Bound]  # coordinate tok box: at least, at most

    @property
    def margin(self) -> Bound:
        found: Bound = self.least.min(0)
        return found

    @property
    def spare(self) -> Bound:
        found: Bound = (self.least - self.taken * UP).min(0)
        return found

    @property
    def rounding(self) -> Bound:
        """How far a logit can be off: half of what can be taken from a gap."""
        found: Bound = np.where(self.counts, self.taken / 2, 0.0).max(0)
        return found

    def find_rounding(self, is_sure: np.ndarray) -> float:
        """The largest among some of the boxes."""
        return float(self.rounding[is_sure].max(initial=0.0))

    def confirm(self, boxes: MarginBoxes, rounding: float) -> np.ndarray:
        """The boxes over which all claims hold, in full."""
        return (self.margin >= boxes.margin) & (self.spare > 0) & (self.rounding <= rounding)


def require_margins(
    tables: PremixTables,
    axes: tuple[HeadAxes, ...],
    parts: "Sequence[_Named]",
    boxes: MarginBoxes,
    rounding: float,
) -> float:
    """How far rounding can move a logit, at most; raises where a claim cannot be confirmed for all parts."""
    left_open, most = _find_unconfirmed(tables.quick, axes, boxes, rounding)
    boxes, seen = boxes[left_open], 0
    for depth in range(_DEPTH + 1):
        undecided, seen = [], seen + len(boxes)
        is_late = depth == _DEPTH or seen > _MOST + _A_PART * len(parts)
        for begin in range(0, len(boxes), _CHUNK):
            some = boxes[slice(begin, begin + _CHUNK)]
            gaps = _bound_box_gaps(tables, axes, some)
            is_sure = gaps.confirm(some, rounding)
            most, unsure = max(most, gaps.find_rounding(is_sure)), np.flatnonzero(~is_sure)
            some, gaps = some[unsure], _sharpen_gaps(tables, axes, some[unsure], _select_gaps(gaps, unsure))
            is_sure = gaps.confirm(some, rounding)
            most, left = max(most, gaps.find_rounding(is_sure)), np.flatnonzero(~is_sure)
            _refuse_points(tables, axes, parts, some[left], _select_gaps(gaps, left), rounding)
            if is_late and len(left):
                raise _make_refusal(parts, some, gaps, int(left[0]), rounding)
            undecided += [_halve_margin_boxes(some[left], _select_gaps(gaps, left))] if len(left) else []
        if not undecided:
            break
        boxes = _join_margin_boxes(undecided)
    return most


def _find_unconfirmed(
    tables: PremixTables, axes: tuple[HeadAxes, ...], boxes: MarginBoxes, rounding: float
) -> tuple[np.ndarray, float]:
    """The boxes that spans of float64 cannot confirm, with all their halves: balls have to decide them.

    And how far rounding can move a logit over the others.
    """
    is_open, going = np.zeros(len(boxes), bool), replace(boxes, part=np.arange(len(boxes)))
    most = 0.0
    for depth in range(_DEPTH + 1):
        undecided = []
        for begin in range(0, len(going), _QUICK_CHUNK):
            some = going[slice(begin, begin + _QUICK_CHUNK)]
            gaps = _bound_box_gaps(tables, axes, some)
            is_sure = gaps.confirm(some, rounding)
            most, unsure = max(most, gaps.find_rounding(is_sure)), np.flatnonzero(~is_sure)
            some, gaps = some[unsure], _sharpen_gaps(tables, axes, some[unsure], _select_gaps(gaps, unsure))
            is_sure = gaps.confirm(some, rounding)
            most, left = max(most, gaps.find_rounding(is_sure)), np.flatnonzero(~is_sure)
            if len(left) and depth % _LOOK == 0:
                points = _list_worst_points(some[left], _select_gaps(gaps, left))
                found = _bound_box_gaps(tables, axes, points)
                is_open[points.part[~found.confirm(points, rounding)]] = True
                left = left[~is_open[some.part[left]]]
            undecided += [_halve_margin_boxes(some[left], _select_gaps(gaps, left))] if len(left) else []
        if not undecided:
            break
        going = _join_margin_boxes(undecided)
        if depth == _DEPTH or len(going) > _MOST + _A_PART * len(boxes):
            is_open[going.part] = True
            break
    return np.flatnonzero(is_open), most


def _refuse_points(
    tables: PremixTables,
    axes: tuple[HeadAxes, ...],
    parts: "Sequence[_Named]",
    boxes: MarginBoxes,
    gaps: _LogitGaps,
    rounding: float,
) -> None:
    """Raises where a claim fails at a single point of a box, its middle or an end: no halving can help."""
    points = _list_worst_points(boxes, gaps)
    if not len(points):
        return
    found = _bound_box_gaps(tables, axes, points)
    if len(wrong := np.flatnonzero(~found.confirm(points, rounding))):
        raise _make_refusal(parts, points, found, int(wrong[0]), rounding)


def _list_worst_points(boxes: MarginBoxes, gaps: _LogitGaps) -> MarginBoxes:
    """Middle and ends of the boxes that look worst."""
    worst = np.argsort(np.minimum(gaps.margin - boxes.margin, gaps.spare))[:_FIRST]
    loudest = np.argsort(-gaps.rounding)[:_FIRST]
    some = boxes[np.union1d(worst, loudest)]
    low, high = some.bounds.low, some.bounds.high
    points = ((low + high) / 2, low, high)
    return _join_margin_boxes(
        [replace(some, bounds=replace(some.bounds, low=point, high=point)) for point in points]
    )


def _select_gaps(gaps: _LogitGaps, rows: np.ndarray) -> _LogitGaps:
    least, most_slope = (part[..., rows] for part in gaps.slopes)
    return _LogitGaps(gaps.least[:, rows], gaps.taken[:, rows], gaps.counts[:, rows], (least, most_slope))


def _make_refusal(
    parts: "Sequence[_Named]", boxes: MarginBoxes, gaps: _LogitGaps, which: int, rounding: float
) -> ClaimError:
    """The sentence for a box that stays undecided."""
    name = f"{parts[boxes.part[which]].one}: token {boxes.right[which]}"
    margin, claimed, lost = gaps.margin[which], boxes.margin[which], gaps.taken[:, which].max()
    if not margin >= claimed:
        return ClaimError(f"{name} is said to lead by {claimed:.9g}, but only {margin:.9g} can be confirmed")
    if not gaps.spare[which] > 0:
        return ClaimError(f"{name} leads by {margin:.6g}, but rounding can take {lost:.6g} from it")
    return ClaimError(
        f"{name}: rounding moves a logit by up to {gaps.rounding[which]:.6g}, not {rounding:.6g} as claimed"
    )


def _bound_box_gaps(tables: PremixTables, axes: tuple[HeadAxes, ...], boxes: MarginBoxes) -> _LogitGaps:
    """The gaps of the right logit to all others, over each box."""
    state = tables.last_state(
        boxes.position, boxes.previous, _enclose_certified_mixes(tables, axes, boxes.bounds)
    )
    alone, names = separate_dimensions(state)
    logits = tables.logits(alone)
    right = logits[boxes.right, np.arange(len(boxes))]
    gap = chain_slopes(right - logits, state, names)  # tok box
    others = np.arange(logits.shape[0])[:, None] != boxes.right if boxes.rivals is None else boxes.rivals.T
    taken = replace(gap, error=(right.error + logits.error) * UP).drift()
    nothing = enclose_exactly(gap.rules, np.zeros(gap.shape))
    slopes = [gap.slopes.get(i, nothing) for i in range(boxes.bounds.low.shape[1])]
    least = np.where(others, np.nan_to_num(bound_below(gap.real()), nan=-np.inf), np.inf)
    return _LogitGaps(
        least,
        np.where(others, np.nan_to_num(taken, nan=np.inf), 0.0),
        others & ~(bound_above(logits.over) < _SHUT),
        (
            _fill_unknown_slopes(np.stack([bound_below(one) for one in slopes]), -1),
            _fill_unknown_slopes(np.stack([bound_above(one) for one in slopes]), 1),
        ),
    )


def _fill_unknown_slopes(slope: Bound, sign: int) -> Bound:
    """A bound of a slope, infinite where there is none."""
    return np.nan_to_num(slope, nan=sign * np.inf)


def _sharpen_gaps(
    tables: PremixTables, axes: tuple[HeadAxes, ...], boxes: MarginBoxes, gaps: _LogitGaps
) -> _LogitGaps:
    """The same gaps, seen from the corners: where one rises along every coordinate, its least is at one."""
    low, high = boxes.bounds.low, boxes.bounds.high
    if not len(boxes) or low.shape[1] > _CORNERS:
        return gaps
    width = (high - low).T[:, None] * UP  # coordinate 1 box
    falls = np.minimum(gaps.slopes[0], 0.0) * width  # going up from a low end, coordinate tok box
    rises = -np.maximum(gaps.slopes[1], 0.0) * width  # going down from a high end
    least = gaps.least
    for ends in product((False, True), repeat=low.shape[1]):
        at = _bound_point_gaps(tables, axes, boxes, np.where(ends, high, low))
        change = sum(rises[i] if is_high else falls[i] for i, is_high in enumerate(ends))
        least = np.where(least == np.inf, least, np.fmax(least, np.nextafter(at + change * UP, -np.inf)))
    return replace(gaps, least=least)


def _bound_point_gaps(
    tables: PremixTables, axes: tuple[HeadAxes, ...], boxes: MarginBoxes, point: Bound
) -> Bound:
    """Lower bounds of the gaps, `tok box`, for one mix of each box."""
    bounds = replace(boxes.bounds, low=point, high=point, off=np.zeros_like(point))
    mixes = [
        make_fixed_balls(mix.rules, mix.over, mix.error)
        for mix in _enclose_certified_mixes(tables.real, axes, bounds)
    ]
    logits = tables.real.logits(tables.real.last_state(boxes.position, boxes.previous, mixes))
    gap: Balls = logits[boxes.right, np.arange(len(boxes))] - logits
    return bound_below(gap.over)


def _enclose_certified_mixes(
    tables: PremixTables, axes: tuple[HeadAxes, ...], bounds: CertifiedBoxes
) -> list[Balls]:
    """Every head's mix as a function of the coordinates, `dim 1 box`, deployed errors along the axes."""
    coordinates = make_box_coordinates(
        tables.ops.rules, list(bounds.low.T), list(bounds.high.T), list(bounds.off.T)
    )
    mixes, first = [], 0
    for along, outside in zip(axes, bounds.rest, strict=True):
        mine = slice(first, first + len(along.axes))
        rules = tables.ops.rules
        turned = enclose_exactly(rules, bounds.turn[:, mine, mine]) @ enclose_exactly(rules, along.axes)
        mixes.append(
            _enclose_head_mix(
                tables,
                along,
                turned.transpose(1, 2, 0),  # coordinate dim box
                coordinates[mine],
                enclose_about_zero(rules, outside.T),
            )
        )
        first += len(along.axes)
    return mixes


def _enclose_head_mix(
    tables: PremixTables, along: HeadAxes, axes: Arbs, coordinates: list[Balls], outside: Arbs
) -> Balls:
    """centre + axes . coordinates + what lies outside of them; axes are `coordinate dim box`."""
    over = at = enclose_exactly(tables.ops.rules, along.centre)[:, None] + outside  # dim box
    slopes: dict[int, Arbs] = {}
    for axis, coordinate in zip(axes, coordinates, strict=True):
        over, at = over + axis * coordinate.over, at + axis * coordinate.at
        slopes |= {name: (axis * slope)[:, None] for name, slope in coordinate.slopes.items()}
    reach = coordinates[0].reach if coordinates else {}
    none = np.zeros((len(over), 1, over.shape[1]))
    return Balls(tables.ops.rules, over[:, None], none, at[:, None], slopes, reach)


def _halve_margin_boxes(boxes: MarginBoxes, gaps: _LogitGaps) -> MarginBoxes:
    """Both halves of every box, along the coordinate that moves its gaps most."""
    low, high = boxes.bounds.low, boxes.bounds.high
    steep = np.where(gaps.counts, np.maximum(-gaps.slopes[0], gaps.slopes[1]), 0.0).max(1)  # coordinate box
    steep = np.where(np.isfinite(steep).all(0), steep, 1.0)  # the widest one where nothing is known
    along, every = (steep * (high - low).T).argmax(0), np.arange(len(boxes))
    middle = (low + (high - low) / 2)[every, along]
    below, above = high.copy(), low.copy()
    below[every, along] = above[every, along] = middle
    lower_half = replace(boxes, bounds=replace(boxes.bounds, high=below))
    return _join_margin_boxes([lower_half, replace(boxes, bounds=replace(boxes.bounds, low=above))])


def _join_margin_boxes(several: list[MarginBoxes]) -> MarginBoxes:
    """All boxes in one."""

    def together(read: Callable[[MarginBoxes], np.ndarray]) -> np.ndarray:
        return np.concatenate([read(one) for one in several])

    bounds = CertifiedBoxes(
        together(lambda one: one.bounds.low),
        together(lambda one: one.bounds.high),
        together(lambda one: one.bounds.off),
        together(lambda one: one.bounds.turn),
        tuple(np.concatenate(rest) for rest in zip(*(one.bounds.rest for one in several), strict=True)),
    )
    return MarginBoxes(
        together(lambda one: one.part),
        together(lambda one: one.position),
        together(lambda one: one.previous),
        together(lambda one: one.right),
        together(lambda one: one.margin),
        bounds,
        None if several[0].rivals is None else together(lambda one: np.asarray(one.rivals)),
    )
