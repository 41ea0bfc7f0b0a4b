"""The operations on NumPy arrays: the arithmetic that is deployed, drawn, tested and proved.

Every result is the same, bit for bit, on every machine with IEEE 754 arithmetic and in a batch of any size:
functions are our own (`elementary.py`), and every sum is added in order, first to last, one rounding a
product and one a sum. BLAS and the processor's own sums would round differently with the size of the batch.

>>> ops = NumpyOps()
>>> ops.linear(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
array([[11.]])
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from glassformer.models import elementary
from glassformer.models.blocks import (
    Blocks,
    apply_blockwise_linear,
    map_blocks,
    split_position_factor,
    to_dense,
)
from glassformer.models.elementary import round_once
from glassformer.models.ops import Value

_LONG, _FEW = 256, 64  # terms from which a running sum is faster, and numbers that each may have
_BLOCK = 1 << 15  # numbers that are summed at a time: they stay in the cache


def _add_in_order(terms: Iterator[np.ndarray]) -> np.ndarray:
    """The sum, first to last; NumPy's own has another order for a single sequence."""
    total = np.array(next(terms))
    for term in terms:
        total += term
    return total


def _add_rows(terms: np.ndarray) -> np.ndarray:
    """The sum over the first axis, first to last; long ones of few numbers by NumPy's running sum."""
    if len(terms) < _LONG or terms[0].size > _FEW:
        return _add_in_order(iter(terms))
    found: np.ndarray = np.add.accumulate(terms, axis=0, dtype=terms.dtype)[-1]
    return found


def _multiply_in_order(weight: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`out dim` times `dim n`."""
    found = np.empty((len(weight), columns.shape[1]), np.result_type(weight, columns))
    step = max(_BLOCK // max(len(weight), 1), 1)
    for first in range(0, columns.shape[1], step):
        some = columns[:, first : first + step]
        found[:, first : first + step] = _add_in_order(
            column[:, None] * row for column, row in zip(weight.T, some, strict=True)
        )
    return found


class NumpyOps:
    """Plain NumPy in one floating-point type."""

    def __init__(self, dtype: str = "float64") -> None:
        self.dtype = np.dtype(dtype)

    def array(self, value: Value) -> Value:
        return np.asarray(value, self.dtype)

    exp = staticmethod(partial(round_once, elementary.exp))
    sin = staticmethod(partial(round_once, elementary.sin))
    cos = staticmethod(partial(round_once, elementary.cos))
    sqrt = staticmethod(np.sqrt)
    abs = staticmethod(np.abs)

    def relu(self, x: Value) -> Value:
        return map_blocks(lambda part: np.maximum(part, self.dtype.type(0)), x)

    def gelu(self, x: Value) -> Value:
        """The exact one, x times the normal distribution function."""
        return map_blocks(partial(round_once, elementary.gelu), x)

    def silu(self, x: Value) -> Value:
        return map_blocks(partial(round_once, elementary.silu), x)

    def sum(self, x: Value, axis: int) -> Value:
        return _add_rows(np.moveaxis(x, axis, 0))

    def softmax(self, scores: Value, extra: float) -> Value:
        """Shares of `query key batch` over the keys; `extra` is added to the denominator (softmax1: 1)."""
        top = np.max(scores, axis=1, keepdims=True)  # exponentials of differences to it cannot overflow
        if extra:
            top = np.maximum(top, self.dtype.type(0))
        powers = self.exp(scores - top)
        total = self.sum(powers, 1)[:, None]
        return powers / (total + self.dtype.type(extra) * self.exp(-top) if extra else total)

    def scores(self, queries: Value, keys: Value) -> Value:
        """Products of `dim query batch` and `dim key batch`, as `query key batch`."""
        pairs = zip(to_dense(queries), to_dense(keys), strict=True)
        return _add_in_order(q[:, None] * k[None] for q, k in pairs)

    def mix(self, weights: Value, values: Value) -> Value:
        """Sums of `dim key batch`, weighted by `query key batch`, as `dim query batch`."""
        if weights.shape[2] > 1:
            values = to_dense(values)
        else:
            values, factor = split_position_factor(values)
            weights = weights if factor is None else weights * factor[:, :1]
        keys = range(values.shape[1])
        if len(keys) >= _LONG and values[:, 0].size * weights.shape[0] <= _FEW:
            return _add_rows(np.moveaxis(weights[None] * values[:, None], 2, 0))
        return _add_in_order(weights[None, :, key] * values[:, None, key] for key in keys)

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
        flat = _multiply_in_order(weight, x.reshape(x.shape[0], -1))  # out pos*batch
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
