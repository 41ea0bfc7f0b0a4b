"""What the model would say at every point of a plane: its own last layers, evaluated on a grid.

Where the stream has more than two dimensions a map is a slice: it is true of states in the slice alone, so
that every figure counts how many of its points have the colour of the slice under them.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.measure.plane import Plane, plane_of
from glassformer.draw.shares import percent
from glassformer.model.blocks import whole
from glassformer.model.forward import ignore, prefix, read_out, settle, untie
from glassformer.model.model import Model
from glassformer.model.ops_numpy import NumpyOps

GRID = 400  # points along each side
BLOCK = 20_000  # points at a time, so that hidden layers fit into memory


@dataclass(frozen=True, eq=False)
class Landscape:
    """Probabilities over a square of the plane; row 0 is at the bottom."""

    limits: Float[np.ndarray, "2 2"]
    probability: Float[np.ndarray, "y x tok"]

    @property
    def winner(self) -> Int[np.ndarray, "y x"]:
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


def slice_through(
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
        return plane_of(rows, name)
    centre = rows.mean(0) if centre is None else np.asarray(centre, np.float64)
    differences = np.vstack(
        [rows - centre, np.zeros((2, rows.shape[1]))]
    )  # a single state has directions too
    plane = plane_of(differences, name, dims)
    along = "the two directions" if dims is None else f"dimensions {dims[0]} and {dims[1]}"
    held = f"along {along} that hold {percent(plane.share, 0)} of the square distances from it"
    held = held if np.any(differences) else "along any two directions, for no other state is shown"
    note = f"A slice of {rows.shape[1]} dimensions through {about}, {held}."
    return replace(plane, through=centre, note=note)


def landscape(
    model: Model, plane: Plane, limits: Float[np.ndarray, "2 2"], from_mid: bool, grid: int = GRID
) -> Landscape:
    """Over final states (head alone), or over states in the middle of the layer (feed-forward and head)."""
    x, y = (
        low + (np.arange(grid) + 0.5) / grid * (high - low) for low, high in np.asarray(limits, np.float64)
    )
    points = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    states = plane.lift(points)
    parts = [probabilities(model, states[i : i + BLOCK], from_mid) for i in range(0, len(states), BLOCK)]
    return Landscape(np.asarray(limits), np.concatenate(parts).reshape(grid, grid, -1))


def probabilities(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "point tok"]:
    """The softmax of the logits that these states lead to."""
    return softmax(logits_of(model, states, from_mid).astype(np.float32))


def softmax(logits: Float[np.ndarray, "*any tok"]) -> Float[np.ndarray, "*any tok"]:
    """Probabilities, whatever the number of axes before the tokens'."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def logits_of(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "point tok"]:
    """The model's own feed-forward layer (from the middle) and head, on states of our choice."""
    shape = model.architecture
    ops, params = NumpyOps(shape.precision), untie(shape, model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    stream = stream_of(model, states, from_mid)
    return np.asarray(whole(read_out(shape, ops, params, stream, table, ignore))[:, 0].T)


def final_states(model: Model, middle: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
    """Where the feed-forward layer takes states in the middle of the last layer."""
    return np.asarray(stream_of(model, middle, from_mid=True)[:, 0].T)


def stream_of(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "dim 1 point"]:
    """The stream that the head reads; each point is a sequence, for no place sees another any more."""
    shape, last = model.architecture, len(model.architecture.layers) - 1
    stream = np.ascontiguousarray(np.asarray(states, shape.precision).T[:, None])  # dim 1 point
    if not from_mid:
        return stream
    ops, params = NumpyOps(shape.precision), untie(shape, model.params)
    name = prefix(shape, last)
    return np.asarray(whole(settle(shape.layers[last], ops, params, name, stream, None, ignore)))
