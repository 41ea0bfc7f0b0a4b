"""Operations on balls: errors that cancel, and real numbers that lose nothing."""

import numpy as np
import pytest
from flint import arb

from glassformer.checker.balls import make_box_coordinates
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.rounding import bound_growth


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


def test_growth_and_slopes_are_bounds_by_arb(precise):
    errors = np.concatenate([np.geomspace(1e-300, 1.0, 400), np.linspace(0.9, 300.0, 400), [0.0, np.inf]])
    grown = bound_growth(errors)
    assert all(
        arb(e).expm1() <= arb(g) for e, g in zip(errors[:-1].tolist(), grown[:-1].tolist(), strict=True)
    )
    assert np.isinf(grown[-1])
    root = arb(2).sqrt()  # the slope of gelu is largest there: Phi(x) + x phi(x)
    steepest = (1 + (root * arb(0.5).sqrt()).erf()) / 2 + root * (-root * root / 2).exp() / (
        2 * arb.pi()
    ).sqrt()
    assert steepest <= arb(1.13)
    share = [1 / (1 + (-arb(x)).exp()) for x in np.linspace(0, 8, 4001)]
    slopes = [s * (1 + arb(x) * (1 - s)) for s, x in zip(share, np.linspace(0, 8, 4001), strict=True)]
    assert all(slope + arb(0.0011) <= arb(1.101) for slope in slopes)  # its own slope is below 1/2 per unit
