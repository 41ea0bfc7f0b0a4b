"""Which digit the rest of a model writes, for a grid of attention's outputs.

The map runs the model's own pass from attention's output on: along the main direction, a row for each token
that stands at the position; or along the two main directions, for the token that stands there most often.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    finish_layer,
    format_layer_prefix,
    ignore_record,
    read_out_logits,
    untie_parameters,
)
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.poster.directions import collect_attention_outputs
from glassformer.pictures.poster.sums import Sums

_GRID = 400  # cells along the main direction


@dataclass(frozen=True, eq=False)
class ColumnOutputs:
    """Attention's outputs at the position that writes a column, along their two main directions."""

    main: Float[np.ndarray, " dim"]
    second: Float[np.ndarray, " dim"]  # zero where there is none
    score: Float[np.ndarray, " sum"]  # along the first
    second_score: Float[np.ndarray, " sum"]
    own: Int[np.ndarray, " sum"]  # the token that stands at the position
    is_line: bool  # nearly everything is along the first


@dataclass(frozen=True, eq=False)
class DecisionMap:
    """The digit at every cell, where the cells lie, and how high the sums lie on it."""

    map: Int[np.ndarray, "y x"]
    extent: tuple[float, float, float, float]
    rows: Int[np.ndarray, " row"]  # tokens at the position
    up: Float[np.ndarray, " sum"]
    fixed: int  # the token that the whole map is for; -1 where each has a row


def make_decision_map(sums: Sums, outputs: ColumnOutputs, step: int, layer: int) -> DecisionMap:
    """Along one direction with one row per token, or along two."""
    make = _make_line_map if outputs.is_line else _make_plane_map
    return make(sums, outputs, step, layer)


def _make_line_map(sums: Sums, outputs: ColumnOutputs, step: int, layer: int) -> DecisionMap:
    """Along the main direction alone: one row per token that stands at the position."""
    low, high = pad_range(outputs.score)
    tokens, main = np.unique(outputs.own), outputs.main
    moved = (
        _remove_directions(sums, main[None], step, layer)
        + _list_cell_middles(low, high, _GRID)[:, None] * main
    )  # grid dim
    rows = [_find_written_tokens(sums, moved, int(token), step, layer) for token in tokens]
    return DecisionMap(
        map=np.stack(rows),
        extent=(low, high, -0.5, len(tokens) - 0.5),
        rows=tokens,
        up=np.searchsorted(tokens, outputs.own).astype(float),
        fixed=-1,
    )


def _make_plane_map(sums: Sums, outputs: ColumnOutputs, step: int, layer: int) -> DecisionMap:
    """Along the two main directions, for the token that stands at the position most often."""
    fixed, main, second = int(np.bincount(outputs.own).argmax()), outputs.main, outputs.second
    (low, high), (bottom, top) = pad_range(outputs.score), pad_range(outputs.second_score)
    across, upward = _list_cell_middles(low, high, _GRID), _list_cell_middles(bottom, top, _GRID // 2)
    rest = _remove_directions(sums, np.stack([main, second]), step, layer)
    moved = rest + across[None, :, None] * main + upward[:, None, None] * second  # up across dim
    found = _find_written_tokens(sums, moved.reshape(-1, moved.shape[-1]), fixed, step, layer)
    return DecisionMap(
        map=found.reshape(len(upward), -1),
        extent=(low, high, bottom, top),
        rows=np.array([fixed]),
        up=outputs.second_score,
        fixed=fixed,
    )


def _remove_directions(
    sums: Sums, directions: Float[np.ndarray, "direction dim"], step: int, layer: int
) -> Float[np.ndarray, " dim"]:
    """The mean output at a step, minus its part along these directions."""
    mean = collect_attention_outputs(sums, layer)[:, step].mean(0)
    return np.asarray(mean - (mean @ directions.T) @ directions)


def pad_range(values: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest value, with some room around them.

    >>> pad_range(np.array([0.0, 100.0])), pad_range(np.zeros(3))
    ((-4.0, 104.0), (-1.0, 1.0))
    """
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return low - room, high + room


def _list_cell_middles(low: float, high: float, count: int) -> Float[np.ndarray, " cell"]:
    """The middles of so many cells of equal size.

    >>> _list_cell_middles(0.0, 1.0, 2).tolist()
    [0.25, 0.75]
    """
    return low + (np.arange(count) + 0.5) * (high - low) / count


def _find_written_tokens(
    sums: Sums, moved: Float[np.ndarray, "grid dim"], token: int, step: int, layer: int
) -> Int[np.ndarray, " grid"]:
    """The token with the largest logit after attention's output `moved`, at a position that holds `token`."""
    shape, sample = sums.architecture, sums.sample
    which = int(np.flatnonzero(sample.context[:, step] == token)[0])
    before = "embedded" if layer == 0 else f"{format_layer_prefix(shape, layer - 1)}stream"
    kept = sample.kept[before][which, step]  # dim
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, sums.model.params)
    stream = np.repeat(kept[:, None, None], len(moved), 2)  # dim pos grid
    arrived = np.ascontiguousarray(moved.T[:, None, :].astype(shape.precision))
    settled = finish_layer(
        shape.layers[layer], ops, params, format_layer_prefix(shape, layer), stream, arrived, ignore_record
    )
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    logits = to_dense(read_out_logits(shape, ops, params, settled, table, ignore_record))
    return np.asarray(logits[:, 0].argmax(0))
