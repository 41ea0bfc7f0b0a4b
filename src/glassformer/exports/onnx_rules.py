"""Masks and distances of columns as nodes of a graph, for as many positions as the tokens have.

With 12 columns per number a key at position 13 stands one column above a query at position 24:
13 mod 12 - 24 mod 12 = 1.
"""

from typing import Any, Protocol

import numpy as np

from glassformer.exports.fixed import FixedArray
from glassformer.models.lengths import ENDS
from glassformer.models.relation import MASKED


class GraphWriter(Protocol):
    """What a graph offers to those who add nodes: each call gives the name of a value."""

    def node(self, operation: str, reads: list[str], name: str, **attributes: object) -> str: ...

    def initializer(self, name: str, array: np.ndarray) -> str: ...

    def integers(self, values: Any) -> str: ...

    def number(self, value: float) -> str: ...


def add_position_grid(graph: GraphWriter) -> None:
    """`query` (pos 1) and `key` (pos), the positions as integers, from `length`."""
    reach = [graph.integers(0), "length", graph.integers(1)]
    graph.node("Range", reach, "key")
    graph.node("Unsqueeze", ["key", graph.integers([1])], "query")


def add_rule(graph: GraphWriter, one: FixedArray) -> str:
    """A fixed array over queries and keys, computed from their positions."""
    if one.slope is None:
        return _add_distances(graph, one)
    back = graph.node("Sub", ["query", "key"], f"{one.name}:back")
    later = graph.node("Less", [back, graph.integers(0)], f"{one.name}:later")
    sloped = graph.node("Mul", [_cast(graph, back, one), graph.number(-one.slope)], f"{one.name}:sloped")
    if one.array.ndim == 2:
        return graph.node("Where", [later, graph.number(MASKED), sloped], one.name)
    flat = graph.node("Where", [later, graph.number(MASKED), sloped], f"{one.name}:flat")
    return graph.node("Unsqueeze", [flat, graph.integers([2])], one.name)


def _add_distances(graph: GraphWriter, one: FixedArray) -> str:
    """Columns from a query up to a key; a later key counts as the query itself."""
    columns = graph.node("Add", ["digits", graph.integers(ENDS)], f"{one.name}:columns")
    seen = graph.node("Min", ["query", "key"], f"{one.name}:seen")
    key = graph.node("Mod", [seen, columns], f"{one.name}:key")
    query = graph.node("Mod", ["query", columns], f"{one.name}:query")
    return _cast(graph, graph.node("Sub", [key, query], f"{one.name}:whole"), one, one.name)


def _cast(graph: GraphWriter, value: str, one: FixedArray, name: str = "") -> str:
    """Integers as numbers of the model's precision."""
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(one.array.dtype))
    return graph.node("Cast", [value], name or f"{value}:cast", to=kind)
