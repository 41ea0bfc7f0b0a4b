"""Operations: NumPy and JAX agree, the hand-made gradients are the plain ones, extremes stay finite."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.model.ops_jax import THIN, JaxOps, outer_sum, thin_product
from glassformer.model.ops_numpy import NumpyOps

RANDOM = np.random.default_rng(0)
PLACES = ((0, 1), (2, 0))
CALLS = {
    "relu": lambda ops, x: ops.relu(x),
    "gelu": lambda ops, x: ops.gelu(x),
    "silu": lambda ops, x: ops.silu(x),
    "abs": lambda ops, x: ops.abs(x),
    "sum": lambda ops, x: ops.sum(x, 0),
    "softmax": lambda ops, x: ops.softmax(x, 0.0),
    "softmax1": lambda ops, x: ops.softmax(x, 1.0),
    "scores": lambda ops, x: ops.scores(x, x[:, :2]),
    "mix": lambda ops, x: ops.mix(x, x[:2]),
    "stack": lambda ops, x: ops.stack([x, x], 1),
    "join": lambda ops, x: ops.join([x, x]),
    "rows": lambda ops, x: ops.rows([x[0], x[0][:, :1]]),
    "linear": lambda ops, x: ops.linear(x[:, :, 0].T, x),
    "linear with bias": lambda ops, x: ops.linear(x[:, :, 0].T, x, x[0, :, 0]),
    "scatter": lambda ops, x: ops.scatter(x[0, 0, :2], PLACES, (3, 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", CALLS)
def test_numpy_and_jax_agree(call, dtype):
    x = RANDOM.normal(size=(3, 4, 5)).astype(dtype)
    with jax.enable_x64(dtype == "float64"):
        by_jax = np.asarray(CALLS[call](JaxOps(dtype), jnp.asarray(x)))
    by_numpy = CALLS[call](NumpyOps(dtype), x)
    assert by_numpy.dtype == by_jax.dtype == dtype
    np.testing.assert_allclose(by_numpy, by_jax, rtol=0, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("ops", [NumpyOps("float32"), JaxOps("float32")])
def test_lookup_is_the_row_of_each_token(ops):
    table, tokens = ops.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[2, 0], [1, 1]])
    found = np.asarray(ops.lookup(table, jnp.asarray(tokens) if isinstance(ops, JaxOps) else tokens))
    assert found.tolist() == [[[5, 1], [3, 3]], [[6, 2], [4, 4]]]  # dim pos batch


@given(st.integers(1, 2 * THIN), st.integers(1, 2 * THIN), st.integers(1, 6))
@settings(deadline=None, derandomize=True, max_examples=6)
def test_thin_gradients_are_the_plain_ones(out, dims, n):
    random = np.random.default_rng(out * 100 + dims)
    with jax.enable_x64(True):
        weight, x, slope = (jnp.asarray(random.normal(size=s)) for s in ((out, dims), (dims, n), (out, n)))
        value, pull = jax.vjp(thin_product, weight, x)
        plain, plain_pull = jax.vjp(jnp.matmul, weight, x)
        np.testing.assert_allclose(value, plain, atol=1e-13)
        for ours, theirs in zip(pull(slope), plain_pull(slope), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-13)
        np.testing.assert_allclose(outer_sum(slope, x), slope @ x.T, atol=1e-13)


@pytest.mark.parametrize("out", [3, 2 * THIN])
def test_gradients_of_a_bias_and_of_a_table_are_the_plain_ones(out):
    ops, tokens = JaxOps("float64"), np.array([[2, 0, 1], [1, 1, 2]])
    with jax.enable_x64(True):
        weight, x, bias, table = (
            jnp.asarray(RANDOM.normal(size=s)) for s in ((out, 4), (4, 2, 3), (out,), (3, out))
        )

        def ours(weight, x, bias, table):
            return jnp.sum(jnp.sin(ops.linear(weight, x, bias) + ops.lookup(table, jnp.asarray(tokens))))

        def plain(weight, x, bias, table):
            looked_up = jnp.moveaxis(table[tokens], -1, 0)
            return jnp.sum(jnp.sin(jnp.tensordot(weight, x, 1) + bias[:, None, None] + looked_up))

        slopes = [jax.jit(jax.grad(f, (0, 1, 2, 3)))(weight, x, bias, table) for f in (ours, plain)]
    for by_ours, by_plain in zip(*slopes, strict=True):
        np.testing.assert_allclose(by_ours, by_plain, atol=1e-13)


@pytest.mark.parametrize("keys", [3, 20])
def test_gradients_of_attention_are_the_plain_ones(keys):
    """Few keys and many: sums over many places are split."""
    ops = JaxOps("float64")
    with jax.enable_x64(True):
        arrays = [jnp.asarray(RANDOM.normal(size=s)) for s in ((4, 2, 3), (4, keys, 3), (5, keys, 3))]

        def ours(queries, keys, values):
            return jnp.sum(jnp.sin(ops.mix(ops.softmax(ops.scores(queries, keys), 1.0), values)))

        def plain(queries, keys, values):
            powers = jnp.exp(jnp.einsum("dqb,dkb->qkb", queries, keys))
            weights = powers / (1 + jnp.sum(powers, 1, keepdims=True))
            return jnp.sum(jnp.sin(jnp.einsum("qkb,dkb->dqb", weights, values)))

        slopes = [jax.jit(jax.grad(f, (0, 1, 2)))(*arrays) for f in (ours, plain)]
    for by_ours, by_plain in zip(*slopes, strict=True):
        np.testing.assert_allclose(by_ours, by_plain, atol=1e-13)


def test_gelu_is_the_exact_one():
    """At 1 it is the normal distribution function at 1; the tanh form would give 0.84119."""
    assert NumpyOps().gelu(np.array([1.0]))[0] == pytest.approx((1 + math.erf(math.sqrt(0.5))) / 2, abs=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bends_are_quiet_far_out(dtype):
    far = np.array([-1e4, 1e4], dtype)
    for bend in ("relu", "gelu", "silu"):
        np.testing.assert_allclose(getattr(NumpyOps(dtype), bend)(far), [0, 1e4])
