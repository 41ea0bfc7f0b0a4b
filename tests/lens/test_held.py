"""Low-rank and transposed heads: read once, and the same numbers as without holding."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.held import RECENT, hold_blocks
from glassformer.lens.kernels import analyse_layer_kernels
from glassformer.lens.layout import HeadLayout, ModelLayout, View
from glassformer.lens.matrix import read_map
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor
from glassformer.lens.treatments import RAW

RANDOM = np.random.default_rng(0)
ARRAYS = {
    "down": RANDOM.normal(size=(5, 12)),  # shared by all heads: the low rank
    "up": RANDOM.normal(size=(2 * 3, 5)),  # a head's keys but one dimension
    "place": RANDOM.normal(size=(1, 12)),  # that dimension, shared
    "fused": RANDOM.normal(size=(12, 16)),  # stored in x out: queries and values of two heads
    "o": RANDOM.normal(size=(12, 8)),
}


def low_rank_head(index: int) -> HeadLayout:
    query, value = (4 * index, 4 * index + 4), (8 + 4 * index, 12 + 4 * index)
    return HeadLayout(
        0,
        index,
        index,
        query=((View("fused", (query,), is_transposed=True),),),
        key=((View("up", ((3 * index, 3 * index + 3),)), View("down")), (View("place"),)),
        value=((View("fused", (value,), is_transposed=True),),),
        output=View("o", columns=query),
    )


HEADS = tuple(low_rank_head(index) for index in range(2))


def counting(reads: Counter) -> Checkpoint:
    def counted(name, array):
        tensor = make_memory_tensor(name, array)

        def read(rows, columns):
            reads[name] += (rows.stop - rows.start) * (columns.stop - columns.start)
            return tensor.read(rows, columns)

        return replace(tensor, read=read)

    tensors = {name: counted(name, array) for name, array in ARRAYS.items()}
    return Checkpoint("toy", "toy", "safetensors", {}, tensors, "")


def test_low_rank_and_fused_heads_are_those_of_the_dense_matrices():
    layout = ModelLayout("Toy", 1, 2, 2, 4, 12, (), HEADS)
    for found in analyse_layer_kernels(counting(Counter()), layout, 0, [RAW]):
        first = 4 * found.head.index
        query, value = (ARRAYS["fused"][:, start : start + 4].T for start in (first, 8 + first))
        low_rank = ARRAYS["up"][3 * found.head.index :][:3] @ ARRAYS["down"]
        key = np.concatenate([low_rank, ARRAYS["place"]])
        dense = query.T @ key if found.kernel == "QK" else ARRAYS["o"][:, first : first + 4] @ value
        assert found.values == pytest.approx(np.linalg.svd(dense, compute_uv=False)[:4], rel=1e-9)


def test_each_number_is_read_once():
    reads = Counter()
    analyse_layer_kernels(counting(reads), ModelLayout("Toy", 1, 2, 2, 4, 12, (), HEADS), 0, [RAW])
    assert reads == {name: array.size for name, array in ARRAYS.items()}


def test_only_a_few_blocks_of_rows_are_kept():
    reads, view = Counter(), View("up", ((0, 3),))
    head = replace(HEADS[0], key=((view,),))
    held = hold_blocks(counting(reads), [head])
    up = held.tensor("up")
    up.block(slice(0, 1))
    up.block(slice(0, 1))
    assert reads["up"] == 5
    for place in range(RECENT):
        up.block(slice(place % 6, 6), slice(place // 6, 5))
    before = reads["up"]
    up.block(slice(0, 1))
    assert reads["up"] == before + 5


def test_holding_reads_nothing_by_itself():
    reads = Counter()
    held = hold_blocks(counting(reads), HEADS)
    assert not reads
    assert (read_map(held, HEADS[1].query) == ARRAYS["fused"][:, 4:8].T).all()
    assert {view.tensor for view in HEADS[0].views} == set(ARRAYS)


def test_a_missing_tensor_is_one_sentence():
    with pytest.raises(UserError, match="toy has no tensor called 'gone'"):
        hold_blocks(counting(Counter()), [replace(HEADS[0], output=View("gone"))])
