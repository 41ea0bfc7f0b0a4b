"""Gradients made by hand are the plain ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.models.ops_jax import THIN, JaxOps, outer_sum, thin_product

RANDOM = np.random.default_rng(0)


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
