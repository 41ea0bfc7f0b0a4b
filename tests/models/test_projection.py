"""Projections: how many numbers each stores, and the matrices that come of them."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.blocks import to_dense
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import (
    ConstantProjection,
    DirectionProjection,
    FullProjection,
    IdentityProjection,
    MirroredProjection,
    PatternProjection,
    RankOneProjection,
    RepeatedProjection,
    RotatedProjection,
    SparseProjection,
    SpreadProjection,
    TurnProjection,
)
from glassformer.runs.tree import from_tree, to_tree

OPS = NumpyOps()
BASE = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("projection", "out", "size"),
    [
        (FullProjection(), 4, 12),
        (FullProjection(bias=True), 4, 16),
        (FullProjection(reads=(1, 3)), 4, 8),
        (FullProjection(writes=(0, 2), bias=True), 4, 8),
        (RotatedProjection(of="base"), 4, 1),
        (RankOneProjection(), 4, 7),
        (DirectionProjection(reads=(0, 2)), 1, 1),
        (TurnProjection(reads=(0, 2), writes=(1, 3)), 4, 2),
        (TurnProjection(reads=(0, 2), is_stretched=False), 2, 1),
        (SparseProjection(places=((0, 1), (3, 2))), 4, 2),
        (IdentityProjection(), 3, 0),
        (MirroredProjection(reads=(0, 2)), 4, 3),
        (RepeatedProjection(), 4, 6),
        (RepeatedProjection(bias=True), 4, 10),
        (SpreadProjection(), 4, 0),
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
    made = to_dense(projection(OPS, params, "p", np.eye(dims)[:, :, None], out))
    return made[:, :, 0].round(12).tolist()


def test_matrices_by_hand():
    assert matrix_of(RankOneProjection(), 2, 3, p_read=[1, 0, 2], p_write=[1, -1]) == [[1, 0, 2], [-1, 0, -2]]
    assert matrix_of(SparseProjection(places=((1, 0), (0, 2))), 2, 3, p_values=[5, 7]) == [
        [0, 0, 7],
        [5, 0, 0],
    ]
    assert matrix_of(IdentityProjection(reads=(1, 3)), 2, 3) == [[0, 1, 0], [0, 0, 1]]
    assert matrix_of(DirectionProjection(), 1, 2, p_angle=np.pi / 2) == [[0, 1]]
    assert matrix_of(TurnProjection(), 2, 2, p_angle=np.pi / 2, p_stretch=3) == [[0, -3], [3, 0]]
    eighth = 0.5**0.5
    turned = matrix_of(TurnProjection(is_stretched=False), 2, 2, p_angle=np.pi / 4)
    np.testing.assert_allclose(turned, [[eighth, -eighth], [eighth, eighth]])
    assert matrix_of(FullProjection(reads=(2, 3), writes=(1, 2)), 3, 3, p_weight=[[4]]) == [
        [0, 0, 0],
        [0, 0, 4],
        [0, 0, 0],
    ]


def test_a_quarter_turn_swaps_the_rows_of_each_pair():
    turned = matrix_of(RotatedProjection(of="base"), 4, 3, base=BASE, p_angle=np.pi / 2)
    np.testing.assert_allclose(turned, [-BASE[1], BASE[0], -BASE[3], BASE[2]])
    odd = matrix_of(RotatedProjection(of="base.T"), 3, 4, base=BASE, p_angle=np.pi / 2)
    np.testing.assert_allclose(odd, [-BASE.T[1], BASE.T[0], BASE.T[2]])


def test_a_bias_is_added_to_what_is_written():
    values = {"p.weight": np.ones((1, 2)), "p.bias": np.array([10.0])}
    result = FullProjection(bias=True, writes=(1, 2))(OPS, values, "p", np.ones((2, 1, 1)), 3)
    assert to_dense(result)[:, 0, 0].tolist() == [0, 12, 0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: FullProjection(reads=(1, 4)).parameters("ff.up", 2, 3),
            "ff.up.reads must be two bounds within 0..3, but it is (1, 4)",
        ),
        (
            lambda: FullProjection(reads=(2, 2)).parameters("ff.up", 2, 3),
            "ff.up.reads must be two bounds within 0..3, but it is (2, 2)",
        ),
        (
            lambda: FullProjection(writes=(0, 3)).parameters("ff.up", 2, 3),
            "ff.up.writes must be two bounds within 0..2, but it is (0, 3)",
        ),
        (
            lambda: IdentityProjection().parameters("attn.k", 2, 3),
            "attn.k must be as many outputs as the 3 dimensions it reads, but it is 2",
        ),
        (
            lambda: DirectionProjection().parameters("attn.v", 1, 3),
            "attn.v must be 1 output of 2 dimensions, or 2 of 1, but it is '1 of 3'",
        ),
        (
            lambda: TurnProjection().parameters("attn.q", 2, 3),
            "attn.q must be 2 outputs of 2 dimensions, but it is '2 of 3'",
        ),
        (
            lambda: SparseProjection(places=((2, 0),)).parameters("attn.v", 2, 3),
            "attn.v.places must be different entries inside 2 x 3, but it is ((2, 0),)",
        ),
        (
            lambda: SparseProjection(places=((1, 0), (1, 0))).parameters("attn.v", 2, 3),
            "attn.v.places must be different entries inside 2 x 3, but it is ((1, 0), (1, 0))",
        ),
        (
            lambda: matrix_of(RotatedProjection(of="attn.q.wight"), 4, 3, attn_q_weight=BASE, p_angle=0),
            "no parameter called 'attn.q.wight'; did you mean 'attn.q.weight'?",
        ),
        (
            lambda: matrix_of(RotatedProjection(of="base.T"), 4, 3, base=BASE, p_angle=0),
            "p.of must be a weight of 4 x 3, but it is 'base.T'",
        ),
    ],
)
def test_bad_settings_get_one_sentence(call, sentence):
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value) == sentence


def test_hand_built_matrices():
    mirror = matrix_of(MirroredProjection(), 4, 2, p_angle=[0, np.pi / 2], p_scale=3)
    assert mirror == [[-3, 0], [0, 3], [0, 3], [3, 0]]
    assert matrix_of(RepeatedProjection(), 4, 2, p_weight=[[1, 2], [3, 4]]) == [
        [1, 2],
        [1, 2],
        [3, 4],
        [3, 4],
    ]
    assert matrix_of(SpreadProjection(reads=(1, 3)), 2, 3) == [[0, 1, 1], [0, 1, 1]]


def test_a_mirrored_query_finds_the_place_that_sums_to_its_angle():
    """Places 0 to 10 on a circle, and a mirror at 8: place 3 finds place 5, place 10 finds place 9 (19 = 8 + 11)."""
    angle = 2 * np.pi * np.arange(11) / 11
    places = np.stack([np.sin(angle), np.cos(angle)])[:, :, None]
    values = {"q.angle": np.array([2 * np.pi * 8 / 11]), "q.scale": np.array(100.0)}
    queries = MirroredProjection()(OPS, values, "q", places, 2)
    found = np.einsum("dqb,dkb->qk", queries, places).argmax(1)
    assert found.tolist() == [(8 - place) % 11 for place in range(11)]


def test_a_constant_is_the_same_everywhere():
    assert sum(parameter.size for parameter in ConstantProjection().parameters("q", 5, 3).values()) == 1
    made = ConstantProjection()(OPS, {"q.bias": np.array(2.5)}, "q", np.ones((3, 4, 6)), 5)
    np.testing.assert_array_equal(made, np.full((5, 4, 1), 2.5))  # no sequence changes it


def test_what_does_not_fit_is_said():
    with pytest.raises(UserError, match=r"up.times must be a divisor of the 5 outputs, but it is 2"):
        RepeatedProjection().parameters("up", 5, 3)
    with pytest.raises(UserError, match=r"q must be pairs of outputs of 2 dimensions, but it is '4 of 3'"):
        MirroredProjection().parameters("q", 4, 3)
    with pytest.raises(UserError, match=r"q must be a constant with a bias"):
        ConstantProjection(reads=(0, 1)).parameters("q", 4, 3)


HINGES = PatternProjection(entries=("-gap -1", "0 gap", "1 rise"))


def test_a_name_that_comes_again_is_stored_once():
    assert list(HINGES.parameters("ff.up", 3, 2)) == ["ff.up.gap", "ff.up.rise"]


def test_entries_and_signs():
    params = {"ff.up.gap": np.array(5.0), "ff.up.rise": np.array(7.0)}
    assert HINGES.weight(OPS, params, "ff.up", 3, 2).tolist() == [[-5, -1], [0, 5], [1, 7]]


def test_precision_is_kept():
    params = {"ff.up.gap": np.float32(5.0), "ff.up.rise": np.float32(7.0)}
    assert HINGES.weight(NumpyOps("float32"), params, "ff.up", 3, 2).dtype == np.float32


def test_jax_makes_the_same_matrix():
    from glassformer.models.ops_jax import JaxOps

    params = {"ff.up.gap": np.float32(5.0), "ff.up.rise": np.float32(7.0)}
    assert HINGES.weight(JaxOps(), params, "ff.up", 3, 2).tolist() == [[-5, -1], [0, 5], [1, 7]]


def test_survives_a_file():
    assert from_tree(PatternProjection, to_tree(HINGES), "model.ff.up") == HINGES


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (("a 1",), "ff.up.entries must be 2 texts of 2 entries, but it is ('a 1',)"),
        (("a 1", "b"), "ff.up.entries must be 2 texts of 2 entries, but it is ('a 1', 'b')"),
        (
            ("a 2", "b 0"),
            "ff.up.entries must be 0, 1, -1 and names other than bias, but it is ('a 2', 'b 0')",
        ),
        (
            ("a 1", "bias 0"),
            "ff.up.entries must be 0, 1, -1 and names other than bias, but it is ('a 1', 'bias 0')",
        ),
    ],
)
def test_errors(entries, message):
    with pytest.raises(UserError) as error:
        PatternProjection(entries=entries).parameters("ff.up", 2, 2)
    assert str(error.value) == message


def test_a_direction_that_one_input_takes():
    column = DirectionProjection().weight(OPS, {"attn.q.angle": np.array(np.pi / 2)}, "attn.q", 2, 1)
    assert column.round(12).tolist() == [[0], [1]]


@pytest.mark.parametrize("kind", [SpreadProjection, IdentityProjection, RankOneProjection])
def test_a_matrix_that_hardly_anything_stores_is_not_made_vast(kind):
    """A file of two kilobytes would ask for gigabytes."""
    with pytest.raises(UserError, match=r"attn.out must be a matrix with at most 1,000,000 entries that are"):
        kind().parameters("attn.out", 4096, 4096)
    assert FullProjection().parameters("attn.out", 4096, 4096)["attn.out.weight"].size == 4096**2
