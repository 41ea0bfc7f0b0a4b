"""Whether all contexts of a node are right, or all wrong: a box around their mixes, and the readout over it.

The box is judged as a whole at first. Where that nearly decides, hidden units and gaps are bounded again, by
what the contexts of the node can do and not by the corners of its box.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.models.bounded import BoundedArray, sum_magnitudes
from glassformer.models.float_format import LEAST, OWN, widen_own
from glassformer.proofs.extremes import SUMS
from glassformer.proofs.readout import MixBoxes, bound_box_logits, count_scored_tokens
from glassformer.proofs.rule_nodes import Nodes
from glassformer.proofs.rule_supports import Reach, TightOps, enclose_nodes
from glassformer.proofs.tables import ModelTables

_NEARLY = 1.5  # a bound this many gaps below 0 may yet be raised above it
_NEAREST = 3  # rivals whose gaps are bounded more closely
_CHUNK = 1 << 21  # numbers at a time
_ROOM = 0.3  # share of the gap in the middle that must be left: a checker halves a box that is barely decided
_SPARE = 2.0  # times the rounding error, for a checker whose own bounds of it may be larger


class NodeMargins(NamedTuple):
    """What is known of the margin (best allowed logit minus best other one) all over each node."""

    least: Float[np.ndarray, " node"]  # the real margin is at least this
    off: Float[np.ndarray, " node"]  # the deployed margin is at most so far from the real one
    is_right: Bool[np.ndarray, " node"]  # everywhere, in the deployed arithmetic
    is_wrong: Bool[np.ndarray, " node"]  # everywhere, in the deployed arithmetic
    worth: Float[np.ndarray, "node pos tok"]  # what a token at a position adds to the margin, about
    is_near: Bool[np.ndarray, " node"]  # undecided, but not by far


def judge_nodes(
    tables: ModelTables, rounded: ModelTables, nodes: Nodes, allowed: Bool[np.ndarray, "demand tok"]
) -> NodeMargins:
    """Every node, some at a time; `rounded` says what rounding does, also if `tables` are of real numbers."""
    if not len(nodes):
        none = np.zeros(0)
        return NodeMargins(none, none, none > 0, none > 0, np.zeros(nodes.tokens.shape), none > 0)
    size = max(tables.coordinates, 1) * nodes.tokens[0].size * 2
    step = max(_CHUNK // size, 1)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows stays undecided
        parts = [
            _judge_node_batch(
                tables, rounded, nodes.take(np.arange(start, min(start + step, len(nodes)))), allowed
            )
            for start in range(0, len(nodes), step)
        ]
    return NodeMargins(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def judge_plain_boxes(
    tables: ModelTables, nodes: Nodes, allowed: Bool[np.ndarray, "demand tok"]
) -> tuple[NodeMargins, Int[np.ndarray, " node"]]:
    """By boxes alone, with room to spare for another program that bounds boxes; and which token leads."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = enclose_nodes(tables.heads, nodes)
        boxes = MixBoxes(nodes.length - 1, nodes.asking, allowed[nodes.demand], low, high)
        logits, right = bound_box_logits(tables, boxes), boxes.right.T
        for_right, for_wrong = _subtract_from_best(logits, right), _subtract_from_best(logits, ~right)
        least = np.where(~right, for_right.least, np.inf).min(0)
        is_right, is_wrong = for_right.is_surely_above(~right), for_wrong.is_surely_above(right)
        worth = _measure_token_worths(tables, nodes, (low + high) / 2, for_right.towards_nearest(~right))
        leader = np.where(np.where(is_wrong, ~right, right), logits.centre, -np.inf).argmax(0)
    left = ~is_right & ~is_wrong
    return NodeMargins(least, np.zeros(len(nodes)), is_right, is_wrong, worth, left), leader


def _judge_node_batch(
    tables: ModelTables, rounded: ModelTables, nodes: Nodes, allowed: Bool[np.ndarray, "demand tok"]
) -> NodeMargins:
    """By boxes, and again, more closely, where that is near a decision."""
    low, high = enclose_nodes(tables.heads, nodes)
    boxes = MixBoxes(nodes.length - 1, nodes.asking, allowed[nodes.demand], low, high)
    judged = _judge_node_boxes(tables, rounded, nodes, boxes)
    near = np.flatnonzero(judged.is_near)
    if len(near):
        some, of_some = nodes.take(near), boxes.take(near)
        ops = TightOps(tables.ops, Reach(tables.heads, some, of_some.low, of_some.high))
        closer = _judge_node_boxes(replace(tables, ops=ops), rounded, some, of_some)
        for part, better in zip(judged, closer, strict=True):
            part[near] = better
    return judged


