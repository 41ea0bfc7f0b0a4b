"""A stream in blocks: dimensions that do not vary over the batch are held, and worked on, once.

A state of five dimensions, two of the token and three of the position, is two blocks: `2 pos batch` and
`3 pos 1`. Queries and keys that read the position alone then have a batch of 1, and so have their scores and
the attention itself. The block of the token is a `TokenLookup`, a table and the tokens: a weight is applied
to the ten rows of the table, not to the thousands of positions that look them up.

>>> import numpy as np
>>> from glassformer.models.ops_numpy import NumpyOps
>>> token = TokenLookup(NumpyOps(), np.array([[1.0], [2.0]]), np.array([[0, 1, 1]]))
>>> x = Blocks(NumpyOps(), [token, np.array([[[5.0]]])])  # a token and its position, in three sequences
>>> (x * 2.0).shape, to_dense(x * 2.0).tolist()
((2, 1, 3), [[[2.0, 4.0, 4.0]], [[10.0, 10.0, 10.0]]])
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from glassformer.models.ops import Ops, Value

_Act = Callable[[Any, Any], Value]  # of two numbers: operator.add and so on


@dataclass(frozen=True, eq=False)
class TokenLookup:
    """`dim pos batch` as rows of a table: table[tokens], times a factor per position."""

    ops: Ops
    table: Value  # tok dim
    tokens: Value  # pos batch
    factor: Value | None = None  # pos 1, or 1 1
    square: Value | None = None  # the sum of squares of any row, where all rows have the same

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.table.shape[1], *self.tokens.shape)

    @cached_property
    def whole(self) -> Value:
        found = self.ops.lookup(self.table, self.tokens)
        return found if self.factor is None else found * self.factor

    def cut(self, dims: slice, positions: slice) -> "TokenLookup":
        factor = self.factor
        return replace(
            self,
            table=self.table[:, dims],
            tokens=self.tokens[positions],
            factor=factor if factor is None or factor.shape[0] == 1 else factor[positions],
            square=self.square if len(range(self.shape[0])[dims]) == self.shape[0] else None,
        )

    def through(self, weight: Value) -> "TokenLookup":
        """The lookup of `out dim` times each row."""
        return replace(self, table=self.ops.linear(weight, self.table.T).T, square=None)

    def scaled(self, other: Value, act: _Act) -> Value:
        """Times or divided by what does not vary over the batch: still a lookup. By anything else: whole."""
        shape: tuple[int, ...] = getattr(other, "shape", ())
        if len(shape) == 3 and shape[1:] == (1, 1):
            return replace(self, table=act(self.table, other[:, 0, 0]), square=None)
        if len(shape) == 2 and shape[1] == 1:
            return replace(self, factor=act(1.0 if self.factor is None else self.factor, other), square=None)
        return act(self.whole, other)


class Blocks:
    """Consecutive dimensions, each block with a batch of its own: all sequences, or 1 for what they share."""

    __array_ufunc__ = None  # NumPy leaves array * blocks to us
    ndim = 3

    def __init__(self, ops: Ops, parts: Iterable[Value]) -> None:
        self.ops = ops
        self.parts: tuple[Value, ...] = ()
        for part in parts:
            self.parts += part.parts if isinstance(part, Blocks) else (part,)

    @property
    def shape(self) -> tuple[int, int, int]:
        dims, positions, batches = zip(*(part.shape for part in self.parts), strict=True)
        return sum(dims), positions[0], max(batches)

    def __getitem__(self, key: object) -> Value:
        """x[dims] and x[dims, positions], by slices; x[dim] is one row `pos batch`."""
        if isinstance(key, int):
            start = key % self.shape[0]
            return to_dense(self[start : start + 1])[0]
        dims, positions = key if isinstance(key, tuple) else (key, slice(None))
        first, stop, _ = dims.indices(self.shape[0])
        return join_blocks(
            self.ops, [_slice_block(part, slice(a, b), positions) for part, a, b in self.between(first, stop)]
        )

    def between(self, first: int, stop: int) -> Iterator[tuple[Value, int, int]]:
        """The blocks that hold dimensions first..stop, and from where to where in each."""
        for part, (start, end) in self.spans():
            if first < end and start < stop:
                yield part, max(first, start) - start, min(stop, end) - start

    def spans(self) -> Iterator[tuple[Value, tuple[int, int]]]:
        """Every block with its first dimension and the one after its last."""
        return zip(self.parts, pairwise(self.edges()), strict=True)

    def edges(self) -> list[int]:
        edges = [0]
        for part in self.parts:
            edges.append(edges[-1] + part.shape[0])
        return edges

    def act(self, other: Value, by: _Act) -> Value:
        """One block after the other, against what belongs to it."""
        shape: tuple[int, ...] = getattr(other, "shape", ())
        if len(shape) < 3 or shape[0] != self.shape[0]:
            return join_blocks(self.ops, [_combine_blocks(part, other, by) for part in self.parts])
        edges = sorted({*self.edges(), *(other.edges() if isinstance(other, Blocks) else ())})
        pairs = [(_unwrap_block(self[a:b]), _unwrap_block(other[a:b])) for a, b in pairwise(edges)]
        return join_blocks(self.ops, [_combine_blocks(mine, theirs, by) for mine, theirs in pairs])

    def __add__(self, other: Value) -> Value:
        return self.act(other, operator.add)

    def __sub__(self, other: Value) -> Value:
        return self.act(other, operator.sub)

    def __mul__(self, other: Value) -> Value:
        return self.act(other, operator.mul)

    def __truediv__(self, other: Value) -> Value:
        return self.act(other, operator.truediv)

    __radd__, __rmul__ = __add__, __mul__


def join_blocks(ops: Ops, parts: list[Value]) -> Value:
    """Blocks one after the other; one plain block needs no wrapping."""
    blocks = Blocks(ops, parts)
    is_plain = len(blocks.parts) == 1 and not isinstance(blocks.parts[0], TokenLookup)
    return blocks.parts[0] if is_plain else blocks


def _combine_blocks(part: Value, other: Value, by: _Act) -> Value:
    if (
        isinstance(part, TokenLookup)
        and by in (operator.mul, operator.truediv)
        and not isinstance(other, TokenLookup)
    ):
        return part.scaled(other, by)
    return by(to_dense(part), to_dense(other))


def _slice_block(part: Value, dims: slice, positions: slice) -> Value:
    return part.cut(dims, positions) if isinstance(part, TokenLookup) else part[dims, positions]


def _unwrap_block(value: Value) -> Value:
    """The one block of a piece that is no longer divided."""
    return value.parts[0] if isinstance(value, Blocks) else value


def map_blocks(function: Callable[[Value], Value], x: Value) -> Value:
    """The function of every number, block by block."""
    if not isinstance(x, Blocks):
        return function(x)
    return join_blocks(x.ops, [function(to_dense(part)) for part in x.parts])


def find_lone_lookup(x: Value) -> TokenLookup | None:
    """The lookup, where the whole stream is a single one."""
    is_alone = isinstance(x, Blocks) and len(x.parts) == 1 and isinstance(x.parts[0], TokenLookup)
    return x.parts[0] if is_alone else None


def split_position_factor(values: Value) -> tuple[Value, Value | None]:
    """Values without the factor of their positions, and that factor, `pos 1`; none where there is none."""
    found = find_lone_lookup(values)
    return (to_dense(values), None) if found is None else (replace(found, factor=None).whole, found.factor)


def to_dense(value: Value) -> Value:
    """A plain array `dim pos batch`, whatever it was."""
    if isinstance(value, TokenLookup):
        return value.whole
    if not isinstance(value, Blocks):
        return value
    parts = [to_dense(part) for part in value.parts]
    widest = max(parts, key=lambda part: int(part.shape[2]))
    nothing = widest[:1] * 0.0  # 1 pos batch
    spread = [part if part.shape[2] == widest.shape[2] else part + nothing for part in parts]
    return spread[0] if len(spread) == 1 else value.ops.join(spread)


def sum_squares(ops: Ops, x: Value) -> Value:
    """Sums of squares over the dimensions, `pos batch`; the batch is 1 where all sequences share them."""
    if not isinstance(x, Blocks):
        return ops.sum(x * x, 0)
    sums = [
        part.square[None, None]
        if isinstance(part, TokenLookup) and part.square is not None
        else ops.sum(to_dense(part) * to_dense(part), 0)
        for part in x.parts
    ]
    return sum(sums[1:], sums[0])


def apply_blockwise_linear(ops: Ops, weight: Value, x: Blocks, bias: Value | None) -> Value:
    """`out dim` times blocks; a lookup alone stays one."""
    found = find_lone_lookup(x)
    if found is not None and bias is None:
        return Blocks(ops, [found.through(weight)])
    pieces = [ops.linear(weight[:, first:stop], to_dense(part)) for part, (first, stop) in x.spans()]
    total = sum(pieces[1:], pieces[0])
    return total if bias is None else total + bias[:, None, None]
