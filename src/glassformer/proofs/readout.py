"""From the mix to the next token, over boxes of mixes: how far the right logit is above every other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.spread import map_threads
from glassformer.models.architecture import Architecture
from glassformer.models.attention import AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.bounded import BoundedArray, bound_coordinate, sum_magnitudes
from glassformer.models.float_format import OWN, widen_own
from glassformer.models.forward import finish_layer, format_layer_prefix, ignore_record, read_out_logits
from glassformer.models.head import LowestHead
from glassformer.models.ops_bounded import BoundedOps
from glassformer.proofs.extremes import Turn
from glassformer.proofs.heads import HeadTable
from glassformer.proofs.tables import ModelTables

_CHUNK = 8192  # boxes at a time
_TURNED = 2.0**-44  # share by which turned axes may fail to be orthonormal


@dataclass(frozen=True, eq=False)
class MixBoxes:
    """Mixes between two corners, the query that they belong to, and the token that must come."""

    position: Int[np.ndarray, " box"]
    token: Int[np.ndarray, " box"]
    right: Bool[np.ndarray, "box tok"]
    low: Float[np.ndarray, "box coordinate"]
    high: Float[np.ndarray, "box coordinate"]
    turn: Turn | None = None  # the axes of each box, where they are not the heads'

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: np.ndarray) -> "MixBoxes":
        fields = (self.position, self.token, self.right, self.low, self.high)
        position, token, right, low, high = (part[rows] for part in fields)
        return MixBoxes(position, token, right, low, high, None if self.turn is None else self.turn[rows])


class BoxGaps(NamedTuple):
    """Of the best right token over the others, for every box."""

    least: Float[np.ndarray, " box"]  # real numbers: the gap is at least this
    most: Float[np.ndarray, " box"]  # and at most this
    middle: Float[np.ndarray, " box"]  # and this at the centre
    error: Float[np.ndarray, " box"]  # half of what rounding may change a gap by
    is_right: Bool[np.ndarray, " box"]  # a right token has the largest deployed logit all over the box
    pull: Float[
        np.ndarray, "box coordinate"
    ]  # how much of the gap of the nearest rival each coordinate decides


def bound_gaps(tables: ModelTables, boxes: MixBoxes) -> BoxGaps:
    """Every box, some at a time."""

    def bound_some(start: int) -> BoxGaps:
        with np.errstate(all="ignore"):  # which a thread does not take over
            return _bound_batch_gaps(tables, boxes.take(np.arange(start, min(start + _CHUNK, len(boxes)))))

    starts = range(0, len(boxes), _CHUNK)
    parts = list((map_threads if len(starts) > 1 else map)(bound_some, starts))
    return BoxGaps(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _bound_batch_gaps(tables: ModelTables, boxes: MixBoxes) -> BoxGaps:
    logits = bound_box_logits(tables, boxes)  # tok box
    best = np.where(boxes.right.T, logits.centre, -np.inf).argmax(0)  # the right token with the best chance
    every = np.arange(len(boxes))
    right = logits[best, every]
    gap = right.centre - logits.centre  # tok box
    own = OWN * (np.abs(right.centre) + np.abs(logits.centre))
    slope = _subtract_each(right.slope, logits.slope)
    reach = sum_magnitudes(slope) + right.radius + logits.radius + own
    error = sum_magnitudes(_subtract_each(right.noise, logits.noise)) + right.error + logits.error
    least = (gap - reach * widen_own()) - OWN * np.abs(gap)
    rivals = ~boxes.right.T
    least = np.where(rivals, least, np.inf)
    safe = (least > error * widen_own()) | ~rivals
    nearest = np.where(rivals, least - error, np.inf).argmin(0)
    pull = np.zeros((boxes.low.shape[1], len(boxes))) if slope is None else np.abs(slope[:, nearest, every])
    most = np.where(rivals, gap + reach * widen_own() + OWN * np.abs(gap), np.inf)
    return BoxGaps(
        least.min(0),
        most.min(0),
        np.where(rivals, gap, np.inf).min(0),
        np.where(rivals, error, 0.0)[: count_scored_tokens(tables.model.architecture)].max(0) / 2,
        safe.all(0),
        pull.T,
    )


def count_scored_tokens(architecture: Architecture) -> int:
    """How many tokens, from the first, the head gives scores; the others have a constant far below."""
    head = architecture.head
    return head.tokens if isinstance(head, LowestHead) else architecture.vocab


def _subtract_each(one: np.ndarray | None, every: np.ndarray | None) -> np.ndarray | None:
    return None if one is None or every is None else one[:, None] - every


def bound_box_logits(tables: ModelTables, boxes: MixBoxes) -> BoundedArray:
    """`tok box`, by the model's own readout."""
    architecture, params = tables.model.architecture, tables.params
    ops = tables.ops.renewed(noises=tables.coordinates)
    kept = tables.stream[:, boxes.position, boxes.token][:, None]  # dim 1 box
    name, layer = format_layer_prefix(architecture, tables.mixing), architecture.layers[tables.mixing]
    assert layer.attention
    site = AttentionSite(ops, params, f"{name}attn", kept, range(1))
    with np.errstate(over="ignore", invalid="ignore"):
        moved = layer.attention.write(site, _enclose_box_mixes(tables, boxes), ignore_record)
        x = finish_layer(layer, ops, params, name, kept, moved, ignore_record)
        for index in range(tables.mixing + 1, len(architecture.layers)):
            layer, name = architecture.layers[index], format_layer_prefix(architecture, index)
            moved = _write_later_mixes(tables, index, ops, x, boxes) if layer.attention else None
            x = finish_layer(layer, ops, params, name, x, moved, ignore_record)
        logits: BoundedArray = read_out_logits(
            architecture, ops, params, x, tables.token_table, ignore_record
        )
    return logits[:, 0]


