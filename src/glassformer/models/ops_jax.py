"""The same operations on JAX arrays, shaped so that XLA's CPU compiler makes fast code of them.

What is unusual here was measured, on models of a few hundred parameters and a batch of 64 (docs/training.md).

- The gradient of a small weight is a product of two long, thin matrices. XLA hands it to a general matrix
  routine (10 to 20 us per weight); one matrix-vector product per row of the thinner side takes 1 to 4 us.
- The gradient of a bias is a product with a vector of ones; XLA's own sum over positions is a chain of
  dependent additions.
- Attention's weights, and the gradient of its scores, end in a division, which XLA works out once and keeps.
  A cheaper last operation it would fuse into every sum that uses it: at a context of 16 these sums took 470
  of the 725 us of a step, and take 163 of 394 us now.
- A table lookup multiplies by one-hot columns: its gradient is then a product too, not a scatter.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from glassformer.models.blocks import (
    Blocks,
    apply_blockwise_linear,
    map_blocks,
    split_position_factor,
    to_dense,
)

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

    def relu(self, x: Value) -> Value:
        return map_blocks(jax.nn.relu, x)

    def silu(self, x: Value) -> Value:
        return map_blocks(jax.nn.silu, x)

    def gelu(self, x: Value) -> Value:
        return map_blocks(partial(jax.nn.gelu, approximate=False), x)

    def sum(self, x: Value, axis: int) -> Value:
        return jnp.sum(x, axis=axis)

    def softmax(self, scores: Value, extra: float) -> Value:
        return softmax(scores, extra)

    def scores(self, queries: Value, keys: Value) -> Value:
        return jnp.sum(to_dense(queries)[:, :, None] * to_dense(keys)[:, None], 0)

    def mix(self, weights: Value, values: Value) -> Value:
        if weights.shape[2] > 1:
            return jnp.sum(weights[None] * to_dense(values)[:, None], 2)
        values, factor = split_position_factor(values)
        shared = weights[:, :, 0]  # query key
        shared = shared if factor is None else shared * factor[:, 0]
        return jnp.einsum("qk,dkb->dqb", shared, values, precision="highest")

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return jnp.stack(values, axis)

    def rows(self, values: Sequence[Value]) -> Value:
        return to_dense(Blocks(self, [value[None] for value in values]))

    def join(self, values: Sequence[Value]) -> Value:
        return jnp.concatenate(values)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        if isinstance(x, Blocks):
            return apply_blockwise_linear(self, weight, x, bias)
        flat = x.reshape(x.shape[0], -1)  # dim pos*batch
        y = thin_product(weight, flat) if bias is None else _thin_affine(weight, flat, bias)
        return y.reshape(weight.shape[0], *x.shape[1:])

    def lookup(self, table: Value, tokens: Value) -> Value:
        return _thin_lookup(table, tokens.reshape(-1)).reshape(table.shape[1], *tokens.shape)

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        rows, columns = zip(*places, strict=True)
        return jnp.zeros(shape, self.dtype).at[jnp.array(rows), jnp.array(columns)].set(values)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def softmax(scores: Value, extra: float) -> Value:
    """Shares of `query key batch` over the keys, with `extra` in the denominator."""
    powers, total = _powers(scores, extra)
    return powers / total


def _powers(scores: Value, extra: float) -> tuple[Value, Value]:
    """Exponentials and, for each of them, their sum."""
    top = jnp.max(scores, 1, keepdims=True)  # query 1 batch
    if extra:
        top = jnp.maximum(top, 0)
    powers = jnp.exp(scores - top)
    total = jnp.sum(powers, 1, keepdims=True)
    if extra:
        total = total + extra * jnp.exp(-top)
    # No term is above the sum; the maximum only keeps XLA from dividing once a row and multiplying after.
    return powers, jnp.maximum(total, powers)


def _softmax_forward(scores: Value, extra: float) -> tuple[Value, tuple[Value, Value]]:
    powers, total = _powers(scores, extra)
    return powers / total, (powers, total)


def _softmax_back(extra: float, saved: tuple[Value, Value], slope: Value) -> tuple[Value]:
    powers, total = saved
    mean = jnp.sum(powers * slope, 1, keepdims=True) / total[:, :1]
    return (powers * (slope - mean) / total,)


softmax.defvjp(_softmax_forward, _softmax_back)


def _contract_axes(a: Value, b: Value, axis_a: int, axis_b: int) -> Value:
    return lax.dot_general(a, b, (((axis_a,), (axis_b,)), ((), ())), precision="highest")


@jax.custom_vjp
def thin_product(weight: Value, x: Value) -> Value:
    """`out dim` times `dim n`, with a gradient that suits a few rows and thousands of columns."""
    return _contract_axes(weight, x, 1, 0)


@jax.custom_vjp
def _thin_affine(weight: Value, x: Value, bias: Value) -> Value:
    """The same with a bias per row, whose gradient is a product with ones."""
    return _contract_axes(weight, x, 1, 0) + bias[:, None]


@jax.custom_vjp
def _thin_lookup(table: Value, tokens: Value) -> Value:
    """Columns `dim n` of `tok dim` for tokens `n`."""
    return jnp.sum(table.T[:, :, None] * _one_hot(table, tokens), 1)


def _one_hot(table: Value, tokens: Value) -> Value:
    ids = jnp.arange(table.shape[0]).astype(tokens.dtype)
    return (tokens == ids[:, None]).astype(table.dtype)  # tok n


def outer_sum(a: Value, b: Value) -> Value:
    """`p n` and `q n` give the `p q` matrix of their row products, summed over n."""
    if min(a.shape[0], b.shape[0]) > THIN:
        return _contract_axes(a, b, 1, 1)
    if a.shape[0] < b.shape[0]:
        return jnp.stack([_contract_axes(b, row, 1, 0) for row in a], 0)
    return jnp.stack([_contract_axes(a, row, 1, 0) for row in b], 1)


def _product_back(saved: tuple[Value, Value], slope: Value) -> tuple[Value, Value]:
    weight, x = saved
    return outer_sum(slope, x), _contract_axes(weight, slope, 0, 0)


def _affine_back(saved: tuple[Value, Value], slope: Value) -> tuple[Value, Value, Value]:
    return *_product_back(saved, slope), _contract_axes(slope, jnp.ones(slope.shape[1], slope.dtype), 1, 0)


def _lookup_back(saved: tuple[Value, Value], slope: Value) -> tuple[Value, None]:
    table, tokens = saved
    return outer_sum(_one_hot(table, tokens), slope), None


thin_product.defvjp(lambda weight, x: (thin_product(weight, x), (weight, x)), _product_back)
_thin_affine.defvjp(lambda weight, x, bias: (_thin_affine(weight, x, bias), (weight, x)), _affine_back)
_thin_lookup.defvjp(lambda table, tokens: (_thin_lookup(table, tokens), (table, tokens)), _lookup_back)
