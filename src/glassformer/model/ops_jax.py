"""The same operations on JAX arrays, shaped so that XLA's CPU compiler makes fast code of them.

Three things were measured on plus_last_even (250 parameters, batch 64) and are the reason for what is unusual
here; `docs/training.md` has the table.

- The gradient of a small weight is a product of two long, thin matrices. XLA hands it to a general matrix
  routine (10 to 20 us a weight); one matrix-vector product a row of the thinner side takes 1 to 4 us.
- A bias is a column of its weight, so that its gradient comes out of the same products; XLA's own sum over
  positions is a chain of dependent additions.
- A table lookup is a product with one-hot columns: its gradient is then a product too, not a scatter.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Value = Any
THIN = 8  # rows up to which a weight's gradient is made of matrix-vector products


class JaxOps:
    """Traceable operations in one floating-point type."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = jnp.dtype(dtype)

    def array(self, value: Value) -> Value:
        return jnp.asarray(value, self.dtype)

    exp = staticmethod(jnp.exp)
    sqrt = staticmethod(jnp.sqrt)
    sin = staticmethod(jnp.sin)
    cos = staticmethod(jnp.cos)
    abs = staticmethod(jnp.abs)
    relu = staticmethod(jax.nn.relu)
    silu = staticmethod(jax.nn.silu)

    def gelu(self, x: Value) -> Value:
        return jax.nn.gelu(x, approximate=False)

    def sum(self, x: Value, axis: int) -> Value:
        return jnp.sum(x, axis=axis)

    def largest(self, x: Value, axis: int) -> Value:
        return lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True))

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return jnp.stack(values, axis)

    def join(self, values: Sequence[Value], axis: int = 0) -> Value:
        return jnp.concatenate(values, axis)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        flat = x.reshape(x.shape[0], -1)  # dim pos*batch
        if bias is not None:
            weight = jnp.concatenate([weight, bias[:, None]], 1)
            flat = jnp.concatenate([flat, jnp.ones((1, flat.shape[1]), flat.dtype)])
        return thin_product(weight, flat).reshape(weight.shape[0], *x.shape[1:])

    def lookup(self, table: Value, tokens: Value) -> Value:
        ids = jnp.arange(table.shape[0], dtype=tokens.dtype)
        one_hot = (tokens[None] == ids[:, None, None]).astype(table.dtype)  # tok pos batch
        return self.linear(table.T, one_hot)

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        rows, columns = zip(*places, strict=True)
        return jnp.zeros(shape, self.dtype).at[jnp.array(rows), jnp.array(columns)].set(values)


def contract(a: Value, b: Value, axis_a: int, axis_b: int) -> Value:
    return lax.dot_general(a, b, (((axis_a,), (axis_b,)), ((), ())), precision="highest")


@jax.custom_vjp
def thin_product(weight: Value, x: Value) -> Value:
    """`out dim` times `dim n`, with a gradient that suits a few rows and thousands of columns."""
    return contract(weight, x, 1, 0)


def _forward(weight: Value, x: Value) -> tuple[Value, tuple[Value, Value]]:
    return thin_product(weight, x), (weight, x)


def _backward(saved: tuple[Value, Value], slope: Value) -> tuple[Value, Value]:
    weight, x = saved
    return outer_sum(slope, x), contract(weight, slope, 0, 0)


thin_product.defvjp(_forward, _backward)


def outer_sum(a: Value, b: Value) -> Value:
    """`p n` and `q n` give the `p q` matrix of their row products, summed over n."""
    if min(a.shape[0], b.shape[0]) > THIN:
        return contract(a, b, 1, 1)
    if a.shape[0] < b.shape[0]:
        return jnp.stack([contract(b, row, 1, 0) for row in a], 0)
    return jnp.stack([contract(a, row, 1, 0) for row in b], 1)
