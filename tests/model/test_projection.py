"""Projections: how many numbers each stores, and the matrices that come of them."""

import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.model.blocks import whole
from glassformer.model.ops_numpy import NumpyOps
from glassformer.model.projection import (
    Constant,
    Direction,
    Full,
    Identity,
    Mirrored,
    RankOne,
    Repeated,
    Rotated,
    Sparse,
    Spread,
    Turn,
)

OPS = NumpyOps()
BASE = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("projection", "out", "size"),
    [
        (Full(), 4, 12),
        (Full(bias=True), 4, 16),
        (Full(reads=(1, 3)), 4, 8),
        (Full(writes=(0, 2), bias=True), 4, 8),
        (Rotated(of="base"), 4, 1),
        (RankOne(), 4, 7),
        (Direction(reads=(0, 2)), 1, 1),
        (Turn(reads=(0, 2), writes=(1, 3)), 4, 2),
        (Turn(reads=(0, 2), is_stretched=False), 2, 1),
        (Sparse(places=((0, 1), (3, 2))), 4, 2),
        (Identity(), 3, 0),
        (Mirrored(reads=(0, 2)), 4, 3),
        (Repeated(), 4, 6),
        (Repeated(bias=True), 4, 10),
        (Spread(), 4, 0),
    ],
)
def test_counts_and_shapes(projection, out, size):
    stored = projection.parameters("attn.q", out, 3)
    assert sum(parameter.size for parameter in stored.values()) == size
    values = {name: np.ones(parameter.shape) for name, parameter in stored.items()} | {"base": BASE}
    assert projection(OPS, values, "attn.q", np.ones((3, 5, 2)), out).shape == (out, 5, 2)


def matrix_of(projection, out: int, dims: int, **values: object) -> list[list[float]]:
    """The matrix, column by column: what it makes of the unit vectors."""
    params = {key.replace("_", "."): np.array(value, float) for key, value in values.items()}
    made = whole(projection(OPS, params, "p", np.eye(dims)[:, :, None], out))
    return made[:, :, 0].round(12).tolist()


def test_matrices_by_hand():
    assert matrix_of(RankOne(), 2, 3, p_read=[1, 0, 2], p_write=[1, -1]) == [[1, 0, 2], [-1, 0, -2]]
    assert matrix_of(Sparse(places=((1, 0), (0, 2))), 2, 3, p_values=[5, 7]) == [[0, 0, 7], [5, 0, 0]]
    assert matrix_of(Identity(reads=(1, 3)), 2, 3) == [[0, 1, 0], [0, 0, 1]]
    assert matrix_of(Direction(), 1, 2, p_angle=np.pi / 2) == [[0, 1]]
    assert matrix_of(Turn(), 2, 2, p_angle=np.pi / 2, p_stretch=3) == [[0, -3], [3, 0]]
    eighth = 0.5**0.5
    turned = matrix_of(Turn(is_stretched=False), 2, 2, p_angle=np.pi / 4)
    np.testing.assert_allclose(turned, [[eighth, -eighth], [eighth, eighth]])
    assert matrix_of(Full(reads=(2, 3), writes=(1, 2)), 3, 3, p_weight=[[4]]) == [
        [0, 0, 0],
        [0, 0, 4],
        [0, 0, 0],
    ]


def test_a_quarter_turn_swaps_the_rows_of_each_pair():
    turned = matrix_of(Rotated(of="base"), 4, 3, base=BASE, p_angle=np.pi / 2)
    np.testing.assert_allclose(turned, [-BASE[1], BASE[0], -BASE[3], BASE[2]])
    odd = matrix_of(Rotated(of="base.T"), 3, 4, base=BASE, p_angle=np.pi / 2)
    np.testing.assert_allclose(odd, [-BASE.T[1], BASE.T[0], BASE.T[2]])


