"""Deciding boxes of mixes: each is shown right as a whole, or cut in two along what decides it most."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.proofs.readout import BoxGaps, MixBoxes, bound_gaps
from glassformer.proofs.tables import ModelTables

CLOSE = 1e-3  # share of a margin by which the bound may stay below it
_CUTS = {1: 10, 2: 8}  # times that a box is cut in two, by the number of coordinates
_MANY_COORDINATES = 3  # times, for more of them: splitting the class is better then
_MUCH = 1e300  # of the gap: what a coordinate decides where that is not known
_FEW_EACH = 16  # boxes per row on average; beyond that cutting does not pay


class _DecidedBoxes(NamedTuple):
    """What became of every row's box."""

    is_right: Bool[np.ndarray, " row"]
    least: Float[np.ndarray, " row"]  # smallest gap, real numbers
    error: Float[np.ndarray, " row"]  # half of what rounding may change a gap by
    pull: Float[np.ndarray, "row coordinate"]  # what decides the gap over the whole box


def decide_boxes(
    tables: ModelTables, boxes: MixBoxes, target: Float[np.ndarray, " row"], cuts: int | None = None
) -> _DecidedBoxes:
    """Cut boxes until the gap is at least the row's target, and right in the deployed arithmetic.

    Where a box has a smaller gap than the target it is cut until that is known closely.
    """
    count, most_boxes = len(boxes), _FEW_EACH * len(boxes) + _FEW_EACH
    is_right, least = np.ones(count, bool), np.full(count, np.inf)
    error, pull = np.zeros(count), np.zeros(boxes.low.shape)
    owner, cuts = np.arange(count), _CUTS.get(tables.coordinates, _MANY_COORDINATES) if cuts is None else cuts
    goal = target.copy()
    for number in range(cuts + 1):
        found = bound_gaps(tables.in_real_numbers, boxes)
        pull = found.pull if number == 0 else pull
        np.minimum.at(goal, owner, found.middle * (1 - CLOSE))
        is_right[owner[found.middle <= 0]] = False  # no cut makes the centre right
        is_good = (found.least > 0) & (found.least >= goal[owner]) & is_right[owner]
        _account_rounding(tables, boxes, found, np.flatnonzero(is_good))
        done = found.is_right & (found.least >= goal[owner])
        settled = done | (number == cuts)
        np.minimum.at(least, owner[settled], found.least[settled])
        np.maximum.at(error, owner[settled], found.error[settled])
        is_right[owner[settled & ~found.is_right]] = False
        going = np.flatnonzero(~settled & is_right[owner])
        if not len(going) or len(going) > most_boxes:
            is_right[owner[going]], least[owner[going]], error[owner[going]] = False, -np.inf, np.inf
            break
        boxes, owner = _halve_mix_boxes(boxes.take(going), found.pull[going]), np.tile(owner[going], 2)
    return _DecidedBoxes(is_right, least, error, pull)


def _account_rounding(
    tables: ModelTables, boxes: MixBoxes, found: BoxGaps, rows: Int[np.ndarray, " chosen"]
) -> None:
    """Only boxes that are right in real numbers are worth the account of rounding."""
    if not tables.ops.floats.unit:
        return
    found.is_right[:], found.error[:] = False, np.inf
    if len(rows):
        for into, part in zip(found, bound_gaps(tables, boxes.take(rows)), strict=True):
            into[rows] = part


def _halve_mix_boxes(boxes: MixBoxes, pull: Float[np.ndarray, "box coordinate"]) -> MixBoxes:
    """Both halves of every box, first all the lower ones.

    What a cut gains is the bend, which grows with the square of the width: so of two coordinates that decide
    as much the wider one is cut. The root of the width has proved to be the best weight.
    """
    decides = np.nan_to_num(pull, nan=_MUCH) * np.sqrt(boxes.high - boxes.low)
    rows, across = np.arange(len(boxes)), decides.argmax(1)
    middle = (boxes.low[rows, across] + boxes.high[rows, across]) / 2
    low, high = boxes.low.copy(), boxes.high.copy()
    low[rows, across], high[rows, across] = middle, middle
    position, token, right = (
        np.concatenate([part, part]) for part in (boxes.position, boxes.token, boxes.right)
    )
    return MixBoxes(
        position,
        token,
        right,
        np.concatenate([boxes.low, low]),
        np.concatenate([high, boxes.high]),
        None if boxes.turn is None else np.concatenate([boxes.turn, boxes.turn]),
    )
