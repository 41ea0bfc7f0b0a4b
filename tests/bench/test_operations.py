"""Known programs have known counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.operations import THREEFRY, bytes_of, count

ONE = np.float32(1)
ROW = np.ones(8, np.float32)
PLACES = np.array([1, 1, 0])
PLAIN = {"mode": "promise_in_bounds", "wrap_negative_indices": False}


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [
        (lambda a, b, c, d: a * b * c * d, [ONE] * 4, {"plain": 3}),
        (
            lambda a, b: a @ b,
            [np.ones((2, 3), np.float32), np.ones((3, 5), np.float32)],
            {"plain": 2 * 2 * 3 * 5},
        ),
        (lambda a: jnp.sum(a), [ROW], {"plain": 7}),
        (lambda a: jnp.exp(-a) + 1, [ROW], {"exp": 8, "plain": 8}),
        (lambda a: jax.lax.erf(a), [ROW], {"erf": 8}),
        (lambda a: a / 3, [ROW], {"plain": 8}),
        (lambda a, b: a / b, [ROW, ROW], {"divide": 8}),
        (lambda a, b: a / b, [ROW, ONE], {"divide": 1, "plain": 8}),
        (lambda a, b: (a / b, 2 * a / b), [ROW, ROW], {"divide": 8, "plain": 8 + 8}),
        (lambda a: a**3, [ROW], {"plain": 16}),
        (lambda a: 1 / a**2, [ROW], {"divide": 8, "plain": 8}),
        (lambda a: jnp.where(a > 0, a, 0).reshape(2, 4).T, [ROW], {}),
        (lambda a: a.at[PLACES].get(**PLAIN), [ROW], {}),
        (lambda a: a + 1, [np.ones(8, np.int32)], {"integer": 8}),
    ],
)
def test_known_counts(function, inputs, expected):
    assert dict(count(function, *inputs)) == expected


def test_what_nobody_needs_is_not_counted():
    assert dict(count(lambda a: (jnp.exp(a), a * 2)[1], ONE)) == {"plain": 1}


def test_a_gradient_is_counted_with_its_loss():
    # x x: one product; its slope as traced, 1 x + x 1: two products and a sum
    assert dict(count(jax.value_and_grad(lambda x: x * x), ONE)) == {"plain": 4}


def test_a_loop_counts_as_often_as_it_runs():
    def looped(x):
        return jax.lax.scan(lambda total, _: (total * x, None), x, length=5)[0]

    assert dict(count(looped, ONE)) == {"plain": 5}


def test_a_loop_of_unknown_length_is_refused():
    with pytest.raises(ValueError, match="unknown length"):
        count(lambda x: jax.lax.while_loop(lambda y: y < 9, lambda y: y * 2, x), ONE)


def test_an_operation_without_a_known_cost_is_refused():
    with pytest.raises(ValueError, match="'lgamma'"):
        count(jax.lax.lgamma, ONE)


def test_every_drawn_number_is_a_call_of_threefry():
    counts = count(lambda key: jax.random.bits(key, (10,), jnp.uint16), jax.random.key(0))
    assert dict(counts) == {"integer": 10 * THREEFRY}


def test_bytes_of_all_leaves():
    assert bytes_of(ROW, {"a": np.ones(3, np.int8)}) == 8 * 4 + 3
