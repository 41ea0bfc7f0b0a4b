"""Slopes along a chain are those of the function itself."""

import numpy as np
from flint import arb

from glassformer.checker.balls import make_box_coordinates
from glassformer.checker.chain import chain_slopes, separate_dimensions
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.rounding import RoundingRules

REAL = RoundingRules(np.dtype("float64"), "real")


def test_a_stretch_chained_is_the_function_itself(precise):
    ops = BallOps("float64", "real")
    y = make_box_coordinates(REAL, [np.array([1.0])], [np.array([1.25])])[0][None]
    inner = ops.exp(y)
    alone, names = separate_dimensions(inner)
    whole = chain_slopes(ops.sin(alone), inner, names)
    assert all(whole.over[0, 0].contains(arb(place).exp().sin()) for place in (1.0, 1.1, 1.25))
    assert whole.slopes[0][0, 0].contains(arb(1.1).exp() * arb(1.1).exp().cos())
