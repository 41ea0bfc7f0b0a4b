"""How much a later head reads of what an earlier head writes (Elhage et al. 2021), all heads of two layers.

A head writes W_OV = O V (O is width x value_dim) and scores with W_QK = Q' K. Its query reads another's
output by |W_QK' W_OV| / (|W_QK| |W_OV|), its key by |W_QK W_OV| / (..) and its value by |W_OV2 W_OV1| / (..).
No product as wide as the model is formed. With Gram matrices of the rows, G_K = K K' = L L' and so on:

    |W_QK' W_OV|^2 = |K' Q O V|^2 = tr(G_K (Q O) G_V (Q O)') = |L_K' Q (O L_V)|^2
    |W_QK  W_OV|^2 = |Q' K O V|^2 = sum(G_Q * (M M'))   with M = K (O L_V)
    |W_OV2 W_OV1|^2 = |O V (O L_V)|^2 = sum(G_O * (M M'))  with M = V (O L_V)

so that all of it is the rows of Q, K and V against the columns O L_V, and keys and values, which a group
shares, are multiplied once a group. Weights are raw. A score is 1 where a head reads just the one direction
that the other writes, and 0 where they have nothing in common.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from glassformer.lens.held import hold_blocks
from glassformer.lens.layout import HeadLayout, Map, ModelLayout
from glassformer.lens.matrix import read_map
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.treatments import read_output_map

KINDS = ("Q", "K", "V")
_Rows = Float[np.ndarray, "row width"]
_Gram = Float[np.ndarray, "head head"]
_Scores = dict[str, Float[np.ndarray, "writer reader"]]


@dataclass(frozen=True)
class _ReadingHeads:
    """Heads that read. The rows are float32: squares are summed, none cancel, and scores keep five digits."""

    query: _Rows  # L_K' Q / |W_QK|, one head after another
    key: Float[np.ndarray, "key_row width"]  # one group after another
    value: Float[np.ndarray, "value_row width"]
    query_grams: list[_Gram]  # G_Q / |W_QK|^2, one per head
    output_grams: list[_Gram]  # G_O / |W_OV|^2
    groups: list[int]  # of each head


def list_layer_pairs(layers: Iterable[int], which: Literal["near", "all"] = "near") -> list[tuple[int, int]]:
    """(writing layer, reading layer): neighbours, or every later layer.

    >>> list_layer_pairs([0, 1, 2]), list_layer_pairs([0, 1, 2], "all")
    ([(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)])
    """
    order = sorted(set(layers))
    every = [(writer, reader) for reader in order for writer in order if writer < reader]
    return [(writer, reader) for writer, reader in every if which == "all" or writer == reader - 1]


def compute_composition_chance(width: int) -> dict[str, float]:
    """Root mean square score of heads in random directions: 1 / sqrt(width), whatever their spectra.

    The mean of U'XU over all rotations U is tr(X) / width, so |A U B|^2 is |A|^2 |B|^2 / width on average.
    """
    return dict.fromkeys(KINDS, 1 / math.sqrt(width))


def measure_composition(
    checkpoint: Checkpoint, layout: ModelLayout, writer_layer: int, reader_layer: int
) -> _Scores:
    """Scores of every head of the writing layer with every head of the reading one, for Q, K and V."""
    writers = [head for head in layout.attention if head.layer == writer_layer]
    readers = [head for head in layout.attention if head.layer == reader_layer]
    reader = _read_reading_heads(hold_blocks(checkpoint, readers), readers)
    source = hold_blocks(checkpoint, writers)
    rows = [_score_writing_head(reader, _compute_written_columns(source, head)) for head in writers]
    return {kind: np.array([row[kind] for row in rows]) for kind in KINDS}


@dataclass(frozen=True)
class _KeyValueGroup:
    """Keys and values that some heads share."""

    key: _Rows
    value: _Rows
    key_gram: _Gram
    value_gram: _Gram
    key_root: _Gram


def _read_reading_heads(checkpoint: Checkpoint, heads: Sequence[HeadLayout]) -> _ReadingHeads:
    """Everything of the reading heads, scaled so that every kernel has norm 1."""
    places: dict[tuple[Map, Map], int] = {}  # of the groups: heads with the same keys and values
    indices = [places.setdefault((head.key, head.value), len(places)) for head in heads]
    groups = [
        _make_key_value_group(read_map(checkpoint, key), read_map(checkpoint, value)) for key, value in places
    ]
    scaled = [
        _scale_reading_head(checkpoint, head, groups[index])
        for head, index in zip(heads, indices, strict=True)
    ]
    return _ReadingHeads(
        query=np.concatenate([query for query, _, _ in scaled]),
        key=np.concatenate([group.key for group in groups]).astype(np.float32),
        value=np.concatenate([group.value for group in groups]).astype(np.float32),
        query_grams=[gram for _, gram, _ in scaled],
        output_grams=[gram for _, _, gram in scaled],
        groups=indices,
    )


def _make_key_value_group(key: _Rows, value: _Rows) -> _KeyValueGroup:
    key_gram = key @ key.T
    return _KeyValueGroup(key, value, key_gram, value @ value.T, _compute_gram_root(key_gram))


def _scale_reading_head(
    checkpoint: Checkpoint, head: HeadLayout, group: _KeyValueGroup
) -> tuple[_Rows, _Gram, _Gram]:
    """L_K' Q / |W_QK|, G_Q / |W_QK|^2 and G_O / |W_OV|^2."""
    query, output = read_map(checkpoint, head.query), read_output_map(checkpoint, head, is_folded=False)
    query_gram, output_gram = query @ query.T, output @ output.T
    score_norm = _compute_kernel_norm(query_gram, group.key_gram)
    copy_norm = _compute_kernel_norm(output_gram, group.value_gram)
    rows = (group.key_root / score_norm).astype(np.float32) @ query.astype(np.float32)
    return rows, query_gram / score_norm**2, output_gram / copy_norm**2


