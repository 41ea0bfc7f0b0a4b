"""Deciding boxes of mixes: each is shown right as a whole, or cut in two along what decides it most."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from glassformer.proofs.readout import BoxGaps, MixBoxes, bound_gaps
from glassformer.proofs.tables import ModelTables

_CUTS = {1: 10, 2: 6}  # times that a box is cut in two, by the number of coordinates
_MANY_COORDINATES = 3  # times, for more of them: splitting the class is better then
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
    """Cut boxes until the gap is at least the row's target, and right in the deployed arithmetic."""
    count, most_boxes = len(boxes), _FEW_EACH * len(boxes) + _FEW_EACH
    is_right, least = np.ones(count, bool), np.full(count, np.inf)
    error, pull = np.zeros(count), np.zeros(boxes.low.shape)
    owner, cuts = np.arange(count), _CUTS.get(tables.coordinates, _MANY_COORDINATES) if cuts is None else cuts
    for number in range(cuts + 1):
        found = _bound_hopeful_gaps(tables, boxes, target[owner])
        if number == 0:
            pull = found.pull
        done = found.is_right & (found.least >= target[owner])
        hopeless = ~done & ((found.most <= 0) | (number == cuts))
        settled = done | hopeless
        np.minimum.at(least, owner[settled], found.least[settled])
        np.maximum.at(error, owner[settled], found.error[settled])
        is_right[owner[hopeless & ~found.is_right]] = False
        going = np.flatnonzero(~done & ~hopeless & is_right[owner])
        if not len(going) or len(going) > most_boxes:
            is_right[owner[going]], least[owner[going]], error[owner[going]] = False, -np.inf, np.inf
            break
        boxes, owner = _halve_mix_boxes(boxes.take(going), found.pull[going]), np.tile(owner[going], 2)
    return _DecidedBoxes(is_right, least, error, pull)


def _bound_hopeful_gaps(tables: ModelTables, boxes: MixBoxes, target: Float[np.ndarray, " box"]) -> BoxGaps:
    """The gaps in real numbers first: only boxes that are right there are worth the account of rounding."""
    found = bound_gaps(tables.in_real_numbers, boxes)
    if not tables.ops.floats.unit:
        return found
    rows = np.flatnonzero((found.least > 0) & (found.least >= target))
    found.is_right[:], found.error[:] = False, np.inf
    if len(rows):
        for into, part in zip(found, bound_gaps(tables, boxes.take(rows)), strict=True):
            into[rows] = part
    return found


def _halve_mix_boxes(boxes: MixBoxes, pull: Float[np.ndarray, "box coordinate"]) -> MixBoxes:
    """Both halves of every box, first all the lower ones."""
    rows, across = np.arange(len(boxes)), np.nan_to_num(pull, nan=np.inf).argmax(1)
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
