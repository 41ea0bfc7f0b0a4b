"""What a page or an exported file computes, written by running the forward pass itself on symbols.

A program is plain data: nodes `[operation, arguments, option, shape]`, each after those that it reads, and
the names of those that people ask for. The page's `evaluate.js` and the writers of `export` know the
operations, and nothing of any model: there is no second pass.

>>> from glassformer.models.architecture import make_reference_architecture
>>> programs = trace_programs(make_reference_architecture(vocab=12), positions=8)
>>> programs["forward"]["nodes"][programs["forward"]["names"]["logits"]][3]  # tok pos batch
[12, 8, -1]
"""

from typing import Any, TypedDict

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    embed_tokens,
    finish_layer,
    format_layer_prefix,
    forward,
    list_parameters,
    read_out_logits,
    run_from_embedding,
    untie_parameters,
    wrap_record,
)
from glassformer.models.ops import Value
from glassformer.models.ops_trace import TraceOps
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.symbols import BATCH, Node, TraceGraph


class Program(TypedDict):
    """As types.js has it."""

    nodes: list[list[Any]]  # operation, arguments, option, shape
    names: dict[str, int]


class _ModelPrograms(TypedDict):
    """The whole pass, and its last parts alone, for points of the plane."""

    forward: Program  # from `tokens`, `pos batch`
    settle: Program  # from `state`, `dim 1 batch`, after the last layer's attention
    readout: Program  # from `state`, after the last layer


def trace_programs(architecture: Architecture, positions: int) -> _ModelPrograms:
    """The programs for this many positions; shorter inputs may be padded, since no position looks ahead."""
    return {
        "forward": _trace_forward(architecture, positions),
        "settle": _trace_settle(architecture),
        "readout": _trace_readout(architecture),
    }


def _trace_forward(model: Architecture, positions: int) -> Program:
    graph, seen = TraceGraph(), dict[str, Value]()
    tokens = graph.leaf("input", "tokens", (positions, BATCH))
    logits = forward(
        model, TraceOps(graph), _make_parameter_leaves(graph, model), tokens, record=seen.__setitem__
    )
    return extract_program(graph, seen | {"logits": logits})


def trace_whole(model: Architecture, positions: int) -> Program:
    """The same pass for readers: the stream is one array throughout, constants have the model's precision.

    An array with fixed entries is a leaf of its free ones alone, which keep their positions in it.
    """
    graph, seen = TraceGraph(joins_blocks=True), dict[str, Value]()
    ops, params = TraceOps(graph, model.precision), untie_parameters(model, _make_free_leaves(graph, model))
    table, x = embed_tokens(model, ops, params, graph.leaf("input", "tokens", (positions, BATCH)))
    logits = run_from_embedding(model, ops, params, table, to_dense(x), None, wrap_record(seen.__setitem__))
    return extract_program(graph, seen | {"logits": _spread_over_batch(graph, to_dense(logits))})


def _spread_over_batch(graph: TraceGraph, logits: Value) -> Value:
    """Logits that no token changes, once for every sequence."""
    is_shared = logits.shape[2] != BATCH
    return logits + graph.leaf("fill", 0.0, (1, 1, BATCH)) if is_shared else logits


def _trace_settle(model: Architecture) -> Program:
    """The last layer from after its attention on: `stream`, `logits`, and `bent`, what its units bend."""
    graph, seen = TraceGraph(), dict[str, Value]()
    ops, params, note = (
        TraceOps(graph),
        untie_parameters(model, _make_parameter_leaves(graph, model)),
        wrap_record(seen.__setitem__),
    )
    state, name = (
        graph.leaf("input", "state", (model.width, 1, BATCH)),
        format_layer_prefix(model, len(model.layers) - 1),
    )
    stream = finish_layer(model.layers[-1], ops, params, name, state, None, note)
    read_out_logits(model, ops, params, stream, _make_token_table(model, ops, params), note)
    bent = seen.get(f"{name}ff.gate", seen.get(f"{name}ff.up"))
    named = {"stream": seen[f"{name}stream"], "logits": seen["logits"]}
    return extract_program(graph, named if bent is None else named | {"bent": bent})


def _trace_readout(model: Architecture) -> Program:
    """From the last layer's stream to `logits`."""
    graph, seen = TraceGraph(), dict[str, Value]()
    ops, params, note = (
        TraceOps(graph),
        untie_parameters(model, _make_parameter_leaves(graph, model)),
        wrap_record(seen.__setitem__),
    )
    state = graph.leaf("input", "state", (model.width, 1, BATCH))
    read_out_logits(model, ops, params, state, _make_token_table(model, ops, params), note)
    return extract_program(graph, {"logits": seen["logits"]})


def _make_parameter_leaves(graph: TraceGraph, model: Architecture) -> Parameters:
    """Every stored array as a leaf of the graph."""
    found = list_parameters(model).items()
    return {name: graph.leaf("parameter", name, parameter.shape) for name, parameter in found}


def _make_free_leaves(graph: TraceGraph, model: Architecture) -> Parameters:
    return {name: _assemble_parameter(graph, name, one) for name, one in list_parameters(model).items()}


def _assemble_parameter(graph: TraceGraph, name: str, one: Parameter) -> Value:
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


def _make_token_table(model: Architecture, ops: TraceOps, params: Parameters) -> Value:
    return model.token.table(ops, params, "token", model.vocab, model.token_dims)


def extract_program(graph: TraceGraph, named: dict[str, Value]) -> Program:
    """The nodes that the named ones need, numbered anew; all others are dropped."""
    names = {name: graph.lift(value).number for name, value in named.items()}
    needed = set(names.values())
    for number in range(len(graph.nodes) - 1, -1, -1):  # a node comes after what it reads
        if number in needed:
            needed.update(graph.nodes[number].arguments)
    place = {number: index for index, number in enumerate(sorted(needed))}
    nodes = [_to_json_node(graph.nodes[number], place) for number in place]
    return {"nodes": nodes, "names": {name: place[number] for name, number in names.items()}}


def _to_json_node(node: Node, place: dict[int, int]) -> list[Any]:
    """A node as JSON has it; the batch is -1."""
    shape = [-1 if size == BATCH else size for size in node.shape]
    return [node.operation, [place[number] for number in node.arguments], node.option, shape]
