"""The few operations that a forward pass is made of, on NumPy arrays.

Every part is written against `Ops`, so the pass that is trained (JAX), read (NumPy) and proved (intervals) is
one piece of code. Axes are dimension first, batch last: `dim pos batch`. The batch is what the machine runs
over, so it is the axis that lies together in memory.

>>> ops = NumpyOps()
>>> ops.linear(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
array([[11.]])
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

# A value of whatever backend runs the pass: numpy.ndarray, jax.Array, later an interval.
Value = Any


class Ops(Protocol):
    """What a backend must offer; values also support + - * / and basic indexing."""

    def array(self, value: Value) -> Value: ...
    def exp(self, x: Value) -> Value: ...
    def sqrt(self, x: Value) -> Value: ...
    def sin(self, x: Value) -> Value: ...
    def cos(self, x: Value) -> Value: ...
    def abs(self, x: Value) -> Value: ...
    def relu(self, x: Value) -> Value: ...
    def gelu(self, x: Value) -> Value: ...
    def silu(self, x: Value) -> Value: ...
    def sum(self, x: Value, axis: int) -> Value: ...
    def softmax(self, scores: Value, extra: float) -> Value: ...
    def scores(self, queries: Value, keys: Value) -> Value: ...
    def mix(self, weights: Value, values: Value) -> Value: ...
    def stack(self, values: Sequence[Value], axis: int = 0) -> Value: ...
    def join(self, values: Sequence[Value], axis: int = 0) -> Value: ...
    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value: ...
    def lookup(self, table: Value, tokens: Value) -> Value: ...
    def scatter(
        self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]
    ) -> Value: ...


class NumpyOps:
    """Plain NumPy in one floating-point type; the arithmetic that is deployed, drawn and tested."""

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
        return np.maximum(x, self.dtype.type(0))

    def gelu(self, x: Value) -> Value:
        """The exact one, x times the normal distribution function."""
        from scipy.special import erf

        half, root = self.dtype.type(0.5), self.dtype.type(np.sqrt(0.5))
        return x * (half * (self.dtype.type(1) + erf(x * root)))

    def silu(self, x: Value) -> Value:
        from scipy.special import expit

        return x * expit(x)

    def sum(self, x: Value, axis: int) -> Value:
        return np.sum(x, axis=axis)

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
        return np.einsum("dqb,dkb->qkb", queries, keys)

    def mix(self, weights: Value, values: Value) -> Value:
        """Sums of `dim key batch`, weighted by `query key batch`, as `dim query batch`."""
        return np.einsum("qkb,dkb->dqb", weights, values)

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        return np.stack(values, axis)

    def join(self, values: Sequence[Value], axis: int = 0) -> Value:
        return np.concatenate(values, axis)

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        """`out dim` times `dim ...` gives `out ...`, plus the bias of each output."""
        flat = weight @ x.reshape(x.shape[0], -1)  # out pos*batch
        if bias is not None:
            flat = flat + bias[:, None]
        return flat.reshape(weight.shape[0], *x.shape[1:])

    def lookup(self, table: Value, tokens: Value) -> Value:
        """Rows of `tok dim` for tokens `pos batch`, as `dim pos batch`."""
        return np.moveaxis(table[tokens], -1, 0)

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        """A matrix that holds `values` at `places` and 0 elsewhere."""
        matrix = np.zeros(shape, self.dtype)
        matrix[tuple(np.array(places).T)] = values
        return matrix
