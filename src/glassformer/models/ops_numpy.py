"""The operations on NumPy arrays: the arithmetic that is deployed, drawn and tested.

>>> ops = NumpyOps()
>>> ops.linear(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
array([[11.]])
"""

from collections.abc import Sequence

import numpy as np

from glassformer.models.blocks import (
    Blocks,
    apply_blockwise_linear,
    map_blocks,
    split_position_factor,
    to_dense,
)
from glassformer.models.ops import Value

FEW = 16  # terms of a sum up to which it is added in order


def _sum_products_in_order(factors: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The sum of products, first to last, one rounding a product and a sum.

    BLAS rounds differently with the size of the batch; this does not, so that what a position computes by
    itself is the same number wherever it is computed. A proof can then take it as known.
    """
    (first, second), *others = factors
    total: np.ndarray = first * second
    for a, b in others:
        total += a * b
    return total


class NumpyOps:
    """Plain NumPy in one floating-point type."""

    def __init__(self, dtype: str = "float64") -> None:
        self.dtype = np.dtype(dtype)

    def array(self, value: Value) -> Value:
        return np.asarray(value, self.dtype)

    exp = staticmethod(np.exp)
    sqrt = staticmethod(np.sqrt)
    sin = staticmethod(np.sin)
    cos = staticmethod(np.cos)
    abs = staticmethod(np.abs)

    def relu(self, x: Value) -> Value:
        return map_blocks(lambda part: np.maximum(part, self.dtype.type(0)), x)

    def gelu(self, x: Value) -> Value:
        """The exact one, x times the normal distribution function."""
        from scipy.special import erf

        half, root = self.dtype.type(0.5), self.dtype.type(np.sqrt(0.5))
        return map_blocks(lambda part: part * (half * (self.dtype.type(1) + erf(part * root))), x)

    def silu(self, x: Value) -> Value:
        from scipy.special import expit

        return map_blocks(lambda part: part * expit(part), x)

    def sum(self, x: Value, axis: int) -> Value:
        if x.shape[axis] > FEW:
            return np.sum(x, axis=axis)
        first, *others = np.moveaxis(x, axis, 0)
        return sum(others, first)  # in order: NumPy's own sum has another for a single sequence

    def softmax(self, scores: Value, extra: float) -> Value:
        """Shares of `query key batch` over the keys; `extra` is added to the denominator (softmax1: 1)."""
        top = np.max(scores, axis=1, keepdims=True)  # exponentials of differences to it cannot overflow
        if extra:
            top = np.maximum(top, self.dtype.type(0))
        powers = np.exp(scores - top)
        total = np.sum(powers, axis=1, keepdims=True)
        return powers / (total + self.dtype.type(extra) * np.exp(-top) if extra else total)

    def scores(self, queries: Value, keys: Value) -> Value:
        """Products of `dim query batch` and `dim key batch`, as `query key batch`."""
        queries, keys = to_dense(queries), to_dense(keys)
        if len(queries) > FEW:
            return np.einsum("dqb,dkb->qkb", queries, keys)
        return _sum_products_in_order([(q[:, None], k[None]) for q, k in zip(queries, keys, strict=True)])

    def mix(self, weights: Value, values: Value) -> Value:
        """Sums of `dim key batch`, weighted by `query key batch`, as `dim query batch`."""
        if weights.shape[2] > 1:
            return np.einsum("qkb,dkb->dqb", weights, to_dense(values))
        values, factor = split_position_factor(values)
        shared = weights[:, :, 0]  # query key
        return np.matmul(shared if factor is None else shared * factor[:, 0], values)

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return np.stack(values, axis)

    def rows(self, values: Sequence[Value]) -> Value:
        """Rows `pos batch` as `dim pos batch`."""
        return to_dense(Blocks(self, [value[None] for value in values]))

    def join(self, values: Sequence[Value]) -> Value:
        """Arrays `dim ...` one after the other."""
        return np.concatenate(values)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        """`out dim` times `dim ...` gives `out ...`, plus the bias of each output."""
        if isinstance(x, Blocks):
            return apply_blockwise_linear(self, weight, x, bias)
        columns = x.reshape(x.shape[0], -1)  # dim pos*batch
        if len(columns) > FEW:
            flat = weight @ columns
        else:
            flat = _sum_products_in_order([(weight[:, i, None], row) for i, row in enumerate(columns)])
        if bias is not None:
            flat = flat + bias[:, None]
        return flat.reshape(weight.shape[0], *x.shape[1:])

    def lookup(self, table: Value, tokens: Value) -> Value:
        """Rows of `tok dim` for tokens `pos batch`, as `dim pos batch`."""
        return table.T.take(tokens, axis=1)

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        """A matrix that holds `values` at `places` and 0 elsewhere."""
        matrix = np.zeros(shape, self.dtype)
        matrix[tuple(np.array(places).T)] = values
        return matrix
