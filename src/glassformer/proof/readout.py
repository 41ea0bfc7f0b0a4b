"""From the mix to the next token, over boxes of mixes: how far the right logit is above every other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.model.attention import Site
from glassformer.model.bounded import OWN, Bounded, coordinate, total
from glassformer.model.forward import ignore, prefix, read_out, settle
from glassformer.model.head import LowestHead
from glassformer.proof.extremes import Turn
from glassformer.proof.heads import Head
from glassformer.proof.tables import Tables

CHUNK = 4096  # boxes at a time
TURNED = 2.0**-44  # share by which turned axes may fail to be orthonormal


@dataclass(frozen=True, eq=False)
class Boxes:
    """Mixes between two corners, the query that they belong to, and the token that must come."""

    place: Int[np.ndarray, " box"]
    token: Int[np.ndarray, " box"]
    right: Bool[np.ndarray, "box tok"]
    low: Float[np.ndarray, "box coordinate"]
    high: Float[np.ndarray, "box coordinate"]
    turn: Turn | None = None  # the axes of each box, where they are not the heads'

    def __len__(self) -> int:
        return len(self.place)

    def take(self, rows: np.ndarray) -> "Boxes":
        fields = (self.place, self.token, self.right, self.low, self.high)
        place, token, right, low, high = (part[rows] for part in fields)
        return Boxes(place, token, right, low, high, None if self.turn is None else self.turn[rows])


class Gaps(NamedTuple):
    """Of the best right token over the others, for every box."""

    least: Float[np.ndarray, " box"]  # real numbers: the gap is at least this
    most: Float[np.ndarray, " box"]  # and at most this
    middle: Float[np.ndarray, " box"]  # and this at the centre
    error: Float[np.ndarray, " box"]  # half of what rounding may change a gap by
    is_right: Bool[np.ndarray, " box"]  # a right token has the largest deployed logit all over the box
    pull: Float[
        np.ndarray, "box coordinate"
    ]  # how much of the gap of the nearest rival each coordinate decides


def gaps(tables: Tables, boxes: Boxes) -> Gaps:
    """Every box, some at a time."""
    parts = [
        gaps_of(tables, boxes.take(np.arange(start, min(start + CHUNK, len(boxes)))))
        for start in range(0, len(boxes), CHUNK)
    ]
    return Gaps(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def gaps_of(tables: Tables, boxes: Boxes) -> Gaps:
    logits = logits_of(tables, boxes)  # tok box
    best = np.where(boxes.right.T, logits.centre, -np.inf).argmax(0)  # the right token with the best chance
    every = np.arange(len(boxes))
    right = logits[best, every]
    gap = right.centre - logits.centre  # tok box
    own = OWN * (np.abs(right.centre) + np.abs(logits.centre))
    slope = differing(right.slope, logits.slope)
    reach = total(slope) + right.radius + logits.radius + own
    error = total(differing(right.noise, logits.noise)) + right.error + logits.error
    least = (gap - reach * (1 + OWN)) - OWN * np.abs(gap)
    rivals = ~boxes.right.T
    least = np.where(rivals, least, np.inf)
    safe = (least > error * (1 + OWN)) | ~rivals
    nearest = np.where(rivals, least - error, np.inf).argmin(0)
    pull = np.zeros((boxes.low.shape[1], len(boxes))) if slope is None else np.abs(slope[:, nearest, every])
    most = np.where(rivals, gap + reach * (1 + OWN) + OWN * np.abs(gap), np.inf)
    return Gaps(
        least.min(0),
        most.min(0),
        np.where(rivals, gap, np.inf).min(0),
        np.where(rivals, error, 0.0)[: written(tables)].max(0) / 2,
        safe.all(0),
        pull.T,
    )


def written(tables: Tables) -> int:
    """How many tokens, from the first, the head gives scores; the others have a constant far below."""
    head, vocab = tables.model.architecture.head, tables.model.architecture.vocab
    return head.tokens if isinstance(head, LowestHead) else vocab


def differing(one: np.ndarray | None, every: np.ndarray | None) -> np.ndarray | None:
    return None if one is None or every is None else one[:, None] - every


def logits_of(tables: Tables, boxes: Boxes) -> Bounded:
    """`tok box`, by the model's own readout."""
    architecture, params = tables.model.architecture, tables.params
    ops = tables.ops.renewed(noises=tables.coordinates)
    kept = tables.stream[:, boxes.place, boxes.token][:, None]  # dim 1 box
    name, layer = prefix(architecture, tables.mixing), architecture.layers[tables.mixing]
    assert layer.attention
    site = Site(ops, params, f"{name}attn", kept, range(1))
    with np.errstate(over="ignore", invalid="ignore"):
        moved = layer.attention.write(site, mixes(tables, boxes), ignore)
        x = settle(layer, ops, params, name, kept, moved, ignore)
        for index in range(tables.mixing + 1, len(architecture.layers)):
            x = settle(architecture.layers[index], ops, params, prefix(architecture, index), x, None, ignore)
        logits: Bounded = read_out(architecture, ops, params, x, tables.token_table, ignore)
    return logits[:, 0]


def mixes(tables: Tables, boxes: Boxes) -> list[Bounded]:
    """Every head's mix, `dim 1 box`: centre + axes y, and what is aside of the axes."""
    floats, found, first = tables.ops.floats, list[Bounded](), 0
    for head in tables.heads:
        count = len(head.axes)
        value = exactly_float64(tables, np.repeat(head.centre[:, None, None], len(boxes), 2))
        noise = np.zeros((tables.coordinates, *value.shape))  # one a coordinate, for the error along its axis
        aside = head.aside[:, boxes.place, boxes.token][:, None]  # dim 1 box
        for axis in range(count):
            number = first + axis
            y = coordinate(floats, number, tables.coordinates, boxes.low[:, number], boxes.high[:, number])
            value = (
                value + exactly_float64(tables, direction(boxes, head, first, axis)[:, None]) * y[None, None]
            )
            noise[number, :, 0] = head.axes[axis][:, None] * head.widened[axis, boxes.place, boxes.token]
            if boxes.turn is not None:  # axes of length 1 and at right angles, but for our own rounding
                aside = aside + TURNED * np.maximum(
                    np.abs(boxes.low[:, number]), np.abs(boxes.high[:, number])
                )
        first += count
        found.append(
            Bounded(
                floats,
                value.centre,
                value.slope,
                value.radius + aside,
                noise if floats.unit else None,
                np.zeros(value.shape),
            )
        )
    return found


def direction(boxes: Boxes, head: Head, first: int, axis: int) -> Float[np.ndarray, "dim box"]:
    """Where a coordinate leads, in the space of the head's values."""
    if boxes.turn is None:
        return np.repeat(head.axes[axis][:, None], len(boxes), 1)
    found: np.ndarray = head.axes.T @ boxes.turn[:, first + axis, first : first + len(head.axes)].T
    return found


def exactly_float64(tables: Tables, value: np.ndarray) -> Bounded:
    """Numbers of the proof's own, not of the deployed precision."""
    zero = np.zeros(value.shape)
    return Bounded(tables.ops.floats, value, None, zero, None, zero)