def _write_later_mixes(
    tables: ModelTables, index: int, ops: BoundedOps, x: BoundedArray, boxes: MixBoxes
) -> BoundedArray:
    """What a layer behind the mix writes, whatever the other positions hold."""
    architecture = tables.model.architecture
    attention, name = architecture.layers[index].attention, format_layer_prefix(architecture, index)
    assert attention
    site = AttentionSite(ops, tables.params, f"{name}attn", to_dense(x), range(1))
    mixes = [mix[:, boxes.position, boxes.token][:, None] for mix in tables.later[index]]  # dim 1 box
    written: BoundedArray = attention.write(site, mixes, ignore_record)
    return written


def _enclose_box_mixes(tables: ModelTables, boxes: MixBoxes) -> list[BoundedArray]:
    """Every head's mix, `dim 1 box`: centre + axes y, and what is aside of the axes."""
    floats, found, first = tables.ops.floats, list[BoundedArray](), 0
    for head in tables.heads:
        count = len(head.axes)
        value = _to_exact_bounded(tables, np.repeat(head.centre[:, None, None], len(boxes), 2))
        noise = np.zeros((tables.coordinates, *value.shape))  # per coordinate, for the error along its axis
        aside = head.aside[:, boxes.position, boxes.token][:, None]  # dim 1 box
        for axis in range(count):
            number = first + axis
            y = bound_coordinate(
                floats, number, tables.coordinates, boxes.low[:, number], boxes.high[:, number]
            )
            value = (
                value
                + _to_exact_bounded(tables, _find_coordinate_direction(boxes, head, first, axis)[:, None])
                * y[None, None]
            )
            noise[number, :, 0] = head.axes[axis][:, None] * head.widened[axis, boxes.position, boxes.token]
            if boxes.turn is not None:  # axes of length 1 and at right angles, but for our own rounding
                aside = aside + _TURNED * np.maximum(
                    np.abs(boxes.low[:, number]), np.abs(boxes.high[:, number])
                )
        first += count
        found.append(
            BoundedArray(
                floats,
                value.centre,
                value.slope,
                value.radius + aside,
                noise if floats.unit else None,
                np.zeros(value.shape),
            )
        )
    return found


def is_turn(turn: Turn) -> Bool[np.ndarray, " row"]:
    """Whether axes have length 1 and stand at right angles, to within half of what `_TURNED` allows."""
    count = turn.shape[1]
    off = np.abs(turn.transpose(0, 2, 1) @ turn - np.eye(count)).sum(2).max(1)  # at least the norm
    found: np.ndarray = off < _TURNED / 2 - count * count * OWN
    return found


def _find_coordinate_direction(
    boxes: MixBoxes, head: HeadTable, first: int, axis: int
) -> Float[np.ndarray, "dim box"]:
    """Where a coordinate leads, in the space of the head's values."""
    if boxes.turn is None:
        return np.repeat(head.axes[axis][:, None], len(boxes), 1)
    found: np.ndarray = head.axes.T @ boxes.turn[:, first + axis, first : first + len(head.axes)].T
    return found


def _to_exact_bounded(tables: ModelTables, value: np.ndarray) -> BoundedArray:
    """Numbers of the proof's own, not of the deployed precision."""
    zero = np.zeros(value.shape)
    return BoundedArray(tables.ops.floats, value, None, zero, None, zero)
