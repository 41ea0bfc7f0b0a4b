"""What a page or an exported file computes, written by running the forward pass itself on symbols.

A program is plain data: nodes `[operation, arguments, option, shape]`, each after those that it reads, and
the names of those that people ask for. The page's `evaluate.js` and the writers of `export` know the
operations, and nothing of any model: there is no second pass.

>>> from glassformer.model.architecture import reference
>>> programs = trace_programs(reference(vocab=12), places=8)
>>> programs["forward"]["nodes"][programs["forward"]["names"]["logits"]][3]  # tok pos batch
[12, 8, -1]
"""

from typing import Any, TypedDict

import numpy as np

from glassformer.model.architecture import Architecture
from glassformer.model.blocks import whole
from glassformer.model.forward import (
    embed,
    forward,
    from_embedded,
    parameters,
    plainly,
    prefix,
    read_out,
    settle,
    untie,
)
from glassformer.model.ops import Value
from glassformer.model.ops_trace import TraceOps
from glassformer.model.parameter import Parameter, Parameters
from glassformer.model.symbols import BATCH, Graph, Node


class Program(TypedDict):
    """As types.js has it."""

    nodes: list[list[Any]]  # operation, arguments, option, shape
    names: dict[str, int]


class Programs(TypedDict):
    """The whole pass, and its last parts alone, for points of the plane."""

    forward: Program  # from `tokens`, `pos batch`
    settle: Program  # from `state`, `dim 1 batch`, after the last layer's attention
    readout: Program  # from `state`, after the last layer


def trace_programs(architecture: Architecture, places: int) -> Programs:
    """The programs for this many places; a shorter input may be padded, for no place looks ahead."""
    return {
        "forward": trace_forward(architecture, places),
        "settle": trace_settle(architecture),
        "readout": trace_readout(architecture),
    }


def trace_forward(model: Architecture, places: int) -> Program:
    graph, seen = Graph(), dict[str, Value]()
    tokens = graph.leaf("input", "tokens", (places, BATCH))
    logits = forward(model, TraceOps(graph), stored(graph, model), tokens, record=seen.__setitem__)
    return written(graph, seen | {"logits": logits})


def trace_whole(model: Architecture, places: int) -> Program:
    """The same pass for readers: the stream is one array throughout, constants have the model's precision.

    An array with fixed entries is a leaf of its free ones alone, which are put at their places.
    """
    graph, seen = Graph(joins_blocks=True), dict[str, Value]()
    ops, params = TraceOps(graph, model.precision), untie(model, free_and_fixed(graph, model))
    table, x = embed(model, ops, params, graph.leaf("input", "tokens", (places, BATCH)))
    logits = from_embedded(model, ops, params, table, whole(x), None, plainly(seen.__setitem__))
    return written(graph, seen | {"logits": spread_over_batch(graph, whole(logits))})


def spread_over_batch(graph: Graph, logits: Value) -> Value:
    """Logits that no token changes, once for every sequence."""
    is_shared = logits.shape[2] != BATCH
    return logits + graph.leaf("fill", 0.0, (1, 1, BATCH)) if is_shared else logits


def trace_settle(model: Architecture) -> Program:
    """The last layer from after its attention on: `stream`, `logits`, and `bent`, what its units bend."""
    graph, seen = Graph(), dict[str, Value]()
    ops, params, note = TraceOps(graph), untie(model, stored(graph, model)), plainly(seen.__setitem__)
    state, name = graph.leaf("input", "state", (model.width, 1, BATCH)), prefix(model, len(model.layers) - 1)
    stream = settle(model.layers[-1], ops, params, name, state, None, note)
    read_out(model, ops, params, stream, table_of(model, ops, params), note)
    bent = seen.get(f"{name}ff.gate", seen.get(f"{name}ff.up"))
    named = {"stream": seen[f"{name}stream"], "logits": seen["logits"]}
    return written(graph, named if bent is None else named | {"bent": bent})


def trace_readout(model: Architecture) -> Program:
    """From the last layer's stream to `logits`."""
    graph, seen = Graph(), dict[str, Value]()
    ops, params, note = TraceOps(graph), untie(model, stored(graph, model)), plainly(seen.__setitem__)
    state = graph.leaf("input", "state", (model.width, 1, BATCH))
    read_out(model, ops, params, state, table_of(model, ops, params), note)
    return written(graph, {"logits": seen["logits"]})


def stored(graph: Graph, model: Architecture) -> Parameters:
    """Every stored array as a leaf of the graph."""
    found = parameters(model).items()
    return {name: graph.leaf("parameter", name, parameter.shape) for name, parameter in found}


def free_and_fixed(graph: Graph, model: Architecture) -> Parameters:
    return {name: put_together(graph, name, one) for name, one in parameters(model).items()}


def put_together(graph: Graph, name: str, one: Parameter) -> Value:
    """A stored array: a leaf, or its free entries among fixed ones."""
    if not one.fixed:
        return graph.leaf("parameter", name, one.shape)
    fixed = np.zeros(one.shape)
    for place, value in one.fixed:
        fixed[place] = value
    if not one.free:
        return fixed
    matrix = one.shape if len(one.shape) == 2 else (1, one.size)
    free = graph.leaf("parameter", name, (one.free,))
    whole = graph.add("scatter", (free,), one.free_places, matrix).reshape(*one.shape)
    return whole + fixed if fixed.any() else whole


def table_of(model: Architecture, ops: TraceOps, params: Parameters) -> Value:
    return model.token.table(ops, params, "token", model.vocab, model.token_dims)


def written(graph: Graph, named: dict[str, Value]) -> Program:
    """The nodes that the named ones need, numbered anew; all others are dropped."""
    names = {name: graph.lift(value).number for name, value in named.items()}
    needed = set(names.values())
    for number in range(len(graph.nodes) - 1, -1, -1):  # a node comes after what it reads
        if number in needed:
            needed.update(graph.nodes[number].arguments)
    place = {number: index for index, number in enumerate(sorted(needed))}
    nodes = [plain(graph.nodes[number], place) for number in place]
    return {"nodes": nodes, "names": {name: place[number] for name, number in names.items()}}


def plain(node: Node, place: dict[int, int]) -> list[Any]:
    """A node as JSON has it; the batch is -1."""
    shape = [-1 if size == BATCH else size for size in node.shape]
    return [node.operation, [place[number] for number in node.arguments], node.option, shape]
