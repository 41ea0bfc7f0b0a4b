"""Heads by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.models.head import CLOSED, LinearHead, LowestHead, ParabolicHead, TiedHead
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import FullProjection

OPS = NumpyOps()
TABLE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # tok dim


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (LinearHead(), 18),
        (LinearHead(FullProjection()), 15),
        (TiedHead(), 0),
        (TiedHead(FullProjection()), 10),
        (ParabolicHead(), 3),
        (LowestHead(tokens=2), 0),
    ],
)
def test_counts_for_three_tokens_and_width_five(head, size):
    stored = head.parameters("head", 3, 5, 2)
    assert sum(parameter.size for parameter in stored.values()) == size
    values = {name: np.ones(parameter.shape) for name, parameter in stored.items()}
    assert head(OPS, values, "head", np.ones((5, 4, 6)), TABLE).shape == (3, 4, 6)


def test_a_tied_head_scores_against_the_table():
    """Without a weight it reads the token's own dimensions, the first ones."""
    x = np.array([2.0, 3.0, 99.0])[:, None, None]
    assert TiedHead()(OPS, {}, "head", x, TABLE)[:, 0, 0].tolist() == [2, 3, 5]
    weight = {"head.weight": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])}
    assert TiedHead(FullProjection())(OPS, weight, "head", x, TABLE)[:, 0, 0].tolist() == [3, 2, 5]


@given(st.floats(0, 9))
@settings(deadline=None, derandomize=True)
def test_the_parabola_is_largest_at_the_nearest_digit(y):
    values = {"head.slope": np.float64(2), "head.bend": np.float64(-1), "head.read": np.float64(1)}
    scores = ParabolicHead()(OPS, values, "head", np.array([[[0.0]], [[y]]]), np.zeros((10, 2)))
    assert abs(int(np.argmax(scores)) - y) <= 0.5 + 1e-12


def test_a_parabola_of_a_dimension_that_is_not_there():
    with pytest.raises(UserError, match=r"head.reads must be a dimension below 4, but it is 4"):
        ParabolicHead(reads=4).parameters("head", 10, 4, 4)


def test_the_lowest_dimension_wins_and_closed_tokens_never_do():
    x = np.array([4.0, -3.0, 7.0])[:, None, None]
    assert LowestHead(tokens=2)(OPS, {}, "head", x, TABLE)[:, 0, 0].tolist() == [-4, 3, CLOSED]
    with pytest.raises(UserError, match=r"head.tokens must be between 1 and 3, but it is 4"):
        LowestHead(tokens=4).parameters("head", 3, 5, 5)