def _compute_written_columns(checkpoint: Checkpoint, head: HeadLayout) -> Float[np.ndarray, "width head"]:
    """O L_V / |W_OV|: what a head writes, as columns whose lengths count."""
    value, output = read_map(checkpoint, head.value), read_output_map(checkpoint, head, is_folded=False)
    value_gram = value @ value.T
    columns = output.T @ _compute_gram_root(value_gram) / _compute_kernel_norm(output @ output.T, value_gram)
    return np.asarray(columns, np.float32)


def _score_writing_head(
    reader: _ReadingHeads, columns: Float[np.ndarray, "width head"]
) -> dict[str, Float[np.ndarray, "reader"]]:
    """One writing head against all reading ones."""
    heads, per_group = len(reader.groups), (max(reader.groups) + 1, -1, columns.shape[1])
    query = np.square((reader.query @ columns).reshape(heads, -1)).sum(axis=1, dtype=np.float64)
    key, value = ((rows @ columns).reshape(per_group) for rows in (reader.key, reader.value))
    return {
        "Q": np.sqrt(query),
        "K": np.sqrt(_sum_weighted_products(reader.query_grams, key, reader.groups)),
        "V": np.sqrt(_sum_weighted_products(reader.output_grams, value, reader.groups)),
    }


def _sum_weighted_products(
    grams: Sequence[_Gram], products: Float[np.ndarray, "group head column"], groups: Sequence[int]
) -> Float[np.ndarray, "reader"]:
    """sum(G * (M M')) of every head, with the product M of its group."""
    squares = [product @ product.T for product in products.astype(np.float64)]
    sums = [np.sum(gram * squares[group]) for gram, group in zip(grams, groups, strict=True)]
    return np.maximum(sums, 0.0)


def _compute_kernel_norm(left: _Gram, right: _Gram) -> float:
    """|left' right| from the Gram matrices of the rows; 1 for a head of zeros, whose scores are then 0."""
    return math.sqrt(max(float(np.sum(left * right)), 0.0)) or 1.0


def _compute_gram_root(gram: _Gram) -> _Gram:
    """The symmetric root, which also a head of lower rank has."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
