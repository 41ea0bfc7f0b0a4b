"""Cutting heads from whole projections."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.build import (
    LayerAttention,
    cut_heads,
    cut_view,
    cut_view_columns,
    make_embedding_weight,
    require_even_groups,
)
from glassformer.lens.layout import Vector, View
from glassformer.lens.matrix import read_vector, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

ARRAY = np.random.default_rng(0).standard_normal((12, 8))
GAINS = np.random.default_rng(1).standard_normal(12)
STORED = {"w": make_memory_tensor("w", ARRAY), "g": make_memory_tensor("g", GAINS)}
CHECKPOINT = Checkpoint("x", "x", "torch", {}, STORED, "")


def test_a_cut_of_spans_counts_from_the_views_first_row() -> None:
    view = View("w", spans=((8, 12), (0, 4)), gain_after=Vector("g", spans=((0, 8),)))
    whole = view_matrix(CHECKPOINT, view, is_folded=True).dense()
    part = view_matrix(CHECKPOINT, cut_view(view, 3, 6), is_folded=True).dense()
    assert np.array_equal(part, whole[3:6])


def test_a_cut_of_columns_takes_its_gains_along() -> None:
    view = View("w", columns=(2, 8), gain=Vector("g", spans=((4, 10),)))
    whole = view_matrix(CHECKPOINT, view, is_folded=True).dense()
    part = view_matrix(CHECKPOINT, cut_view_columns(view, 1, 3), is_folded=True).dense()
    assert np.array_equal(part, whole[:, 1:3])


def test_norms_are_shared_or_cut() -> None:
    view, gains = View("w"), Vector("g")
    for is_shared, wanted in ((True, GAINS), (False, GAINS[3:6])):
        attention = LayerAttention(
            0, 4, 4, 3, view, view, view, view, query_norm=gains, is_norm_shared=is_shared
        )
        norm = cut_heads(attention)[1].query_norm
        assert norm and np.array_equal(read_vector(CHECKPOINT, norm), wanted)


def test_values_can_have_a_size_of_their_own() -> None:
    head = cut_heads(LayerAttention(0, 4, 2, 3, View("w"), View("w"), View("w"), View("w"), value_dim=2))[3]
    assert head.query[0][0].spans == ((9, 12),)
    assert head.key[0][0].spans == ((3, 6),)
    assert head.value[0][0].spans == ((2, 4),)
    assert head.output.columns == (6, 8)


def test_an_embedding_writes_into_the_stream() -> None:
    weight = make_embedding_weight(View("w"))
    assert (weight.type, weight.stream) == ("W_E", "out")
    assert np.array_equal(view_matrix(CHECKPOINT, weight.view).dense(), ARRAY.T)


def test_heads_share_keys_evenly() -> None:
    require_even_groups("x", 8, 2)
    with pytest.raises(UserError, match="x: 8 heads cannot share 3 key heads evenly"):
        require_even_groups("x", 8, 3)
