"""Operations on balls: errors that cancel, and real numbers that lose nothing."""

import numpy as np
import pytest

from glassformer.checker.balls import make_box_coordinates
from glassformer.checker.ops_ball import BallOps


def test_an_error_that_becomes_a_coordinate_cancels_too(precise):
    ops = BallOps("float32", "float32")
    y = make_box_coordinates(ops.rules, [np.array([1.0])], [np.array([2.0])])[0][None]
    rounded = y * 0.1 + 3.0
    twice = ops.linear(ops.array([[1.0], [1.0]]), rounded)
    assert twice.drift().max() > 1e-7
    gap = twice[0] - twice[1]
    assert (gap.drift() - gap.error).max() == pytest.approx(0, abs=1e-15)


def test_nothing_is_lost_in_real_numbers(precise):
    ops = BallOps("float32", "real")
    assert not ops.exp(ops.array([0.1, 3.0]) * 7.0).error.any()
    assert np.isinf(BallOps("float32", "float32").softmax(ops.array([[[1.0]]]), 0.0).error).all()
