"""Between layers: how alike the leading directions of two matrices are, and what heads read of each other.

Two subspaces of `top` directions each are compared by the mean squared cosine of their principal angles,
|U V'|^2 / top: 1 for the same subspace, 0 for orthogonal ones, top / width for two at random.

>>> both, other = np.eye(4)[:2], np.eye(4)[1:3]
>>> overlap(both, both), overlap(both, other), overlap(both, np.eye(4)[2:])
(1.0, 0.5, 0.0)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.spectra.composition import KINDS, composition_chance
from glassformer.spectra.results import MatrixResult, Relations

ATTENTION = ("W_O", "W_Q", "W_K", "W_V")
FEED_FORWARD = ("W_gate", "W_up")  # what reads the stream; W_up alone for all where there is no gate

Directions = Float[np.ndarray, "top stream"]
Pair = tuple[int, int]
ByLayer = dict[int, list[Directions]]  # one a layer, or one an expert


def relations(
    matrices: Sequence[MatrixResult],
    width: int,
    composition: Mapping[Pair, Mapping[str, Float[np.ndarray, "writer reader"]]] | None = None,
) -> Relations:
    """Similarity, alignment and composition; the last is empty where no heads were read."""
    found = leading_directions(matrices, width)
    layers = tuple(sorted({layer for by_layer in found.values() for layer in by_layer}))
    top = min((len(one) for kind in found.values() for many in kind.values() for one in many), default=0)
    kept = {kind: cut(by_layer, top) for kind, by_layer in found.items()}
    scores = dict(composition or {})
    pairs = tuple(sorted(scores, key=lambda pair: (pair[1], pair[0])))
    return Relations(
        top=top,
        chance=top / width,
        similarity={
            kind: similarity(by_layer, layers) for kind, by_layer in kept.items() if is_single(by_layer)
        },
        alignment=alignments(kept, layers),
        layers=layers,
        composition={kind: np.stack([scores[pair][kind] for pair in pairs]) for kind in KINDS if pairs},
        pairs=pairs,
        composition_chance=composition_chance(width) if pairs else {},
    )


def leading_directions(matrices: Sequence[MatrixResult], width: int) -> dict[str, ByLayer]:
    """Type to layer to directions, of the raw matrices that face the stream."""
    found: dict[str, ByLayer] = {}
    for matrix in matrices:
        layer, vectors = matrix.weight.layer, matrix.vectors
        if (
            matrix.treatment == "raw"
            and layer is not None
            and vectors is not None
            and vectors.shape[1] == width
        ):
            found.setdefault(matrix.weight.type, {}).setdefault(layer, []).append(vectors)
    return found


def cut(by_layer: ByLayer, top: int) -> ByLayer:
    """As many of each as the shortest has."""
    return {layer: [one[:top] for one in many] for layer, many in by_layer.items()}


def is_single(by_layer: ByLayer) -> bool:
    """Whether there is one matrix a layer: expert 3 of one layer is not expert 3 of another."""
    return all(len(many) == 1 for many in by_layer.values())


def similarity(by_layer: ByLayer, layers: Sequence[int]) -> Float[np.ndarray, "layer layer"]:
    """Of all pairs of layers, by one product; nan for a layer that has no such matrix."""
    there = [index for index, layer in enumerate(layers) if layer in by_layer]
    stacked = np.concatenate([by_layer[layers[index]][0] for index in there]).astype(np.float32)
    top = len(stacked) // len(there)
    squares = np.square(stacked @ stacked.T, dtype=np.float64)
    means = squares.reshape(len(there), top, len(there), top).sum(axis=(1, 3)) / top
    whole = np.full((len(layers), len(layers)), np.nan)
    whole[np.ix_(there, there)] = means
    return whole


def alignments(found: Mapping[str, ByLayer], layers: Sequence[int]) -> dict[str, Float[np.ndarray, "layer"]]:
    """Attention against feed-forward within each layer; the mean over experts."""
    return {
        f"{one} {other}": np.array([alignment(found[one], found[other], layer) for layer in layers])
        for one, other in aligned_types(found)
    }


def aligned_types(found: Mapping[str, ByLayer]) -> list[tuple[str, str]]:
    """W_O with all that reads the stream after it; queries, keys and values with the first of that.

    >>> aligned_types({"W_O": {}, "W_Q": {}, "W_up": {}})
    [('W_O', 'W_up'), ('W_Q', 'W_up')]
    """
    readers = [kind for kind in FEED_FORWARD if kind in found]
    return [
        (kind, reader)
        for kind in ATTENTION
        if kind in found
        for reader in (readers if kind == "W_O" else readers[:1])
    ]


def alignment(one: ByLayer, other: ByLayer, layer: int) -> float:
    pairs = [(left, right) for left in one.get(layer, []) for right in other.get(layer, [])]
    return float(np.mean([overlap(left, right) for left, right in pairs])) if pairs else float("nan")


@dataclass(frozen=True)
class Composed:
    """How much a head reads of what an earlier one writes."""

    score: float
    by: str  # Q, K or V
    writer: tuple[int, int]  # layer and head
    reader: tuple[int, int]


def strongest(found: Relations, most: int) -> list[Composed]:
    """The largest composition scores over all kinds and pairs of layers, falling."""
    rows: list[Composed] = []
    for by, scores in found.composition.items():
        flat = np.argsort(-scores, axis=None, kind="stable")[:most]
        for pair, writer, reader in np.transpose(np.unravel_index(flat, scores.shape)).tolist():
            layers = found.pairs[pair]
            score = float(scores[pair, writer, reader])
            rows.append(Composed(score, by, (layers[0], writer), (layers[1], reader)))
    return sorted(rows, key=lambda row: -row.score)[:most]


def overlap(one: Directions, other: Directions) -> float:
    """Mean squared cosine of two subspaces of the same size."""
    return float(np.square(one @ other.T, dtype=np.float64).sum() / len(one))
