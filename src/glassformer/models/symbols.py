"""Values that remember how they are made: a forward pass that runs on them leaves its program behind.

>>> graph = TraceGraph()
>>> x = graph.leaf("input", "state", (2, 1, BATCH))
>>> doubled = x[:1] * 2.0
>>> doubled.shape == (1, 1, BATCH), [node.operation for node in graph.nodes]
(True, ['input', 'view', 'constant', 'mul'])

The batch is marked by a size that nothing else has, and is written as -1. What NumPy can work out by itself
(a table of sines, a mask) never becomes a node: constants stay NumPy arrays until they meet a symbol.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from glassformer.models.blocks import Blocks, to_dense
from glassformer.models.parameter import Shape

BATCH = 99_991  # a prime, larger than any width, context or vocabulary: the size that stands for the batch
_Option = Any  # plain data, as JSON has it


class Node(NamedTuple):
    """One operation: its name, the nodes it reads, and what else it must know."""

    operation: str
    arguments: tuple[int, ...]
    option: _Option
    shape: Shape


@dataclass(frozen=True, eq=False)
class TraceGraph:
    """Nodes in the order of their making; the same operation on the same nodes is made once."""

    nodes: list[Node] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # a node, written out -> its index in `nodes`
    joins_blocks: bool = False  # where a symbol meets blocks: one array for a reader, not rows apart

    def add(self, operation: str, arguments: tuple[Any, ...], option: _Option, shape: Shape) -> "Symbol":
        """The symbol of this node; arguments that are plain numbers become constants."""
        numbers = tuple(self.lift(argument).number for argument in arguments)
        node = Node(operation, numbers, option, shape)
        number = self.numbers.setdefault(repr(node), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return Symbol(self, number, shape)

    def leaf(self, operation: str, option: _Option, shape: Shape) -> "Symbol":
        return self.add(operation, (), option, shape)

    def lift(self, value: object) -> "Symbol":
        """A symbol as it is; numbers as a constant. One number for the whole batch is written once."""
        if isinstance(value, Symbol):
            return value
        array = np.asarray(value, np.float64)
        if BATCH not in array.shape:
            return self.leaf("constant", array.ravel().tolist(), array.shape)
        assert (array == array.flat[0]).all(), "a constant must not vary over the batch"
        return self.leaf("fill", float(array.flat[0]), array.shape)


@dataclass(frozen=True, eq=False)
class Symbol:
    """A value of a pass that is written down: a shape, and the node that makes it."""

    __array_ufunc__ = None  # NumPy leaves array * symbol to us

    graph: TraceGraph
    number: int
    shape: Shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> "Symbol":  # noqa: N802  # NumPy's name
        axes = list(range(self.ndim))[::-1]
        return self.graph.add("view", (self,), _make_view_option(axes, self.ndim), self.shape[::-1])

    def reshape(self, *shape: int) -> "Symbol":
        return self.graph.add("reshape", (self,), None, shape)

    def __getitem__(self, key: Any) -> "Symbol":
        """Basic indexing: integers, slices and new axes."""
        keys = list(key) if isinstance(key, tuple) else [key]
        keys += [slice(None)] * (self.ndim - sum(item is not None for item in keys))
        if all(item == slice(None) for item in keys):
            return self
        axes, shape, option, axis = list[int](), list[int](), _make_view_option([], self.ndim), 0
        for item in keys:
            if item is None:
                axes.append(-1)
                shape.append(1)
                continue
            if isinstance(item, slice):
                start, stop, step = item.indices(self.shape[axis])
                axes.append(axis)
                shape.append(len(range(start, stop, step)))
                option["start"][axis], option["step"][axis] = start, step
            else:
                option["start"][axis] = range(self.shape[axis])[item]
            axis += 1
        return self.graph.add("view", (self,), option | {"axes": axes}, tuple(shape))

    def binary(self, operation: str, left: Any, right: Any) -> "Symbol":
        shapes = [np.shape(side) if not isinstance(side, Symbol) else side.shape for side in (left, right)]
        return self.graph.add(operation, (left, right), None, np.broadcast_shapes(*shapes))

    def met(self, operation: str, other: object) -> Any:
        """With a symbol or a number on the right; blocks do it their way, unless the graph joins them."""
        if isinstance(other, Blocks) and self.graph.joins_blocks:
            return self.binary(operation, self, to_dense(other))
        return NotImplemented if _is_foreign(other) else self.binary(operation, self, other)

    def __add__(self, other: Any) -> Any:
        return self.met("add", other)

    def __sub__(self, other: Any) -> Any:
        return self.met("sub", other)

    def __mul__(self, other: Any) -> Any:
        return self.met("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self.met("div", other)

    def __radd__(self, other: Any) -> "Symbol":
        return self.binary("add", other, self)

    def __rsub__(self, other: Any) -> "Symbol":
        return self.binary("sub", other, self)

    def __rmul__(self, other: Any) -> "Symbol":
        return self.binary("mul", other, self)

    def __rtruediv__(self, other: Any) -> "Symbol":
        return self.binary("div", other, self)

    def __neg__(self) -> "Symbol":
        return self.graph.add("neg", (self,), None, self.shape)


def _is_foreign(other: object) -> bool:
    """Blocks know what to do with a plain value; a plain value leaves it to them."""
    return not isinstance(other, Symbol | np.ndarray | np.generic | int | float)


def _make_view_option(axes: list[int], ndim: int) -> dict[str, list[int]]:
    """A view: which axis of the source each of its axes is (-1: a new one), where it starts, its stride."""
    return {"axes": axes, "start": [0] * ndim, "step": [1] * ndim}
