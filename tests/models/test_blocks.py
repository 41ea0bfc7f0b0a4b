"""A stream in blocks: the same numbers as the plain array, and a batch of 1 wherever nothing varies."""

import numpy as np
import pytest

from glassformer.models.blocks import Blocks, TokenLookup, join_blocks, map_blocks, sum_squares, to_dense
from glassformer.models.forward import forward, list_parameters
from glassformer.models.ops_numpy import NumpyOps
from glassformer.zoo import ZOO

OPS = NumpyOps()
TABLE = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])  # three tokens in the plane
TOKENS = np.array([[0, 1, 2, 2], [1, 1, 0, 2]])  # pos batch
PLACES = np.array([[[7.0], [8.0]], [[9.0], [1.0]], [[2.0], [3.0]]])  # dim pos 1
PLAIN = np.concatenate([np.moveaxis(TABLE[TOKENS], -1, 0), np.broadcast_to(PLACES, (3, 2, 4))])


@pytest.fixture
def stream():
    return Blocks(OPS, [TokenLookup(OPS, TABLE, TOKENS), PLACES])


def test_it_has_the_shape_and_the_numbers_of_the_whole(stream):
    assert stream.shape == PLAIN.shape
    np.testing.assert_array_equal(to_dense(stream), PLAIN)


def test_slices_are_those_of_the_whole(stream):
    for first in range(5):
        for stop in range(first + 1, 6):
            np.testing.assert_array_equal(to_dense(stream[first:stop]) + np.zeros(4), PLAIN[first:stop])
            np.testing.assert_array_equal(
                to_dense(stream[first:stop, 1:]) + np.zeros(4), PLAIN[first:stop, 1:]
            )
    np.testing.assert_array_equal(np.broadcast_to(stream[-1], (2, 4)), PLAIN[-1])


FIXED = np.random.default_rng(0)
OTHERS = [
    3.0,
    FIXED.normal(size=(5, 1, 1)),
    FIXED.normal(size=(2, 1)),
    FIXED.normal(size=(2, 4)),
    FIXED.normal(size=(5, 2, 4)),
    Blocks(OPS, [FIXED.normal(size=(4, 2, 1)), FIXED.normal(size=(1, 2, 4))]),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: str(getattr(other, "shape", "number")))
def test_arithmetic_is_that_of_the_whole(stream, other):
    plain = to_dense(other)
    np.testing.assert_allclose(to_dense(stream + other), PLAIN + plain)
    np.testing.assert_allclose(to_dense(stream - other), PLAIN - plain)
    np.testing.assert_allclose(to_dense(stream * other), PLAIN * plain)
    np.testing.assert_allclose(to_dense(other * stream), PLAIN * plain)
    np.testing.assert_allclose(to_dense(stream / other), PLAIN / plain)
    twice = stream * other * FIXED.normal(size=(5, 1, 1)) / FIXED.normal(size=(2, 1))
    assert to_dense(twice).shape == PLAIN.shape


def test_products_with_what_is_shared_leave_a_lookup(stream):
    scaled = (stream * np.ones((5, 1, 1)) / np.array([[2.0], [4.0]]))[:2]
    assert isinstance(scaled.parts[0], TokenLookup)
    np.testing.assert_allclose(to_dense(scaled), PLAIN[:2] / [[2.0], [4.0]])


def test_a_weight_meets_the_table_and_not_the_places(stream):
    weight = FIXED.normal(size=(3, 5))
    np.testing.assert_allclose(to_dense(OPS.linear(weight, stream)), np.einsum("od,dpb->opb", weight, PLAIN))
    read = OPS.linear(weight[:, :2], stream[:2])
    assert read.parts[0].table.shape == (3, 3)
    np.testing.assert_allclose(to_dense(read), np.einsum("od,dpb->opb", weight[:, :2], PLAIN[:2]))
    biased = OPS.linear(weight, stream, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(
        to_dense(biased) - to_dense(OPS.linear(weight, stream)),
        [[[1.0]], [[2.0]], [[3.0]]] * np.ones((3, 2, 4)),
    )


def test_functions_and_squares(stream):
    np.testing.assert_allclose(to_dense(map_blocks(np.tanh, stream)), np.tanh(PLAIN))
    np.testing.assert_allclose(sum_squares(OPS, stream), (PLAIN**2).sum(0))
    equal = TokenLookup(OPS, np.array([[3.0, 4.0], [5.0, 0.0]]), TOKENS % 2, square=np.array(25.0))
    np.testing.assert_allclose(sum_squares(OPS, Blocks(OPS, [equal, PLACES])), 25 + (PLACES**2).sum(0))


def test_one_plain_block_is_not_wrapped():
    assert join_blocks(OPS, [PLACES]) is PLACES


@pytest.mark.parametrize("name", ["microadder-57", "microadder-62", "glass-47", "glass-29"])
def test_attention_on_an_arc_does_not_depend_on_the_digits(name):
    """What the engine finds by itself: one attention matrix for the whole batch."""
    entry, seen = ZOO[name], {}
    params = {key: FIXED.normal(size=p.shape) for key, p in list_parameters(entry.architecture).items()}
    tokens = FIXED.integers(0, 10, (32, 6))
    forward(entry.architecture, OPS, params, tokens, last=11, record=seen.__setitem__)
    assert seen["attn.weights.0"].shape == (11, 32, 1)
    assert seen["attn.mixed"].shape == (1, 11, 6)
