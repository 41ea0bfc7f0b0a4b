"""Lanes: numbers in registers. The same numbers as on plain arrays, and nothing done for zeros and ones."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from glassformer.models.ops_lanes import ERF_LIMIT, Lane, LaneOps, erf, gelu, make_lanes, to_object_array

NUMBERS = np.linspace(-6, 6, 4001, dtype=np.float32)


def test_erf_is_right_to_float32():
    found = np.asarray(erf(jnp.asarray(NUMBERS)), np.float64)
    np.testing.assert_allclose(found, special.erf(NUMBERS.astype(np.float64)), rtol=4e-7, atol=1e-12)
    assert float(erf(jnp.float32(100.0))) == pytest.approx(special.erf(ERF_LIMIT), abs=2e-7)


def test_gelu_and_its_slope_are_those_of_jax():
    exact = jax.vmap(jax.value_and_grad(lambda x: jax.nn.gelu(x, approximate=False)))(NUMBERS)
    ours = jax.vmap(jax.value_and_grad(gelu))(NUMBERS)
    for mine, theirs in zip(ours, exact, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=3e-6)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda x: x + 0.0, [2.0, 3.0]),
        (lambda x: x * 1.0, [2.0, 3.0]),
        (lambda x: x - 0.0, [2.0, 3.0]),
        (lambda x: x / 1.0, [2.0, 3.0]),
        (lambda x: 1.0 - x, [-1.0, -2.0]),
        (lambda x: 6.0 / x, [3.0, 2.0]),
        (lambda x: -x + x * 3.0, [4.0, 6.0]),
    ],
)
def test_arithmetic_of_lanes(act, expected):
    assert act(Lane(jnp.array([2.0, 3.0]))).value.tolist() == expected


def test_zeros_and_ones_make_no_operation():
    def count(act):
        return len(jax.make_jaxpr(lambda x: act(Lane(x)).value)(jnp.ones(4)).eqns)

    assert count(lambda x: x * 1.0 + 0.0) == 0
    assert count(lambda x: x * 2.0 + 0.0) == 1
    assert Lane(jnp.ones(4)) * 0.0 == 0.0


def test_dividing_by_the_same_lane_again_and_again_divides_once():
    def normed(x, size):
        root = LaneOps().sqrt(make_lanes([size]))[0]
        return sum((Lane(part) / root).value for part in x)

    def both(x, size):
        value, back = jax.vjp(normed, x, size)
        return value, back(jnp.ones_like(value))

    given = [jnp.array([1.0, 2.0]), jnp.array([3.0, -1.0]), jnp.array([0.5, 4.0])], jnp.array([4.0, 9.0])
    names = [str(eqn.primitive) for eqn in jax.make_jaxpr(both)(*given).eqns]
    # One for the quotients and one in the slope of the root, which are the same number.
    assert sum(name in ("div", "integer_pow") for name in names) <= 2
    (value, (by_part, by_size)), total = both(*given), sum(given[0])
    np.testing.assert_allclose(value, total / jnp.sqrt(given[1]), rtol=1e-6)
    np.testing.assert_allclose(by_part[0], given[1] ** -0.5, rtol=1e-6)
    np.testing.assert_allclose(by_size, -0.5 * total * given[1] ** -1.5, rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "cos", "abs", "relu", "silu", "gelu"])
def test_a_plain_number_and_a_lane_give_the_same(name):
    function = getattr(LaneOps(), name)
    plain = function(to_object_array([0.7]))[0]
    lane = function(make_lanes([jnp.array([0.7])]))[0].value[0]
    assert math.isclose(plain, float(lane), rel_tol=1e-6)
