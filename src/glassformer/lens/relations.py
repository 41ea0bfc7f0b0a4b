"""Between layers: how alike the leading directions of two matrices are, and what heads read of each other.

Two subspaces of `top` directions each are compared by the mean squared cosine of their principal angles,
|U V'|^2 / top: 1 for the same subspace, 0 for orthogonal ones, top / width for two at random.

>>> both, other = np.eye(4)[:2], np.eye(4)[1:3]
>>> measure_overlap(both, both), measure_overlap(both, other), measure_overlap(both, np.eye(4)[2:])
(1.0, 0.5, 0.0)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from glassformer.lens.composition import KINDS, compute_composition_chance
from glassformer.lens.results import MatrixResult, Relations

_ATTENTION = ("W_O", "W_Q", "W_K", "W_V")
_FEED_FORWARD = ("W_gate", "W_up")  # what reads the stream; W_up alone for all where there is no gate

_Directions = Float[np.ndarray, "_top _stream"]
_Pair = tuple[int, int]
_ByLayer = dict[int, list[_Directions]]  # one per layer, or one per expert


def measure_relations(
    matrices: Sequence[MatrixResult],
    width: int,
    composition: Mapping[_Pair, Mapping[str, Float[np.ndarray, "writer reader"]]] | None = None,
) -> Relations:
    """Similarity, alignment and composition; the last is empty where no heads were read."""
    found = _gather_leading_directions(matrices, width)
    layers = tuple(sorted({layer for by_layer in found.values() for layer in by_layer}))
    top = min((len(one) for kind in found.values() for many in kind.values() for one in many), default=0)
    kept = {kind: _cut_directions(by_layer, top) for kind, by_layer in found.items()}
    scores = dict(composition or {})
    pairs = tuple(sorted(scores, key=lambda pair: (pair[1], pair[0])))
    return Relations(
        top=top,
        chance=top / width,
        similarity={
            kind: _measure_similarity(by_layer, layers)
            for kind, by_layer in kept.items()
            if _has_single_matrices(by_layer)
        },
        alignment=_measure_alignments(kept, layers),
        layers=layers,
        composition={kind: np.stack([scores[pair][kind] for pair in pairs]) for kind in KINDS if pairs},
        pairs=pairs,
        composition_chance=compute_composition_chance(width) if pairs else {},
    )


def _gather_leading_directions(matrices: Sequence[MatrixResult], width: int) -> dict[str, _ByLayer]:
    """Type to layer to directions, of the raw matrices that face the stream."""
    found: dict[str, _ByLayer] = {}
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


def _cut_directions(by_layer: _ByLayer, top: int) -> _ByLayer:
    """As many of each as the shortest has."""
    return {layer: [one[:top] for one in many] for layer, many in by_layer.items()}


def _has_single_matrices(by_layer: _ByLayer) -> bool:
    """Whether there is one matrix per layer: expert 3 of one layer is not expert 3 of another."""
    return all(len(many) == 1 for many in by_layer.values())


def _measure_similarity(by_layer: _ByLayer, layers: Sequence[int]) -> Float[np.ndarray, "layer layer"]:
    """Of all pairs of layers, by one product; nan for a layer that has no such matrix."""
    there = [index for index, layer in enumerate(layers) if layer in by_layer]
    stacked = np.concatenate([by_layer[layers[index]][0] for index in there]).astype(np.float32)
    top = len(stacked) // len(there)
    squares = np.square(stacked @ stacked.T, dtype=np.float64)
    means = squares.reshape(len(there), top, len(there), top).sum(axis=(1, 3)) / top
    whole = np.full((len(layers), len(layers)), np.nan)
    whole[np.ix_(there, there)] = means
    return whole


def _measure_alignments(
    found: Mapping[str, _ByLayer], layers: Sequence[int]
) -> dict[str, Float[np.ndarray, "layer"]]:
    """Attention against feed-forward within each layer; the mean over experts."""
    return {
        f"{one} {other}": np.array([_measure_alignment(found[one], found[other], layer) for layer in layers])
        for one, other in _list_aligned_types(found)
    }


def _list_aligned_types(found: Mapping[str, _ByLayer]) -> list[tuple[str, str]]:
    """W_O with all that reads the stream after it; queries, keys and values with the first of that.

    >>> _list_aligned_types({"W_O": {}, "W_Q": {}, "W_up": {}})
    [('W_O', 'W_up'), ('W_Q', 'W_up')]
    """
    readers = [kind for kind in _FEED_FORWARD if kind in found]
    return [
        (kind, reader)
        for kind in _ATTENTION
        if kind in found
        for reader in (readers if kind == "W_O" else readers[:1])
    ]


def _measure_alignment(one: _ByLayer, other: _ByLayer, layer: int) -> float:
    pairs = [(left, right) for left in one.get(layer, []) for right in other.get(layer, [])]
    return float(np.mean([measure_overlap(left, right) for left, right in pairs])) if pairs else float("nan")


@dataclass(frozen=True)
class HeadComposition:
    """How much a head reads of what an earlier one writes."""

    score: float
    by: str  # Q, K or V
    writer: tuple[int, int]  # layer and head
    reader: tuple[int, int]


def find_strongest_compositions(found: Relations, most: int) -> list[HeadComposition]:
    """The largest composition scores over all kinds and pairs of layers, falling."""
    rows: list[HeadComposition] = []
    for by, scores in found.composition.items():
        flat = np.argsort(-scores, axis=None, kind="stable")[:most]
        for pair, writer, reader in np.transpose(np.unravel_index(flat, scores.shape)).tolist():
            layers = found.pairs[pair]
            score = float(scores[pair, writer, reader])
            rows.append(HeadComposition(score, by, (layers[0], writer), (layers[1], reader)))
    return sorted(rows, key=lambda row: -row.score)[:most]


def measure_overlap(one: _Directions, other: _Directions) -> float:
    """Mean squared cosine of two subspaces of the same size."""
    return float(np.square(one @ other.T, dtype=np.float64).sum() / len(one))
