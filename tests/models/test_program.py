"""Programs: every model that there is can be written as one, with nothing in it twice or for nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from glassformer.models.architecture import Architecture, Tie, make_reference_architecture
from glassformer.models.forward import forward, list_parameters
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.program import Program, trace_programs
from glassformer.models.symbols import BATCH, TraceGraph
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import Addition
from glassformer.zoo import ZOO
from tests.models.test_forward import CONTEXT, architectures, contexts, drawn

OPERATIONS = {
    *("input", "parameter", "constant", "fill", "view", "reshape", "join", "sum", "softmax", "scores", "mix"),
    *("linear", "lookup", "scatter", "add", "sub", "mul", "div", "neg", "exp", "sqrt", "sin", "cos", "abs"),
    *("relu", "gelu", "silu"),
}
MODELS = {name: (entry.architecture, entry.task) for name, entry in ZOO.items()} | {
    name: (run.architecture, run.task) for name, run in CONFIGURATIONS.items()
}


def assert_sound(program: Program) -> None:
    """Known operations, each after what it reads, none twice, none without use; JSON keeps all of it."""
    nodes = program["nodes"]
    assert json.loads(json.dumps(program, allow_nan=False)) == program
    assert {node[0] for node in nodes} <= OPERATIONS
    assert len({json.dumps(node) for node in nodes}) == len(nodes)
    assert all(argument < place for place, node in enumerate(nodes) for argument in node[1])
    used = {argument for node in nodes for argument in node[1]} | set(program["names"].values())
    assert used == set(range(len(nodes)))
    assert BATCH not in {size for node in nodes for size in node[3]}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_traced(name: str):
    architecture, task = MODELS[name]
    places = task.written().length - 1 if isinstance(task, Addition) else architecture.context
    programs = trace_programs(architecture, places)
    for program in programs.values():
        assert_sound(program)
        assert program["nodes"][program["names"]["logits"]][3][0] == architecture.vocab
    read = {node[2] for node in programs["forward"]["nodes"] if node[0] == "parameter"}
    assert read <= set(list_parameters(architecture))


@given(architectures())
@settings(max_examples=30)
def test_names_and_shapes_are_those_of_the_pass(architecture: Architecture):
    program, seen = trace_programs(architecture, CONTEXT)["forward"], dict[str, np.ndarray]()
    tokens = contexts(CONTEXT, batch=7)
    seen["logits"] = forward(architecture, NumpyOps(), drawn(architecture), tokens, record=seen.__setitem__)
    assert_sound(program)
    shapes = {name: tuple(program["nodes"][node][3]) for name, node in program["names"].items()}
    assert shapes == {
        name: tuple(-1 if axis == 2 and size == 7 else size for axis, size in enumerate(value.shape))
        for name, value in seen.items()
        if name != "logits"
    } | {"logits": (architecture.vocab, CONTEXT, -1)}


def test_a_tied_array_is_read_under_the_name_that_is_stored():
    tied = replace(make_reference_architecture(vocab=12), ties=(Tie("head.weight", "token.weight"),))
    nodes = trace_programs(tied, 8)["readout"]["nodes"]
    assert {node[2] for node in nodes if node[0] == "parameter"} == {"token.weight", "head.bias"}


def test_the_same_operation_is_made_once():
    graph = TraceGraph()
    x = graph.leaf("input", "x", (3, BATCH))
    assert (x[1:] + 1.0).number == (x[1:] + 1.0).number
    assert (1.0 - x).number != (x - 1.0).number
    assert (np.ones(1) / x[0]).shape == (BATCH,)


def test_a_constant_cannot_vary_over_the_batch():
    graph = TraceGraph()
    assert graph.lift(np.zeros(BATCH)).shape == (BATCH,)
    with pytest.raises(AssertionError, match="batch"):
        graph.lift(np.arange(BATCH))
