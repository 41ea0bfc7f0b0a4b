"""Whether the right token leads over a box of mixes, by the claimed margin and by more than any rounding.

The gaps of the right logit to all others are enclosed for thousands of boxes at once; a box that cannot be
decided is halved, along the coordinate that moves its gaps most.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from glassformer.check.balls import Arbs, Balls, about_zero, box, exactly, lower, most, upper
from glassformer.check.bounds import Box, ClaimError, Part
from glassformer.check.reading import Axes
from glassformer.check.rounding import UP, Bound
from glassformer.check.tables import Tables
from glassformer.model.head import CLOSED

CONFIRMED = 0.98  # share of a claimed margin that must be found again
DEPTH = 12  # halvings of a box
CHUNK = 1024  # boxes at a time
SHUT = CLOSED / 10  # logits below it belong to tokens that a head never writes


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes to decide, one row each."""

    part: np.ndarray  # which part of a class it belongs to
    place: np.ndarray  # where the query stands
    previous: np.ndarray  # the token there
    right: np.ndarray  # the token that must lead
    margin: Bound  # by how much at least
    bounds: Box

    def __len__(self) -> int:
        return len(self.part)

    def __getitem__(self, rows: np.ndarray | slice) -> "Boxes":
        here = self.bounds
        rest = tuple(one[rows] for one in here.rest)
        bounds = Box(here.low[rows], here.high[rows], here.off[rows], rest)
        named = (self.part, self.place, self.previous, self.right, self.margin)
        part, place, previous, right, margin = (one[rows] for one in named)
        return Boxes(part, place, previous, right, margin, bounds)


@dataclass(frozen=True, eq=False)
class Gaps:
    """What was found over boxes, each number the worst over all other tokens."""

    margin: Bound  # box: the gap is at least this
    spare: Bound  # box: the gap less what rounding can take from it
    rounding: Bound  # box: half of what rounding can take
    effect: Bound  # coordinate box: how much the gaps change along it


def decide(tables: Tables, axes: tuple[Axes, ...], parts: list[Part], boxes: Boxes, rounding: float) -> float:
    """The largest rounding that was found; raises where a margin or the rounding is not confirmed."""
    found = 0.0
    for depth in range(DEPTH + 1):
        undecided = []
        for begin in range(0, len(boxes), CHUNK):
            some = boxes[slice(begin, begin + CHUNK)]
            gaps = gaps_over(tables, axes, some)
            sure = (gaps.margin >= CONFIRMED * some.margin) & (gaps.spare > 0) & (gaps.rounding <= rounding)
            found = max(found, float(gaps.rounding[sure].max(initial=0.0)))
            left = np.flatnonzero(~sure)
            if depth == DEPTH and len(left):
                raise refusal(parts, some, gaps, int(left[0]), rounding)
            undecided += [halved(some[left], gaps.effect[:, left])] if len(left) else []
        if not undecided:
            return found
        boxes = joined(undecided)
    return found


def refusal(parts: list[Part], boxes: Boxes, gaps: Gaps, which: int, rounding: float) -> ClaimError:
    """The sentence for a box that stays undecided."""
    name = f"{parts[boxes.part[which]].one}: token {boxes.right[which]}"
    margin, claimed, lost = gaps.margin[which], boxes.margin[which], 2 * gaps.rounding[which]
    if not margin >= CONFIRMED * claimed:
        return ClaimError(f"{name} is said to lead by {claimed:.6g}, but only {margin:.6g} can be confirmed")
    if not gaps.spare[which] > 0:
        return ClaimError(f"{name} leads by {margin:.6g}, but rounding can take {lost:.6g} from it")
    return ClaimError(
        f"{name}: rounding moves a logit by up to {lost / 2:.6g}, not {rounding:.6g} as claimed"
    )


def gaps_over(tables: Tables, axes: tuple[Axes, ...], boxes: Boxes) -> Gaps:
    """The gaps of the right logit to all others, over each box."""
    logits = tables.logits(boxes.place, boxes.previous, mixes_over(tables, axes, boxes.bounds))[:, 0]
    every = np.arange(len(boxes))
    right = logits[boxes.right, every]
    gap: Balls = right - logits  # tok box
    others = np.arange(logits.shape[0])[:, None] != boxes.right
    real = np.where(others, lower(gap.real()), np.inf)
    taken = replace(gap, error=(right.error + logits.error) * UP).drift()
    open_too = others & ~(upper(logits.over) < SHUT)
    effect = [most(gap.slopes[i] * gap.reach[i]) * others for i in range(boxes.bounds.low.shape[1])]
    return Gaps(
        margin=np.nan_to_num(real, nan=-np.inf).min(0),
        spare=np.nan_to_num(np.where(others, real - taken * UP, np.inf), nan=-np.inf).min(0),
        rounding=np.nan_to_num(np.where(open_too, taken / 2, 0.0), nan=np.inf).max(0),
        effect=np.nan_to_num(np.stack(effect), nan=np.inf).max(1),
    )


def mixes_over(tables: Tables, axes: tuple[Axes, ...], bounds: Box) -> list[Balls]:
    """Every head's mix as a function of the coordinates, `dim 1 box`, deployed errors along the axes."""
    coordinates = box(tables.ops.rules, list(bounds.low.T), list(bounds.high.T), list(bounds.off.T))
    mixes, first = [], 0
    for along, outside in zip(axes, bounds.rest, strict=True):
        mine = coordinates[first : first + len(along.axes)]
        mixes.append(mix_of(tables, along, mine, about_zero(outside.T)))
        first += len(along.axes)
    return mixes


def mix_of(tables: Tables, along: Axes, coordinates: list[Balls], outside: Arbs) -> Balls:
    """centre + axes . coordinates + what lies outside of them."""
    over = at = exactly(along.centre)[:, None] + outside  # dim box
    slopes: dict[int, Arbs] = {}
    for axis, coordinate in zip(exactly(along.axes), coordinates, strict=True):
        over, at = over + axis[:, None] * coordinate.over, at + axis[:, None] * coordinate.at
        slopes |= {name: (axis[:, None] * slope)[:, None] for name, slope in coordinate.slopes.items()}
    reach = coordinates[0].reach if coordinates else {}
    none = np.zeros((len(over), 1, over.shape[1]))
    return Balls(tables.ops.rules, over[:, None], none, at[:, None], slopes, reach)


def halved(boxes: Boxes, effect: Bound) -> Boxes:
    """Both halves of every box, along the coordinate with the largest effect."""
    along, every = effect.argmax(0), np.arange(len(boxes))
    low, high = boxes.bounds.low, boxes.bounds.high
    middle = (low + (high - low) / 2)[every, along]
    below, above = high.copy(), low.copy()
    below[every, along] = above[every, along] = middle
    lower_half = replace(boxes, bounds=replace(boxes.bounds, high=below))
    return joined([lower_half, replace(boxes, bounds=replace(boxes.bounds, low=above))])


def joined(several: list[Boxes]) -> Boxes:
    """All boxes in one."""

    def together(read: Callable[[Boxes], np.ndarray]) -> np.ndarray:
        return np.concatenate([read(one) for one in several])

    bounds = Box(
        together(lambda one: one.bounds.low),
        together(lambda one: one.bounds.high),
        together(lambda one: one.bounds.off),
        tuple(np.concatenate(rest) for rest in zip(*(one.bounds.rest for one in several), strict=True)),
    )
    return Boxes(
        together(lambda one: one.part),
        together(lambda one: one.place),
        together(lambda one: one.previous),
        together(lambda one: one.right),
        together(lambda one: one.margin),
        bounds,
    )
