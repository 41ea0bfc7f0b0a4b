"""The operations of a forward pass, written down and not computed: the backend whose result is a program.

Sums, products and shares are single operations with the meaning that `NumpyOps` gives them. What needs no
parameter and no token is worked out here, by NumPy, in double precision where nothing else is asked for.
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
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.symbols import Symbol, TraceGraph


class TraceOps:
    """Records on a graph; plain NumPy arrays, the constants, are computed at once."""

    def __init__(self, graph: TraceGraph, precision: str = "float64") -> None:
        self.graph = graph
        self.plain = NumpyOps(precision)

    def array(self, value: Value) -> Value:
        return self.plain.array(value)

    def exp(self, x: Value) -> Value:
        return self.unary("exp", x)

    def sqrt(self, x: Value) -> Value:
        return self.unary("sqrt", x)

    def sin(self, x: Value) -> Value:
        return self.unary("sin", x)

    def cos(self, x: Value) -> Value:
        return self.unary("cos", x)

    def abs(self, x: Value) -> Value:
        return self.unary("abs", x)

    def relu(self, x: Value) -> Value:
        return map_blocks(lambda part: self.unary("relu", part), x)

    def gelu(self, x: Value) -> Value:
        return map_blocks(lambda part: self.unary("gelu", part), x)

    def silu(self, x: Value) -> Value:
        return map_blocks(lambda part: self.unary("silu", part), x)

    def unary(self, operation: str, x: Value) -> Value:
        if not isinstance(x, Symbol):
            return getattr(self.plain, operation)(x)
        return self.graph.add(operation, (x,), None, x.shape)

    def sum(self, x: Value, axis: int) -> Value:
        if not isinstance(x, Symbol):
            return self.plain.sum(x, axis)
        shape = tuple(size for other, size in enumerate(x.shape) if other != axis)
        return self.graph.add("sum", (x,), axis, shape)

    def softmax(self, scores: Value, extra: float) -> Value:
        if not isinstance(scores, Symbol):
            return self.plain.softmax(scores, extra)
        return self.graph.add("softmax", (scores,), extra, scores.shape)

    def scores(self, queries: Value, keys: Value) -> Value:
        queries, keys = to_dense(queries), to_dense(keys)
        if not _has_symbol(queries, keys):
            return self.plain.scores(queries, keys)
        shape = (queries.shape[1], keys.shape[1], max(queries.shape[2], keys.shape[2]))
        return self.graph.add("scores", (queries, keys), None, shape)

    def mix(self, weights: Value, values: Value) -> Value:
        factor = None
        if weights.shape[2] == 1:  # shared by all sequences: a factor of the positions joins the weights
            values, factor = split_position_factor(values)
        values = to_dense(values)
        weights = weights if factor is None else weights * factor[None, :, :]
        if not _has_symbol(weights, values):
            return self.plain.mix(weights, values)
        shape = (values.shape[0], weights.shape[0], max(weights.shape[2], values.shape[2]))
        return self.graph.add("mix", (weights, values), None, shape)

    def stack(self, values: Sequence[Value], axis: int = 0) -> Value:
        if not _has_symbol(*values):
            return self.plain.stack(values, axis)
        shape = tuple(values[0].shape)
        grown = (*shape[:axis], 1, *shape[axis:])
        return self.joined([_reshape_value(value, grown) for value in values], axis)

    def rows(self, values: Sequence[Value]) -> Value:
        return to_dense(Blocks(self, [value[None] for value in values]))

    def join(self, values: Sequence[Value]) -> Value:
        return self.joined(values, 0)

    def joined(self, values: Sequence[Value], axis: int) -> Value:
        if not _has_symbol(*values):
            return np.concatenate(values, axis)
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.graph.add("join", tuple(values), axis, tuple(shape))

    def linear(self, weight: Value, x: Value, bias: Value | None = None) -> Value:
        x = to_dense(x) if self.graph.joins_blocks else x
        if isinstance(x, Blocks):
            return apply_blockwise_linear(self, weight, x, bias)
        if not _has_symbol(weight, x, bias):
            return self.plain.linear(weight, x, bias)
        arguments = (weight, x) if bias is None else (weight, x, bias)
        return self.graph.add("linear", arguments, None, (weight.shape[0], *x.shape[1:]))

    def lookup(self, table: Value, tokens: Value) -> Value:
        return self.graph.add("lookup", (table, tokens), None, (table.shape[1], *tokens.shape))

    def scatter(self, values: Value, places: tuple[tuple[int, int], ...], shape: tuple[int, int]) -> Value:
        flat = [row * shape[1] + column for row, column in places]
        return self.graph.add("scatter", (values,), flat, shape)


def _has_symbol(*values: object) -> bool:
    return any(isinstance(value, Symbol) for value in values)


def _reshape_value(value: Value, shape: tuple[int, ...]) -> Value:
    """A symbol or an array; numbers of no axes may be NumPy's own scalars."""
    return value.reshape(*shape) if isinstance(value, Symbol) else np.reshape(value, shape)