def _judge_node_boxes(
    tables: ModelTables, rounded: ModelTables, nodes: Nodes, boxes: MixBoxes
) -> NodeMargins:
    logits = bound_box_logits(tables, boxes)  # tok box
    off = logits.off if tables.ops.unit else bound_box_logits(rounded, boxes).off
    off = 2 * off[: count_scored_tokens(tables.model.architecture)].max(0) * (1 + OWN)
    right = boxes.right.T
    reach = Reach(tables.heads, nodes, boxes.low, boxes.high)
    for_right, for_wrong = _subtract_from_best(logits, right), _subtract_from_best(logits, ~right)
    least, is_right = for_right.above(reach, ~right)
    _, is_wrong = for_wrong.above(reach, right)
    is_near = for_right.is_near(~right) | for_wrong.is_near(right)
    lean = for_right.towards_nearest(~right)
    worth = _measure_token_worths(tables, nodes, (boxes.low + boxes.high) / 2, lean)
    return NodeMargins(least, off, is_right, is_wrong, worth, is_near & ~is_right & ~is_wrong)


class _LogitDifferences(NamedTuple):
    """Every logit seen from the best of some tokens: that one minus each."""

    gap: Float[np.ndarray, "tok box"]
    slope: Float[np.ndarray, "coordinate tok box"]
    other: Float[np.ndarray, "tok box"]  # by which a gap may be off the linear part
    error: Float[np.ndarray, "tok box"]  # by which rounding may change a gap

    @property
    def least(self) -> Float[np.ndarray, "tok box"]:
        """The gaps' lower bounds over the box."""
        reach = sum_magnitudes(self.slope) + self.other
        found: np.ndarray = (self.gap - reach * widen_own()) - OWN * np.abs(self.gap)
        return found

    def towards_nearest(self, rivals: Bool[np.ndarray, "tok box"]) -> Float[np.ndarray, "box coordinate"]:
        """The slope of the smallest gap."""
        nearest = np.where(rivals, self.least, np.inf).argmin(0)
        found: np.ndarray = self.slope[:, nearest, np.arange(rivals.shape[1])].T
        return found

    def is_near(self, rivals: Bool[np.ndarray, "tok box"]) -> Bool[np.ndarray, " box"]:
        """Whether all gaps are positive in the middle, and not negative by far anywhere."""
        near = (self.gap > 0) & (self.least > -_NEARLY * self.gap)
        found: np.ndarray = (near | ~rivals).all(0)
        return found

    def is_surely_above(self, rivals: Bool[np.ndarray, "tok box"]) -> Bool[np.ndarray, " box"]:
        """Whether all gaps to rivals are above 0 all over the box, by _SPARE times what rounding may take."""
        is_clear = (self.least > _SPARE * self.error) & (self.least > _ROOM * self.gap)
        is_above: np.ndarray = (is_clear | ~rivals).all(0)
        is_above &= np.isfinite(self.gap).any(0)
        return is_above

    def above(
        self, reach: Reach, rivals: Bool[np.ndarray, "tok box"]
    ) -> tuple[Float[np.ndarray, " box"], Bool[np.ndarray, " box"]]:
        """The least gap to the rivals, and whether all are surely below."""
        least, error = np.where(rivals, self.least, np.inf), self.error * widen_own()
        rows = np.flatnonzero((~(least > error) & rivals).any(0) & self.is_near(rivals))
        for nearest in np.argsort(least[:, rows], axis=0)[:_NEAREST]:  # one rival per row
            better = self.gap[nearest, rows] - self.other[nearest, rows] * widen_own()
            better = better - reach.most(-self.slope[:, nearest, rows], rows)
            better = better - SUMS * (np.abs(better) + np.abs(self.gap[nearest, rows]))
            better = np.where(rivals[nearest, rows], better, np.inf)
            least[nearest, rows] = np.fmax(least[nearest, rows], better)
        is_above: np.ndarray = ((least > error) | ~rivals).all(0) & np.isfinite(self.gap).any(0)
        return least.min(0), is_above


def _subtract_from_best(logits: BoundedArray, chosen: Bool[np.ndarray, "tok box"]) -> _LogitDifferences:
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
    return _LogitDifferences(top - centre, slope, radius + own, sum_magnitudes(noise) + error)


def _measure_token_worths(
    tables: ModelTables, nodes: Nodes, middle: np.ndarray, lean: np.ndarray
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
