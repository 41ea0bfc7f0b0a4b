"""Whether all contexts of a node are right, or all wrong: a box around their mixes, and the readout over it.

The largest value of a coordinate sum w a / (c + sum w) over independent tokens is found as Dinkelbach has it:
guess it, take at every place the token that makes w (a - guess) largest, and guess their ratio next. Whatever
the guess, guess + largest sum / smallest denominator is an upper bound. Along the slope of a logit's gap the
same gives the exact extreme where the box has only a corner.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from glassformer.model.bounded import LEAST, OWN, Bounded, between, total
from glassformer.proof.heads import Head
from glassformer.proof.readout import NEVER, Boxes, logits_of
from glassformer.proof.rule_nodes import Nodes
from glassformer.proof.tables import Tables

ROUNDS = 4  # of Dinkelbach; it converges faster than any power, and any guess gives a bound
SUMS = 128 * OWN  # share by which a sum of our own over all places may be off
NEAREST = 3  # rivals whose gaps are bounded more closely
CHUNK = 1 << 21  # numbers at a time

Sets = Bool[np.ndarray, "node pos tok"]


class Judged(NamedTuple):
    """What is known of the margin (best allowed logit minus best other one) all over each node."""

    least: Float[np.ndarray, " node"]  # the real margin is at least this
    off: Float[np.ndarray, " node"]  # the deployed margin is at most so far from the real one
    is_right: Bool[np.ndarray, " node"]  # everywhere, in the deployed arithmetic
    is_wrong: Bool[np.ndarray, " node"]  # everywhere, in the deployed arithmetic
    worth: Float[np.ndarray, "node pos tok"]  # what a token at a place adds to the margin, about


def judge(tables: Tables, rounded: Tables, nodes: Nodes, allowed: Bool[np.ndarray, "demand tok"]) -> Judged:
    """Every node, some at a time; `rounded` says what rounding does, also if `tables` are of real numbers."""
    if not len(nodes):
        none = np.zeros(0)
        return Judged(none, none, none > 0, none > 0, np.zeros(nodes.tokens.shape))
    size = max(tables.coordinates, 1) * nodes.tokens[0].size * 2
    step = max(CHUNK // size, 1)
    parts = [
        judge_some(tables, rounded, nodes.take(np.arange(start, min(start + step, len(nodes)))), allowed)
        for start in range(0, len(nodes), step)
    ]
    return Judged(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def judge_some(
    tables: Tables, rounded: Tables, nodes: Nodes, allowed: Bool[np.ndarray, "demand tok"]
) -> Judged:
    low, high = enclosed(tables.heads, nodes)
    boxes = Boxes(nodes.length - 1, nodes.asking, allowed[nodes.demand], low, high)
    logits = logits_of(tables, boxes)  # tok box
    is_open, right = logits.centre > NEVER, boxes.right.T
    off = logits.off if rounded is tables else logits_of(rounded, boxes).off
    off = 2 * np.where(is_open, off, 0.0).max(0) * (1 + OWN)
    for_right, for_wrong = seen_from(logits, right & is_open), seen_from(logits, ~right & is_open)
    least, is_right = for_right.above(tables, nodes, boxes, ~right & is_open)
    _, is_wrong = for_wrong.above(tables, nodes, boxes, right & is_open)
    lean = for_right.towards_nearest(~right & is_open)
    return Judged(least, off, is_right, is_wrong, worths(tables, nodes, (low + high) / 2, lean))


class Side(NamedTuple):
    """Every logit seen from the best of some tokens: that one minus each."""

    gap: Float[np.ndarray, "tok box"]
    slope: Float[np.ndarray, "coordinate tok box"]
    other: Float[np.ndarray, "tok box"]  # by which a gap may be off the linear part
    error: Float[np.ndarray, "tok box"]  # by which rounding may change a gap

    @property
    def least(self) -> Float[np.ndarray, "tok box"]:
        """The gaps' lower bounds over the box."""
        reach = total(self.slope) + self.other
        found: np.ndarray = (self.gap - reach * (1 + OWN)) - OWN * np.abs(self.gap)
        return found

    def towards_nearest(self, rivals: Bool[np.ndarray, "tok box"]) -> Float[np.ndarray, "box coordinate"]:
        """The slope of the smallest gap."""
        nearest = np.where(rivals, self.least, np.inf).argmin(0)
        return self.slope[:, nearest, np.arange(rivals.shape[1])].T

    def above(
        self, tables: Tables, nodes: Nodes, boxes: Boxes, rivals: Bool[np.ndarray, "tok box"]
    ) -> tuple[Float[np.ndarray, " box"], Bool[np.ndarray, " box"]]:
        """The least gap to the rivals, and whether all are surely below."""
        least, error = np.where(rivals, self.least, np.inf), self.error * (1 + OWN)
        rows = np.flatnonzero((~(least > error) & rivals).any(0) & ((self.gap > error) | ~rivals).all(0))
        if len(rows):
            nearest = np.argsort(least[:, rows], axis=0)[:NEAREST]  # rival row
            better = self.along(tables, nodes.take(rows), boxes.take(rows), nearest, rows)
            least[nearest, rows] = np.fmax(
                least[nearest, rows], np.where(rivals[nearest, rows], better, np.inf)
            )
        is_above = ((least > error) | ~rivals).all(0) & np.isfinite(self.gap).any(0)
        return least.min(0), is_above

    def along(
        self, tables: Tables, nodes: Nodes, boxes: Boxes, rival: np.ndarray, rows: np.ndarray
    ) -> Float[np.ndarray, "rival row"]:
        """Gaps' lower bounds with the exact extreme of the linear part, where the box has a corner."""
        middle = between(tables.ops.floats, boxes.low, boxes.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = self.slope[:, rival, rows] / middle.radius.T[:, None]  # coordinate rival row
        steep = np.where(middle.radius.T[:, None] > LEAST, steep, 0.0)
        found, first = self.gap[rival, rows] - self.other[rival, rows] * (1 + OWN), 0
        for head in tables.heads:
            axes = slice(first, first + len(head.axes))
            first = axes.stop
            if len(head.axes):
                pull = np.moveaxis(steep[axes], 2, 0).transpose(0, 2, 1)  # row rival axis
                found = found - farthest(head, nodes, -pull, middle.centre[:, axes]).T
        return found - SUMS * np.abs(found)


def seen_from(logits: Bounded, chosen: Bool[np.ndarray, "tok box"]) -> Side:
    """Differences to the chosen token with the largest centre; what both share cancels."""
    centre, every = logits.centre, np.arange(logits.shape[1])
    best = np.where(chosen, centre, -np.inf).argmax(0)
    top = np.where(chosen.any(0), centre[best, every], -np.inf)
    own = OWN * (np.abs(top) + np.abs(centre))
    slope, noise = (
        np.zeros((1, *centre.shape)) if parts is None else parts[:, best, every][:, None] - parts
        for parts in (logits.slope, logits.noise)
    )
    radius, error = (part[best, every] + part for part in (logits.radius, logits.error))
    return Side(top - centre, slope, radius + own, total(noise) + error)


def farthest(
    head: Head,
    nodes: Nodes,
    pull: Float[np.ndarray, "node rival axis"],
    middle: Float[np.ndarray, "node axis"],
) -> Float[np.ndarray, "node rival"]:
    """Upper bounds of pull . (mix - middle) over all contexts of a node."""
    place, asking = nodes.length - 1, nodes.asking
    weights = [part[place, asking][:, None] for part in head.weights]
    centre = (
        np.tensordot(pull, head.along.centre, 1) - (pull @ middle[:, :, None])[..., None]
    )  # node rival pos tok
    size = np.tensordot(np.abs(pull), np.abs(head.along.centre) + head.along.reach, 1)
    size += (np.abs(pull) @ np.abs(middle)[:, :, None])[..., None]
    radius = np.tensordot(np.abs(pull), head.along.reach, 1) + SUMS * size
    nothing = (pull * (head.nothing - middle[:, None])).sum(2)
    if head.weights.rest.any():
        nothing = nothing + SUMS * size.max((2, 3))
    return largest(centre, radius, nothing, nodes.tokens[:, None], *weights)


def worths(
    tables: Tables, nodes: Nodes, middle: np.ndarray, lean: np.ndarray
) -> Float[np.ndarray, "node pos tok"]:
    """A token's weight x (value - middle) along the direction in which the margin grows."""
    found, first = np.zeros(nodes.tokens.shape), 0
    for head in tables.heads:
        axes = slice(first, first + len(head.axes))
        first = axes.stop
        weights = head.weights.high[nodes.length - 1, nodes.asking]  # node pos tok
        most = np.where(nodes.tokens, weights, 0.0).max(2).sum(1) + LEAST
        pull, here = lean[:, axes], middle[:, axes]
        towards = np.tensordot(pull, head.along.centre, 1) - (pull * here).sum(1)[:, None, None]
        found += weights * towards / most[:, None, None]
    return np.nan_to_num(found)


def enclosed(heads: tuple[Head, ...], nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of all coordinates of all heads, `node coordinate` each."""
    if not any(len(head.axes) for head in heads):
        return np.zeros((len(nodes), 0)), np.zeros((len(nodes), 0))
    place, asking = nodes.length - 1, nodes.asking
    highs: list[np.ndarray] = []
    lows: list[np.ndarray] = []
    for head in heads:
        weights = [part[place, asking][:, None] for part in head.weights]  # node 1 pos tok; node 1
        for sign, found in ((1.0, highs), (-1.0, lows)):
            centre, nothing = sign * head.along.centre[None], sign * head.nothing
            found.append(sign * largest(centre, head.along.reach, nothing, nodes.tokens[:, None], *weights))
    return np.concatenate(lows, 1), np.concatenate(highs, 1)


def largest(
    centre: np.ndarray,
    radius: np.ndarray,
    nothing: np.ndarray,
    sets: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    rest: np.ndarray,
) -> Float[np.ndarray, "node axis"]:
    """Upper bounds of the mix of centre, give or take a radius; arrays are `node axis pos tok`."""
    value = centre + radius
    guess = np.broadcast_to(centre.mean((2, 3)), (len(sets), centre.shape[1]))
    for turn in range(ROUNDS):
        moved = value - guess[:, :, None, None]
        moved = moved + OWN * (np.abs(value) + np.abs(guess[:, :, None, None]))
        chosen = np.where(moved > 0, high, low)
        terms = np.where(sets, chosen * moved, -np.inf)
        if turn == ROUNDS - 1:
            break
        best = terms.argmax(3)[..., None]
        weight = np.take_along_axis(np.broadcast_to((low + high) / 2, terms.shape), best, 3)[..., 0]
        along = np.take_along_axis(np.broadcast_to(centre, terms.shape), best, 3)[..., 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = ((weight * along).sum(2) + rest * nothing) / (weight.sum(2) + rest)
        guess = np.where(np.isfinite(ratio), ratio, guess)
    return raised(sets, low, high, rest, guess, terms, rest * (nothing - guess))


def raised(
    sets: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    rest: np.ndarray,
    guess: np.ndarray,
    terms: np.ndarray,
    extra: np.ndarray,
) -> Float[np.ndarray, "node axis"]:
    """guess + largest sum / smallest denominator (the largest where the sum is negative), rounded up."""
    best = terms.max(3)
    scale = np.abs(best).sum(2) + np.abs(extra)
    gain = best.sum(2) + extra + SUMS * scale
    least = np.where(sets, low, np.inf).min(3).sum(2) + rest
    most = np.where(sets, high, 0.0).max(3).sum(2) + rest
    with np.errstate(divide="ignore"):
        found: np.ndarray = guess + gain / np.where(gain > 0, least * (1 - SUMS), most * (1 + SUMS))
    return found + OWN * (np.abs(found) + np.abs(guess)) + LEAST
