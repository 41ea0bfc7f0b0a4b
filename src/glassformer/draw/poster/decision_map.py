"""Which digit the rest of a model writes, for a grid of attention's outputs.

The map runs the model's own pass from attention's output on: along the main direction, a row for each token
that stands at the place; or along the two main directions, for the token that stands there most often.
"""

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.picture import Data
from glassformer.draw.poster.directions import outputs
from glassformer.draw.poster.sums import Sums
from glassformer.model.blocks import whole
from glassformer.model.forward import ignore, prefix, read_out, settle, untie
from glassformer.model.ops_numpy import NumpyOps

GRID = 400  # cells along the main direction


def decision_map(sums: Sums, data: Data, second: Float[np.ndarray, " dim"], step: int, layer: int) -> Data:
    """The digit at every cell, where the cells lie, and how high the sums of `data` lie on it."""
    if data["is_line"]:
        return line_map(sums, data, step, layer)
    return plane_map(sums, data, second, step, layer)


def line_map(sums: Sums, data: Data, step: int, layer: int) -> Data:
    """Along the main direction alone: a row a token that stands at the place."""
    low, high = spread(data["score"])
    tokens, main = np.unique(data["own"]), data["main"]
    moved = beside(sums, main[None], step, layer) + middles(low, high, GRID)[:, None] * main  # grid dim
    rows = [written_for(sums, moved, int(token), step, layer) for token in tokens]
    return {
        "map": np.stack(rows),
        "extent": (low, high, -0.5, len(tokens) - 0.5),
        "rows": tokens,
        "up": np.searchsorted(tokens, data["own"]).astype(float),
        "fixed": -1,
    }


def plane_map(sums: Sums, data: Data, second: Float[np.ndarray, " dim"], step: int, layer: int) -> Data:
    """Along the two main directions, for the token that stands at the place most often."""
    fixed, main = int(np.bincount(data["own"]).argmax()), data["main"]
    (low, high), (bottom, top) = spread(data["score"]), spread(data["second"])
    across, upward = middles(low, high, GRID), middles(bottom, top, GRID // 2)
    rest = beside(sums, np.stack([main, second]), step, layer)
    moved = rest + across[None, :, None] * main + upward[:, None, None] * second  # up across dim
    found = written_for(sums, moved.reshape(-1, moved.shape[-1]), fixed, step, layer)
    return {
        "map": found.reshape(len(upward), -1),
        "extent": (low, high, bottom, top),
        "rows": np.array([fixed]),
        "up": data["second"],
        "fixed": fixed,
    }


def beside(
    sums: Sums, directions: Float[np.ndarray, "direction dim"], step: int, layer: int
) -> Float[np.ndarray, " dim"]:
    """The mean output at a step, less what it has along these directions."""
    mean = outputs(sums, layer)[:, step].mean(0)
    return np.asarray(mean - (mean @ directions.T) @ directions)


def spread(values: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest value, with some room around them.

    >>> spread(np.array([0.0, 100.0])), spread(np.zeros(3))
    ((-4.0, 104.0), (-1.0, 1.0))
    """
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return low - room, high + room


def middles(low: float, high: float, count: int) -> Float[np.ndarray, " cell"]:
    """The middles of so many cells of equal size.

    >>> middles(0.0, 1.0, 2).tolist()
    [0.25, 0.75]
    """
    return low + (np.arange(count) + 0.5) * (high - low) / count


def written_for(
    sums: Sums, moved: Float[np.ndarray, "grid dim"], token: int, step: int, layer: int
) -> Int[np.ndarray, " grid"]:
    """The token with the largest logit after attention's output `moved`, at a place that holds `token`."""
    shape, sample = sums.architecture, sums.sample
    which = int(np.flatnonzero(sample.context[:, step] == token)[0])
    before = "embedded" if layer == 0 else f"{prefix(shape, layer - 1)}stream"
    kept = sample.kept[before][which, step]  # dim
    ops, params = NumpyOps(shape.precision), untie(shape, sums.model.params)
    stream = np.repeat(kept[:, None, None], len(moved), 2)  # dim pos grid
    arrived = np.ascontiguousarray(moved.T[:, None, :].astype(shape.precision))
    settled = settle(shape.layers[layer], ops, params, prefix(shape, layer), stream, arrived, ignore)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    logits = whole(read_out(shape, ops, params, settled, table, ignore))
    return np.asarray(logits[:, 0].argmax(0))
