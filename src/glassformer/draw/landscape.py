"""What the model would say at every point of a plane: its own last layers, evaluated on a grid."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.plane import Plane
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
    stream = np.asarray(states, shape.precision).T[:, :, None]  # dim point 1
    stream = np.repeat(stream, 2, axis=2)  # a batch of one would pass for what all share
    if from_mid:
        last = len(shape.layers) - 1
        name = prefix(shape, last)
        stream = settle(shape.layers[last], ops, params, name, stream, None, ignore)
    logits = read_out(shape, ops, params, stream, table, ignore)
    return np.asarray(logits[:, :, 0].T)
