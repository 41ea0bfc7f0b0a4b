"""How far a mix can reach along any direction, over all contexts of a node.

Along the axes this gives a box, and along the slope of a hidden unit, or of a gap between logits, what
contexts reach and not the box's corner.
"""

import numpy as np
from jaxtyping import Float, Int

from glassformer.models.blocks import map_blocks
from glassformer.models.bounded import BoundedArray, add_rounding_bounds, bound_range, scale_parts
from glassformer.models.float_format import LEAST, OWN
from glassformer.models.ops import Value
from glassformer.models.ops_bounded import BoundedOps
from glassformer.proofs.extremes import SUMS
from glassformer.proofs.heads import HeadTable
from glassformer.proofs.means import maximise_mix
from glassformer.proofs.rule_nodes import Nodes

ROUNDS = 2  # of guessing how far a mix can reach
_CHUNK = 1 << 19  # numbers at a time, for the cache


def enclose_nodes(heads: tuple[HeadTable, ...], nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of all coordinates of all heads, `node coordinate` each."""
    sets, nothing_there = nodes.tokens[:, None], np.zeros((len(nodes), 0))
    highs, lows = [nothing_there], [nothing_there]
    for head in heads:
        low, high, rest = _select_node_weights(head, nodes)
        for sign, found in ((1.0, highs), (-1.0, lows)):
            centre, nothing = sign * head.along.centre[None], sign * head.nothing
            most = maximise_mix(centre, head.along.reach, nothing, sets, low, high, rest, ROUNDS)
            found.append(sign * most)
    return np.concatenate(lows, 1), np.concatenate(highs, 1)


def _select_node_weights(head: HeadTable, nodes: Nodes) -> list[np.ndarray]:
    """Low and high, `node 1 pos tok`, and the rest, `node 1`."""
    position, asking = nodes.length - 1, nodes.asking
    return [part[position, asking][:, None] for part in head.weights]


class Reach:
    """Linear functions of the coordinates of some boxes, over the contexts in them."""

    def __init__(self, heads: tuple[HeadTable, ...], nodes: Nodes, low: np.ndarray, high: np.ndarray) -> None:
        self.heads, self.nodes = heads, nodes
        middle = bound_range(BoundedOps("float64", real=True).floats, low, high)
        self.centre, self.radius = middle.centre, middle.radius  # box coordinate

    def most(
        self, slope: Float[np.ndarray, "coordinate pair"], box: Int[np.ndarray, " pair"]
    ) -> Float[np.ndarray, " pair"]:
        """Upper bounds of slope . y, y running from -1 to 1 over the box, for pairs of a slope and a box."""
        step = max(_CHUNK // self.nodes.tokens[0].size, 1)
        parts = [
            self.most_of(slope[:, start : start + step], box[start : start + step])
            for start in range(0, len(box), step)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def most_of(self, slope: np.ndarray, box: np.ndarray) -> np.ndarray:
        nodes, extent, found, first = self.nodes.take(box), self.radius[box].T, np.zeros(len(box)), 0
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.where(extent > LEAST, slope / extent, 0.0)  # coordinate pair
        for head in self.heads:
            axes = slice(first, first + len(head.axes))
            first = axes.stop
            if len(head.axes):
                found = found + _bound_farthest(head, nodes, pull[axes].T, self.centre[box, axes])
        corner = np.abs(slope).sum(0)
        return np.asarray(np.fmin(found + SUMS * np.abs(found), corner * (1 + SUMS)))


def _bound_farthest(
    head: HeadTable,
    nodes: Nodes,
    pull: Float[np.ndarray, "node axis"],
    middle: Float[np.ndarray, "node axis"],
) -> Float[np.ndarray, " node"]:
    """Upper bounds of pull . (mix - middle) over all contexts of a node."""
    size, here = np.abs(pull), (pull * middle).sum(1)
    centre = np.tensordot(pull, head.along.centre, 1) - here[:, None, None]  # node pos tok
    scale = np.tensordot(size, np.abs(head.along.centre) + head.along.reach, 1)
    scale += (size * np.abs(middle)).sum(1)[:, None, None]
    radius = np.tensordot(size, head.along.reach, 1) + SUMS * scale
    nothing = pull @ head.nothing - here + SUMS * (size @ np.abs(head.nothing) + np.abs(here))
    low, high, rest = _select_node_weights(head, nodes)
    sets, parts = nodes.tokens[:, None], (centre[:, None], radius[:, None], nothing[:, None])
    return maximise_mix(*parts, sets, low, high, rest, ROUNDS)[:, 0]


class TightOps(BoundedOps):
    """Bounds as ever, but a rectified unit may take no more than the contexts of its box give it."""

    def __init__(self, base: BoundedOps, reach: Reach) -> None:
        super().__init__(str(base.floats.dtype), real=not base.floats.unit, apart=base.apart)
        self.reach = reach

    def relu(self, x: Value) -> Value:
        return map_blocks(self.rectified, x)

    def rectified(self, x: BoundedArray) -> BoundedArray:
        """As `bound_hinge` with slopes 0 and 1, over the closer range."""
        low, high = self.range_of(x)
        crossing = (low < 0) & (high > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            chord = np.where(crossing, high / (high - low), 0.0)
        steep = np.where(crossing, chord, (low >= 0).astype(float))
        lift = np.where(crossing, 0.5 * high * (1 - chord), 0.0)
        radius = steep * x.radius + lift * (1 + 4 * OWN)
        error = np.where(crossing, x.off, steep * x.error)
        slope, noise = scale_parts(x.slope, steep), scale_parts(x.noise, np.where(crossing, 0.0, steep))
        return add_rounding_bounds(x.floats, steep * x.centre + lift, slope, radius, noise, error, units=0.0)

    def range_of(self, x: BoundedArray) -> tuple[np.ndarray, np.ndarray]:
        """Where real and deployed values of `unit 1 box` lie, looked at closely where the sign is open."""
        low, high = x.range()
        low, high = low - x.off, high + x.off
        unit, position, box = where = np.nonzero((low < 0) & (high > 0))
        if x.slope is None or not len(box):
            return low, high
        slope, centre = x.slope[:, unit, position, box], x.centre[where]
        aside = (x.radius + x.off)[where] + SUMS * (np.abs(centre) + x.size[where])
        high[where] = np.fmin(high[where], centre + self.reach.most(slope, box) + aside)
        low[where] = np.fmax(low[where], centre - self.reach.most(-slope, box) - aside)
        return low, high