def test_a_bias_is_added_to_what_is_written():
    values = {"p.weight": np.ones((1, 2)), "p.bias": np.array([10.0])}
    result = Full(bias=True, writes=(1, 2))(OPS, values, "p", np.ones((2, 1, 1)), 3)
    assert whole(result)[:, 0, 0].tolist() == [0, 12, 0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Full(reads=(1, 4)).parameters("ff.up", 2, 3),
            "ff.up.reads must be two places within 0..3, but it is (1, 4)",
        ),
        (
            lambda: Full(reads=(2, 2)).parameters("ff.up", 2, 3),
            "ff.up.reads must be two places within 0..3, but it is (2, 2)",
        ),
        (
            lambda: Full(writes=(0, 3)).parameters("ff.up", 2, 3),
            "ff.up.writes must be two places within 0..2, but it is (0, 3)",
        ),
        (
            lambda: Identity().parameters("attn.k", 2, 3),
            "attn.k must be as many outputs as the 3 dimensions it reads, but it is 2",
        ),
        (
            lambda: Direction().parameters("attn.v", 1, 3),
            "attn.v must be 1 output of 2 dimensions, or 2 of 1, but it is '1 of 3'",
        ),
        (
            lambda: Turn().parameters("attn.q", 2, 3),
            "attn.q must be 2 outputs of 2 dimensions, but it is '2 of 3'",
        ),
        (
            lambda: Sparse(places=((2, 0),)).parameters("attn.v", 2, 3),
            "attn.v.places must be different places inside 2 x 3, but it is ((2, 0),)",
        ),
        (
            lambda: Sparse(places=((1, 0), (1, 0))).parameters("attn.v", 2, 3),
            "attn.v.places must be different places inside 2 x 3, but it is ((1, 0), (1, 0))",
        ),
        (
            lambda: matrix_of(Rotated(of="attn.q.wight"), 4, 3, attn_q_weight=BASE, p_angle=0),
            "no parameter called 'attn.q.wight'; did you mean 'attn.q.weight'?",
        ),
        (
            lambda: matrix_of(Rotated(of="base.T"), 4, 3, base=BASE, p_angle=0),
            "p.of must be a weight of 4 x 3, but it is 'base.T'",
        ),
    ],
)
def test_bad_settings_get_one_sentence(call, sentence):
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value) == sentence


def test_hand_built_matrices():
    mirror = matrix_of(Mirrored(), 4, 2, p_angle=[0, np.pi / 2], p_scale=3)
    assert mirror == [[-3, 0], [0, 3], [0, 3], [3, 0]]
    assert matrix_of(Repeated(), 4, 2, p_weight=[[1, 2], [3, 4]]) == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert matrix_of(Spread(reads=(1, 3)), 2, 3) == [[0, 1, 1], [0, 1, 1]]


def test_a_mirrored_query_finds_the_place_that_sums_to_its_angle():
    """Places 0 to 10 on a circle, and a mirror at 8: place 3 finds place 5, place 10 finds place 9 (19 = 8 + 11)."""
    angle = 2 * np.pi * np.arange(11) / 11
    places = np.stack([np.sin(angle), np.cos(angle)])[:, :, None]
    values = {"q.angle": np.array([2 * np.pi * 8 / 11]), "q.scale": np.array(100.0)}
    queries = Mirrored()(OPS, values, "q", places, 2)
    found = np.einsum("dqb,dkb->qk", queries, places).argmax(1)
    assert found.tolist() == [(8 - place) % 11 for place in range(11)]


def test_a_constant_is_the_same_everywhere():
    assert sum(parameter.size for parameter in Constant().parameters("q", 5, 3).values()) == 1
    made = Constant()(OPS, {"q.bias": np.array(2.5)}, "q", np.ones((3, 4, 6)), 5)
    np.testing.assert_array_equal(made, np.full((5, 4, 1), 2.5))  # no sequence changes it


def test_what_does_not_fit_is_said():
    with pytest.raises(UserError, match=r"up.times must be a divisor of the 5 outputs, but it is 2"):
        Repeated().parameters("up", 5, 3)
    with pytest.raises(UserError, match=r"q must be pairs of outputs of 2 dimensions, but it is '4 of 3'"):
        Mirrored().parameters("q", 4, 3)
    with pytest.raises(UserError, match=r"q must be a constant with a bias"):
        Constant(reads=(0, 1)).parameters("q", 4, 3)
