"""Spans of float64 hold what balls of Arb hold, and what is unknown stays unknown."""

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from glassformer.checker.balls import BITS
from glassformer.checker.ops_ball import BallOps
from glassformer.checker.spans import (
    Spans,
    apply_by_balls,
    find_step,
    from_balls,
    take_absolute,
    take_positive,
    take_power,
    take_root,
    to_balls_of_spans,
)

_NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=True) | st.sampled_from([0.0, 1.0, -1.0, 1e-310, 1e160])


@pytest.fixture(autouse=True)
def _precise():
    before, ctx.prec = ctx.prec, 4 * BITS
    with np.errstate(all="ignore"):  # as in a check
        yield
    ctx.prec = before


@st.composite
def _spans(draw, count=6):
    ends = np.array(draw(st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=count, max_size=count)))
    return Spans(ends[:, 0].copy()) if draw(st.booleans()) else Spans(ends.min(1), ends.max(1))


def _ends(spans):
    return [
        np.array([arb(x) for x in end.ravel()], object).reshape(end.shape) for end in (spans.low, spans.high)
    ]


def _require_inside(spans, values):
    for low, high, value in zip(spans.low.ravel(), spans.high.ravel(), np.ravel(values), strict=True):
        assert np.isnan(low) or arb(low) <= value
        assert np.isnan(high) or value <= arb(high)


@given(_spans(), _spans())
def test_a_result_holds_that_of_every_pair_of_ends(x, y):
    for a in _ends(x):
        for b in _ends(y):
            _require_inside(x + y, a + b)
            _require_inside(x - y, a - b)
            _require_inside(x * y, a * b)
            _require_inside(x * -y, a * -b)
            _require_inside(x.sum(0), a.sum())
            found = x / y
            known = [i for i in range(6) if not np.isnan(found.low[i])]
            _require_inside(found[known], np.array([a[i] / b[i] for i in known], object))
            _require_inside(x.reshape(2, 3) @ y.reshape(3, 2), a.reshape(2, 3) @ b.reshape(3, 2))


@given(_spans())
def test_functions_hold_those_of_arb(x):
    for end in _ends(x):
        _require_inside(take_absolute(x), [abs(one) for one in end])
        _require_inside(take_positive(x), [max(one, arb(0)) for one in end])
        _require_inside(take_root(take_absolute(x)), [abs(one).sqrt() for one in end])
        _require_inside(
            apply_by_balls(np.frompyfunc(lambda one: one.erf(), 1, 1), x), [one.erf() for one in end]
        )


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=20))
def test_powers_are_those_of_arb_to_13_digits(numbers):
    found = take_power(Spans(np.array(numbers)))
    _require_inside(found, [arb(one).exp() for one in numbers])
    assert (found.high <= found.low * (1 + 1e-13)).all()


def test_powers_far_out_and_divisions_by_what_may_be_nothing_are_unknown():
    assert np.isnan(take_power(Spans(np.array([701.0, -701.0, np.inf, np.nan]))).high).all()
    around = Spans(np.array([-1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    assert np.isnan((Spans(np.ones(3)) / around).low).all()


def test_overflow_never_gives_a_bound_from_below():
    huge = Spans(np.array([1e308]))
    for found in (
        huge + huge,
        huge * huge,
        huge[None] @ Spans(np.array([[10.0]])),
        (huge + huge) - (huge + huge),
    ):
        assert not (found.low > 1.7e308).any()


def test_nothing_stays_nothing_so_that_it_costs_nothing():
    nothing, wide = Spans(np.zeros((2, 2))), Spans(np.full((2, 2), -3.0), np.full((2, 2), 5.0))
    for found in (nothing * wide, wide * nothing, nothing @ wide, nothing + nothing):
        assert (found.magnitude() == 0).all()


def test_products_that_underflow_are_not_nothing():
    tiny, huge = Spans(np.array([[5e-324, 1e-310]])), Spans(np.array([[0.5, -0.5], [1e300, 1.0]]))
    values = np.array(
        [[arb(5e-324) * arb(0.5) + arb(1e-310) * arb(1e300), arb(5e-324) * arb(-0.5) + arb(1e-310)]]
    )
    _require_inside(tiny @ huge, values)
    _require_inside(tiny[:, :1] @ huge[:1], np.array([[arb(5e-324) * arb(0.5), arb(5e-324) * arb(-0.5)]]))
    _require_inside(tiny * tiny, np.array([[arb(5e-324) ** 2, arb(1e-310) ** 2]]))


def test_balls_become_spans_that_hold_them():
    balls = np.array([arb(1) / 3, arb(0.5), arb(0, 1), arb(0.1) * arb(0.1)], object)
    found = from_balls(balls)
    assert all(a.contains(b) for a, b in zip(to_balls_of_spans(found), balls, strict=True))
    assert found.low[1] == found.high[1] == 0.5
    assert found.low[3] < found.high[3]  # exact, but no float64


def test_the_sign_decides_a_step():
    found = find_step(Spans(np.array([1.0, -2.0, -1.0, np.nan]), np.array([2.0, -1.0, 1.0, np.nan])))
    assert found.low.tolist() == [1, 0, 0, 0]
    assert found.high.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("name", ["gelu", "silu", "relu", "exp", "sqrt", "sin", "cos", "abs"])
def test_operations_in_spans_hold_those_in_balls(name):
    points = np.linspace(0.01 if name == "sqrt" else -4, 4, 33)
    exact, quick = BallOps("float32", "float32"), BallOps("float32", "float32", is_quick=True)
    balls, spans = (getattr(ops, name)(ops.array(points)) for ops in (exact, quick))
    assert all(a.contains(b) for a, b in zip(to_balls_of_spans(spans.over), balls.over, strict=True))
    assert (spans.over.high - spans.over.low <= 1e-13 * (1 + spans.size)).all()
    np.testing.assert_allclose(spans.error, balls.error, rtol=1e-9)
