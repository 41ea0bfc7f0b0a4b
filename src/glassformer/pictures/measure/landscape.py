"""What the model would say at every point of a plane: its own last layers, evaluated on a grid.

Where the stream has more than two dimensions a map is a slice: it is true of states in the slice alone, so
that every figure counts how many of its points have the colour of the slice under them.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int, UInt8

from glassformer.core.words import format_percent
from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    finish_layer,
    format_layer_prefix,
    ignore_record,
    read_out_logits,
    untie_parameters,
)
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.plane import Plane, fit_plane

GRID = 400  # points along each side
_BLOCK = 20_000  # points at a time, so that hidden layers fit into memory


@dataclass(frozen=True, eq=False)
class Landscape:
    """Probabilities over a square of the plane; row 0 is at the bottom."""

    limits: Float[np.ndarray, "2 2"]
    probability: Float[np.ndarray, "y x tok"]

    @property
    def winner(self) -> UInt8[np.ndarray, "y x"]:
        return np.asarray(self.probability.argmax(-1), np.uint8)

    @property
    def entropy(self) -> Float[np.ndarray, "y x"]:
        """In nats."""
        logs = np.log(np.maximum(self.probability, 1e-30))
        return np.asarray(-(self.probability * logs).sum(-1))

    def winner_at(self, points: Float[np.ndarray, "*point 2"]) -> Int[np.ndarray, "*point"]:
        """The token whose colour lies under each point."""
        grid = self.probability.shape[0]
        low, high = self.limits.T
        column, row = np.moveaxis(np.floor((points - low) / (high - low) * grid).astype(int), -1, 0)
        inside = np.clip(row, 0, grid - 1), np.clip(column, 0, grid - 1)
        return np.asarray(self.probability[inside].argmax(-1))


def make_slice(
    states: Float[np.ndarray, "*point dim"],
    name: str,
    about: str,
    dims: tuple[int, int] | None = None,
    centre: Float[np.ndarray, " dim"] | None = None,
) -> Plane:
    """The plane through a point along the two directions in which some states are farthest from it.

    The point is the mean of the states where none is given; `about` says in the note what it is. One and two
    dimensions are shown whole, as always.
    """
    rows = np.asarray(states, np.float64).reshape(-1, np.shape(states)[-1])
    if rows.shape[1] <= 2:
        return fit_plane(rows, name)
    centre = rows.mean(0) if centre is None else np.asarray(centre, np.float64)
    differences = np.vstack(
        [rows - centre, np.zeros((2, rows.shape[1]))]
    )  # a single state has directions too
    plane = fit_plane(differences, name, dims)
    along = "the two directions" if dims is None else f"dimensions {dims[0]} and {dims[1]}"
    held = f"along {along} that hold {format_percent(plane.share, 0)} of the square distances from it"
    held = held if np.any(differences) else "along any two directions, since no other state is shown"
    note = f"A slice of {rows.shape[1]} dimensions through {about}, {held}."
    return replace(plane, through=centre, note=note)


def make_landscape(
    model: Model, plane: Plane, limits: Float[np.ndarray, "2 2"], from_mid: bool, grid: int = GRID
) -> Landscape:
    """Over final states (head alone), or over states in the middle of the layer (feed-forward and head)."""
    x, y = (
        low + (np.arange(grid) + 0.5) / grid * (high - low) for low, high in np.asarray(limits, np.float64)
    )
    points = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    states = plane.lift(points)
    parts = [
        compute_state_probabilities(model, states[i : i + _BLOCK], from_mid)
        for i in range(0, len(states), _BLOCK)
    ]
    return Landscape(np.asarray(limits), np.concatenate(parts).reshape(grid, grid, -1))


def compute_state_probabilities(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "point tok"]:
    """The softmax of the logits that these states lead to."""
    return softmax(compute_state_logits(model, states, from_mid).astype(np.float32))


def softmax(logits: Float[np.ndarray, "*any tok"]) -> Float[np.ndarray, "*any tok"]:
    """Probabilities, whatever the number of axes before the tokens'."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def compute_state_logits(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "point tok"]:
    """The model's own feed-forward layer (from the middle) and head, on states of our choice."""
    shape = model.architecture
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    stream = _compute_head_stream(model, states, from_mid)
    return np.asarray(to_dense(read_out_logits(shape, ops, params, stream, table, ignore_record))[:, 0].T)


def compute_final_states(
    model: Model, middle: Float[np.ndarray, "point dim"]
) -> Float[np.ndarray, "point dim"]:
    """Where the feed-forward layer takes states in the middle of the last layer."""
    return np.asarray(_compute_head_stream(model, middle, from_mid=True)[:, 0].T)


def _compute_head_stream(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "dim 1 point"]:
    """The stream that the head reads; each point is a sequence, since no position sees another any more."""
    shape, last = model.architecture, len(model.architecture.layers) - 1
    stream = np.ascontiguousarray(np.asarray(states, shape.precision).T[:, None])  # dim 1 point
    if not from_mid:
        return stream
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, model.params)
    name = format_layer_prefix(shape, last)
    return np.asarray(
        to_dense(finish_layer(shape.layers[last], ops, params, name, stream, None, ignore_record))
    )
