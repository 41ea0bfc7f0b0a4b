"""Balls hold what they enclose: values over a box, slopes, and what float32 makes of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.checker.balls import bound_above, bound_below, bound_magnitude, make_box_coordinates
from glassformer.checker.certificate import set_check_precision
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.rounding import RoundingRules
from glassformer.models.ops_numpy import NumpyOps

REAL = RoundingRules(np.dtype("float64"), "real")
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
    with set_check_precision():
        for ball, here, beside in zip(
            bends(BallOps("float64", "real"), make_box_coordinates(REAL, *([end] for end in ends))[0]),
            bends(NumpyOps(), np.array([y])),
            bends(NumpyOps(), np.array([y + step])),
            strict=True,
        ):
            assert bound_below(ball.over)[0] - 1e-12 <= here[0] <= bound_above(ball.over)[0] + 1e-12
            if y + step < high:
                slope = (beside[0] - here[0]) / step
                assert bound_below(ball.slopes[0])[0] - 1e-5 <= slope <= bound_above(ball.slopes[0])[0] + 1e-5


@given(st.lists(numbers, min_size=6, max_size=6))
def test_float32_stays_within_its_error(values):
    weight, x = np.array(values[:4], np.float32).reshape(2, 2), np.array(values[4:], np.float32)[:, None]
    with set_check_precision():
        balls = BallOps("float32", "float32")
        product = balls.linear(balls.array(weight), balls.array(x))
        deployed = NumpyOps("float32")
        for ball, number in zip(
            bends(balls, balls.gelu(product) * 0.1),
            bends(deployed, deployed.gelu(deployed.linear(weight, x)) * np.float32(0.1)),
            strict=True,
        ):
            outside = np.maximum(bound_below(ball.over) - number, number - bound_above(ball.over))
            assert (outside <= ball.error).all()


def test_what_cancels_does_cancel(precise):
    y = make_box_coordinates(REAL, [np.array([1.0])], [np.array([3.0])])[0]
    assert bound_magnitude((y - y * 1.000001).over)[0] < 4e-6
    assert bound_magnitude((y - y).over)[0] == 0


def test_nothing_times_what_may_overflow_is_no_number():
    """0 x infinity: the token that is then written is no longer the one with the largest logit."""
    ops = BallOps("float32", "float32")
    with set_check_precision(), np.errstate(over="ignore"):
        huge = ops.array([3e38]) * 3.0
        assert np.isinf((huge * 0.0).error).all()
        assert not (ops.array([3e38]) * 0.0).error.any()
