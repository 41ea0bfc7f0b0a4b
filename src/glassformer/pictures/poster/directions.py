"""Directions that matter: those along which attention's output moves, and those in which digits differ."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from glassformer.models.forward import format_layer_prefix

if TYPE_CHECKING:
    from glassformer.pictures.poster.sums import Sums

_TOLERANCE = {
    "float32": 1e-5,
    "float64": 1e-10,
}  # singular values below this share of the largest are rounding


def collect_attention_outputs(sums: "Sums", layer: int) -> Float[np.ndarray, "sum step dim"]:
    """What a layer's attention adds to the stream at the positions that write."""
    return sums.sample.kept[f"{format_layer_prefix(sums.architecture, layer)}attn.output"].astype(np.float64)


def decompose_outputs(
    sums: "Sums", layer: int
) -> tuple[Float[np.ndarray, " direction"], Float[np.ndarray, "direction dim"]]:
    """Singular values of the outputs about their mean, and the directions that belong to them."""
    flat = collect_attention_outputs(sums, layer)
    rows = flat.reshape(-1, flat.shape[-1])
    rows = rows - rows.mean(0)
    _, values, directions = np.linalg.svd(
        np.linalg.qr(rows, mode="r")
    )  # squares would lose half of the digits
    return values / np.sqrt(len(rows)), directions


def find_output_direction(sums: "Sums", layer: int) -> Float[np.ndarray, " dim"]:
    """The direction of length 1 along which the outputs vary most; larger columns are further along it."""
    direction, sample = decompose_outputs(sums, layer)[1][0], sums.sample
    totals = (sample.x + sample.y)[:, list(sample.columns)]  # sum step
    scores = collect_attention_outputs(sums, layer) @ direction
    rising = ((totals - totals.mean(0)) * (scores - scores.mean(0))).mean(0)
    return np.asarray(direction if rising.sum() >= 0 else -direction)


def find_digit_direction(messages: Float[np.ndarray, "digit column dim"]) -> Float[np.ndarray, " dim"]:
    """The direction in which what is carried of the digits differs most; 9 is further along it than 0."""
    centred = (messages - messages.mean(0)).reshape(-1, messages.shape[-1])
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    growth = (messages[-1] - messages[0]) @ direction
    return np.asarray(direction if growth.sum() >= 0 else -direction)


def measure_output_size(sums: "Sums", layer: int) -> float:
    """Root mean square length of the outputs; what varies by far less than this is rounding."""
    return float(np.sqrt((collect_attention_outputs(sums, layer) ** 2).sum(-1).mean()))


def count_output_directions(values: Float[np.ndarray, " direction"], precision: str, size: float) -> int:
    """How many directions are more than rounding, for outputs of a size.

    >>> count_output_directions(np.array([3.0, 1e-12, 0.0]), "float64", 3.0)
    1
    >>> count_output_directions(np.zeros(2), "float32", 1.0)
    0
    """
    tolerance = _TOLERANCE[precision]
    return int((values > tolerance * values[0]).sum()) if values[0] > tolerance * size else 0


def is_far_cloud(vectors: np.ndarray) -> bool:
    """The cloud is so small against its distance from the origin that it would be seen as one dot."""
    centre = vectors.mean(0)
    return bool(np.abs(vectors - centre).max() < 0.02 * np.linalg.norm(centre))
