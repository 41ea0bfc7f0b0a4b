"""Ends of a norm hold every point of the ranges, and are given nowhere that float64 cannot find them."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from glassformer.checker.balls import enclose_range, make_fixed_balls
from glassformer.checker.certificate import set_check_precision
from glassformer.checker.norms import bound_norm
from glassformer.checker.rounding import RoundingRules
from glassformer.models.norm import RMSNorm
from glassformer.models.ops_numpy import NumpyOps

REAL = RoundingRules(np.dtype("float64"), "real")


def enclose_norm(low, high, eps, rules=REAL, error=0.0):
    """The bounds of a norm over ranges, `dim` each."""
    low, high = (np.asarray(end, np.float64)[:, None, None] for end in (low, high))
    with set_check_precision():
        balls = make_fixed_balls(rules, enclose_range(rules, low, high), np.full(low.shape, error))
        found = bound_norm(balls, eps)
    return [part[:, 0, 0] for part in found]


def norm_exactly(x, eps):
    """The norm of one point, in Arb, from exact sums of squares."""
    mean = sum(Fraction(float(number)) ** 2 for number in x) / len(x) + Fraction(eps)
    root = (arb(mean.numerator) / arb(mean.denominator)).sqrt()
    return [arb(float(number)) / root for number in x]


ends = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(
    st.lists(st.tuples(ends, ends), min_size=1, max_size=5),
    st.sampled_from([0.0, 1e-5, 2.0]),
    st.integers(0, 2**32 - 1),
)
def test_every_point_of_the_ranges_lies_between_the_ends(ranges, eps, seed):
    low, high = np.sort(np.array(ranges), 1).T
    below, above, _ = enclose_norm(low, high, eps)
    shares = np.random.default_rng(seed).integers(0, 3, (8, len(low))) / 2  # both ends, and the middle
    for point in np.clip(low + shares * (high - low), low, high):
        if not point.any() and eps == 0:
            continue  # a norm of nothing is no number
        with set_check_precision():
            for value, bottom, top in zip(norm_exactly(point, eps), below, above, strict=True):
                assert not (np.isfinite(bottom) and value < arb(bottom))
                assert not (np.isfinite(top) and value > arb(top))


def test_ends_are_reached_at_ends_of_the_ranges():
    low, high = np.array([1.0, -2.0, -0.5]), np.array([3.0, -1.0, 0.5])
    below, above, _ = enclose_norm(low, high, 1e-5)
    reached = {0: ([1.0, -2.0, 0.5], [3.0, -1.0, 0.0]), 1: ([1.0, -2.0, 0.0], [3.0, -1.0, 0.5])}
    for row, points in reached.items():
        values = [float(norm_exactly(point, 1e-5)[row]) for point in points]
        assert [below[row], above[row]] == pytest.approx(values, rel=1e-8)
    assert above[2] == pytest.approx(float(norm_exactly([1.0, -1.0, 0.5], 1e-5)[2]), rel=1e-8)
    assert below[2] == pytest.approx(-above[2], rel=1e-8)


def test_a_single_point_is_its_norm_but_for_rounding():
    below, above, _ = enclose_norm([3.0, 4.0], [3.0, 4.0], 0.0)
    exact = [3 / np.sqrt(12.5), 4 / np.sqrt(12.5)]
    assert below == pytest.approx(exact, rel=1e-11) and above == pytest.approx(exact, rel=1e-11)
    assert (below <= exact).all() and (exact <= above).all()


@pytest.mark.parametrize(("size", "eps"), [(1e200, 1e-5), (1e-200, 0.0), (1e-165, 1e-320), (0.0, 0.0)])
def test_no_end_is_given_where_squares_overflow_or_vanish(size, eps):
    x = [size, size / 2, size / 3]
    below, above, _ = enclose_norm(x, x, eps)
    assert not np.isfinite(below).any() and not np.isfinite(above).any()


def test_no_end_is_given_where_the_norm_may_shrink_as_a_number_grows():
    below, above, error = enclose_norm([3.0, 0.0], [4.0, 0.0], -1.0)  # 3 / sqrt(3.5) > 4 / sqrt(7)
    assert np.isinf(below).all() and np.isinf(above).all() and np.isinf(error).all()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_error_covers_the_deployed_norm(precision):
    random, rules = np.random.default_rng(0), RoundingRules(np.dtype(precision), precision)
    unit = np.finfo(precision).eps
    for size in (1e-3, 1.0, 1e3):
        x = (size * random.normal(size=4)).astype(precision)
        moved = (x * (1 + 64 * unit * random.uniform(-1, 1, 4))).astype(precision)
        off = float(np.abs(moved.astype(float) - x.astype(float)).max())
        *_, error = enclose_norm(x, x, 1e-5, rules, off)
        params = {"n.gain": np.ones(4, precision)}
        said = RMSNorm(eps=1e-5)(NumpyOps(precision), params, "n", moved[:, None, None])[:, 0, 0]
        real = np.array([float(value) for value in norm_exactly(x, 1e-5)])
        assert (np.abs(said.astype(float) - real) <= error).all()
        assert error.max() < 1e4 * unit
