"""Balls hold what they enclose: values over a box, slopes, and what float32 makes of them."""

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from glassformer.check.balls import box, lower, most, upper
from glassformer.check.certificate import exactly_enough
from glassformer.check.chain import apart, chained
from glassformer.check.ops_ball import BallOps
from glassformer.check.rounding import Rules
from glassformer.model.ops_numpy import NumpyOps

REAL = Rules(np.dtype("float64"), "real")
numbers = st.floats(-3, 3, width=32)


def bends(ops, x):
    """Every function of one number that a pass uses; x is above -4."""
    yield from (ops.relu(x), ops.gelu(x), ops.silu(x), ops.abs(x), ops.sin(x), ops.cos(x), ops.exp(x))
    yield from (x * x, x - x * 1.000001, 1.0 / (x + 5.0), ops.sqrt(x + 4.5), -x)


@given(numbers, numbers, st.integers(0, 16))
def test_values_and_slopes_hold_over_the_box(one, other, where):
    low, high = min(one, other), max(one, other)
    y = low + (high - low) * where / 16
    ends = np.array([low]), np.array([high])
    step = 1e-6
    with exactly_enough():
        for ball, here, beside in zip(
            bends(BallOps("float64", "real"), box(REAL, *([end] for end in ends))[0]),
            bends(NumpyOps(), np.array([y])),
            bends(NumpyOps(), np.array([y + step])),
            strict=True,
        ):
            assert lower(ball.over)[0] - 1e-12 <= here[0] <= upper(ball.over)[0] + 1e-12
            if y + step < high:
                slope = (beside[0] - here[0]) / step
                assert lower(ball.slopes[0])[0] - 1e-5 <= slope <= upper(ball.slopes[0])[0] + 1e-5


@given(st.lists(numbers, min_size=6, max_size=6))
def test_float32_stays_within_its_error(values):
    weight, x = np.array(values[:4], np.float32).reshape(2, 2), np.array(values[4:], np.float32)[:, None]
    with exactly_enough():
        balls = BallOps("float32", "float32")
        product = balls.linear(balls.array(weight), balls.array(x))
        deployed = NumpyOps("float32")
        for ball, number in zip(
            bends(balls, balls.gelu(product) * 0.1),
            bends(deployed, deployed.gelu(deployed.linear(weight, x)) * np.float32(0.1)),
            strict=True,
        ):
            outside = np.maximum(lower(ball.over) - number, number - upper(ball.over))
            assert (outside <= ball.error).all()


def test_what_cancels_does_cancel(precise):
    y = box(REAL, [np.array([1.0])], [np.array([3.0])])[0]
    assert most((y - y * 1.000001).over)[0] < 4e-6
    assert most((y - y).over)[0] == 0


def test_an_error_that_becomes_a_coordinate_cancels_too(precise):
    ops = BallOps("float32", "float32")
    y = box(ops.rules, [np.array([1.0])], [np.array([2.0])])[0][None]
    rounded = y * 0.1 + 3.0
    twice = ops.linear(ops.array([[1.0], [1.0]]), rounded)
    assert twice.drift().max() > 1e-7
    gap = twice[0] - twice[1]
    assert (gap.drift() - gap.error).max() == pytest.approx(0, abs=1e-15)


def test_a_stretch_chained_is_the_function_itself(precise):
    ops = BallOps("float64", "real")
    y = box(REAL, [np.array([1.0])], [np.array([1.25])])[0][None]
    inner = ops.exp(y)
    alone, names = apart(inner)
    whole = chained(ops.sin(alone), inner, names)
    assert all(whole.over[0, 0].contains(arb(place).exp().sin()) for place in (1.0, 1.1, 1.25))
    assert whole.slopes[0][0, 0].contains(arb(1.1).exp() * arb(1.1).exp().cos())


def test_nothing_is_lost_in_real_numbers(precise):
    ops = BallOps("float32", "real")
    assert not ops.exp(ops.array([0.1, 3.0]) * 7.0).error.any()
    assert np.isinf(BallOps("float32", "float32").softmax(ops.array([[[1.0]]]), 0.0).error).all()
