"""What the model would say at every point of a plane: its own last layers, evaluated on a grid.

Where the stream has more than two dimensions a map is a slice: it is true of states in the slice alone, so
that every figure counts how many of its points have the colour of the slice under them.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.plane import Plane, plane_of
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
    states: Float[np.ndarray, "*point dim"], name: str, about: str, dims: tuple[int, int] | None = None
) -> Plane:
    """The plane through the mean of some states along the two directions in which they differ most.

    `about` says in the note what the states are. One and two dimensions are shown whole, as always.
    """
    rows = np.asarray(states, np.float64).reshape(-1, np.shape(states)[-1])
    if rows.shape[1] <= 2:
        return plane_of(rows, name)
    centre = rows.mean(0)
    plane = plane_of(rows - centre, name, dims)
    along = "the two directions" if dims is None else f"dimensions {dims[0]} and {dims[1]}"
    note = (
        f"A slice of {rows.shape[1]} dimensions through the mean of {about}, along {along} that hold "
        f"{plane.share:.0%} of their square distances from it."
    )
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
    logits = logits_of(model, states, from_mid).astype(np.float32)
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def logits_of(
    model: Model, states: Float[np.ndarray, "point dim"], from_mid: bool
) -> Float[np.ndarray, "point tok"]:
    """The model's own feed-forward layer (from the middle) and head, on states of our choice."""
    shape = model.architecture
    ops, params = NumpyOps(shape.precision), untie(shape, model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    stream = np.ascontiguousarray(np.asarray(states, shape.precision).T[:, None])  # dim 1 point
    if from_mid:
        last = len(shape.layers) - 1
        name = prefix(shape, last)
        stream = settle(shape.layers[last], ops, params, name, stream, None, ignore)
    logits = whole(read_out(shape, ops, params, stream, table, ignore))
    return np.asarray(logits[:, 0].T)
