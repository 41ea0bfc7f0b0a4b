"""Masks and distances of columns as nodes of a graph, for as many positions as the tokens have.

With 12 columns per number a key at position 13 stands one column above a query at position 24:
13 mod 12 - 24 mod 12 = 1.
"""

from typing import Any, Protocol

import numpy as np

from glassformer.exports.fixed import ColumnRule, FixedArray
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
    if one.by_columns:
        return _add_column_rule(graph, one, one.by_columns)
    assert one.slope is not None
    back = graph.node("Sub", ["query", "key"], f"{one.name}:back")
    later = graph.node("Less", [back, graph.integers(0)], f"{one.name}:later")
    sloped = graph.node("Mul", [_cast(graph, back, one), graph.number(-one.slope)], f"{one.name}:sloped")
    if one.array.ndim == 2:
        return graph.node("Where", [later, graph.number(MASKED), sloped], one.name)
    flat = graph.node("Where", [later, graph.number(MASKED), sloped], f"{one.name}:flat")
    return graph.node("Unsqueeze", [flat, graph.integers([2])], one.name)


def _add_column_rule(graph: GraphWriter, one: FixedArray, rule: ColumnRule) -> str:
    """Columns up themselves, their squares from a peak, or a mask of those above the highest."""
    whole = _add_columns_up(graph, one.name)
    if rule.highest is not None:
        return _add_column_mask(graph, one, whole, rule.highest)
    if rule.peak is None:
        return _cast(graph, whole, one, one.name)
    away = graph.node("Sub", [_cast(graph, whole, one), graph.number(rule.peak)], f"{one.name}:away")
    return graph.node("Mul", [away, away], one.name)


def _add_columns_up(graph: GraphWriter, name: str) -> str:
    """Columns from a query up to a key, as integers; a later key counts as the query itself."""
    columns = graph.node("Add", ["digits", graph.integers(ENDS)], f"{name}:columns")
    seen = graph.node("Min", ["query", "key"], f"{name}:seen")
    key = graph.node("Mod", [seen, columns], f"{name}:key")
    query = graph.node("Mod", ["query", columns], f"{name}:query")
    return graph.node("Sub", [key, query], f"{name}:whole")


def _add_column_mask(graph: GraphWriter, one: FixedArray, whole: str, highest: int) -> str:
    """-1e30 for keys that are later or higher, 0 for all others."""
    later = graph.node("Less", ["query", "key"], f"{one.name}:later")
    higher = graph.node("Greater", [whole, graph.integers(highest)], f"{one.name}:higher")
    hidden = graph.node("Or", [later, higher], f"{one.name}:hidden")
    return graph.node("Where", [hidden, graph.number(MASKED), graph.number(0.0)], one.name)


def _cast(graph: GraphWriter, value: str, one: FixedArray, name: str = "") -> str:
    """Integers as numbers of the model's precision."""
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(one.array.dtype))
    return graph.node("Cast", [value], name or f"{value}:cast", to=kind)
