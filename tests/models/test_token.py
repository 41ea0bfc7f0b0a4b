"""Token tables by hand."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.token import ArcTable, LearnedTable, QuadraticTable, RankOneTable, SparseTable


@pytest.mark.parametrize(
    ("token", "size"),
    [
        (LearnedTable(), 30),
        (ArcTable(), 3),
        (ArcTable(middle=0.125), 2),
        (RankOneTable(), 13),
        (SparseTable(places=((1, 2), (9, 0))), 2),
        (QuadraticTable(), 2),
    ],
)
def test_counts_for_ten_digits_in_three_dimensions(token, size):
    stored = token.parameters("token", 10, 3)
    assert sum(parameter.size for parameter in stored.values()) == size
    values = {name: np.ones(parameter.shape) for name, parameter in stored.items()}
    assert token.table(NumpyOps(), values, "token", 10, 3).shape == (10, 3)


def test_arc_by_hand():
    quarter = {
        "token.amplitude": np.float64(2),
        "token.start": np.float64(0),
        "token.stride": np.float64(np.pi / 2),
    }
    table = ArcTable().table(NumpyOps(), quarter, "token", 4, 3)
    np.testing.assert_allclose(table, [[2, 0, 0], [0, 2, 0], [-2, 0, 0], [0, -2, 0]], atol=1e-15)


def test_an_arc_about_its_middle_by_hand():
    """Three tokens an eighth of a turn apart, about the diagonal: 0, 45 and 90 degrees."""
    values = {"token.amplitude": np.float64(2), "token.stride": np.float64(np.pi / 4)}
    table = ArcTable(middle=0.125).table(NumpyOps(), values, "token", 3, 2)
    np.testing.assert_allclose(table, [[2, 0], [2**0.5, 2**0.5], [0, 2]], atol=1e-15)
    assert (ArcTable(middle=0.125).list_constants(2), ArcTable().list_constants(2)) == ({"middle": 0.125}, {})


def test_rank1_by_hand():
    values = {"token.value": np.array([0.0, 1.0, 2.0]), "token.direction": np.array([1.0, -1.0])}
    assert RankOneTable().table(NumpyOps(), values, "token", 3, 2).tolist() == [[0, 0], [1, -1], [2, -2]]


def test_quadratic_by_hand():
    values = {"token.c0": np.float64(10), "token.c1": np.float64(1)}
    assert QuadraticTable().table(NumpyOps(), values, "token", 3, 2).tolist() == [[10, 0], [9, -1], [6, -2]]


@pytest.mark.parametrize(("token", "name"), [(ArcTable(), "an arc"), (QuadraticTable(), "a quadratic")])
def test_planes_need_two_dimensions(token, name):
    with pytest.raises(UserError, match=f"width of {name} embedding must be at least 2, but it is 1"):
        token.parameters("token", 10, 1)


def test_a_sparse_table_by_hand():
    table = SparseTable(places=((0, 1), (2, 0)))
    values = {"token.values": np.array([5.0, 7.0])}
    assert table.table(NumpyOps(), values, "token", 3, 2).tolist() == [[0, 5], [0, 0], [7, 0]]
    with pytest.raises(UserError, match=r"token.places must be different entries inside 3 x 2"):
        SparseTable(places=((3, 0),)).parameters("token", 3, 2)
