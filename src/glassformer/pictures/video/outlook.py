"""What a model's last layers make of every pixel of a map, at every frame: logits, and what follows."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes

from glassformer.models.model import Model
from glassformer.pictures.measure.landscape import compute_state_logits
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.video.maps import compute_grid_points, find_pixel_box

_BLOCK = 4096  # points at a time, at most: their hidden units stay in the cache
_PRODUCT = 800_000  # multiplications; for more, BLAS starts threads that cost more than they save
_FEWEST = 128  # points per block; where they are too many for that, threads are welcome
COARSE = 200  # points per side where a point costs more than DEAR multiplications
DEAR = 1000

Logits = Float[np.ndarray, "tok y x"]


def make_outlook(
    axes: Axes,
    plane: Plane,
    models: Sequence[Model],
    from_mid: bool = False,
    through: Float[np.ndarray, "frame dim"] | None = None,
) -> Callable[[int], Logits]:
    """The logits of states over a panel, one state per pixel; the last frame asked for is remembered.

    The states are final ones, or those before the feed-forward layer. `through`: a point of the slice in each
    frame, where it is not always the plane's own.
    """
    rows, columns = find_pixel_box(axes).shape
    price = _count_multiplications(models[0], from_mid)
    shape = (min(rows, COARSE), min(columns, COARSE)) if price > DEAR else (rows, columns)
    size = _choose_block_size(price)
    flat = compute_grid_points(axes, shape).reshape(-1, 2) @ plane.directions
    base = np.ascontiguousarray(flat.T.astype(models[0].architecture.precision))  # dim point
    points = np.broadcast_to(plane.through, (len(models), len(plane.through))) if through is None else through
    shifts = points - points @ plane.directions.T @ plane.directions  # what the plane does not show

    @lru_cache(maxsize=1)
    def logits(index: int) -> Logits:
        states = base + shifts[index].astype(base.dtype)[:, None]
        blocks = (states[:, i : i + size] for i in range(0, states.shape[1], size))
        parts = [compute_state_logits(models[index], block.T, from_mid).T for block in blocks]
        return np.concatenate(parts, 1).reshape(-1, *shape)

    return logits


def _count_multiplications(model: Model, from_mid: bool) -> int:
    """Multiplications in the largest product for one point."""
    shape = model.architecture
    layer = shape.layers[-1].feedforward if from_mid else None
    return shape.width * max(shape.vocab, layer.units(shape.width) if layer else 0)


def _choose_block_size(price: int) -> int:
    """How many points go through at a time.

    >>> _choose_block_size(64), _choose_block_size(2304), _choose_block_size(16384)
    (4096, 347, 4096)
    """
    fitting = _PRODUCT // price
    return min(fitting, _BLOCK) if fitting >= _FEWEST else _BLOCK


def find_winners(logits: Logits) -> UInt8[np.ndarray, "y x"]:
    """The token of the largest logit; of equal ones the first, as argmax has it."""
    best, found = logits[0].copy(), np.zeros(logits.shape[1:], np.uint8)
    for token, row in enumerate(logits[1:], 1):
        found[row > best] = token
        np.maximum(best, row, out=best)
    return found


def compute_chances(logits: Logits) -> tuple[Logits, Float[np.ndarray, "y x"]]:
    """Probabilities, and their entropy in nats."""
    below = logits - logits.max(0)
    powers = np.exp(below)
    total = powers.sum(0)
    entropy = np.log(total) - np.einsum("tyx,tyx->yx", powers, below) / total
    powers /= total
    return powers, entropy
