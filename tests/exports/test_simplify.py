"""Programs for readers: each rule, and that nothing is left over."""

import numpy as np
import pytest

from glassformer.exports.fixed import find_mask_slope
from glassformer.exports.lines import format_view
from glassformer.exports.simplify import ProgramStep, SimplifiedProgram, simplify_program
from glassformer.models.attention import Attention, AttentionSite
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.ops_trace import TraceOps
from glassformer.models.program import Program, extract_program, trace_whole
from glassformer.models.relations import AlibiRelation
from glassformer.models.symbols import BATCH, Symbol, TraceGraph
from glassformer.zoo import ZOO


def program(make) -> Program:
    """That of a function of one array `3 4 batch`."""
    graph = TraceGraph()
    x = graph.leaf("input", "x", (3, 4, BATCH))
    return extract_program(graph, {"logits": make(TraceOps(graph), x)})


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda ops, x: x * 1.0 + 0.0, ["input"]),
        (lambda ops, x: x[:, :] / 1.0, ["input"]),
        (lambda ops, x: ops.linear(np.eye(3), x), ["input"]),
        (lambda ops, x: x * 0.0, ["fill"]),
        (lambda ops, x: x + x[:1, :, :1] * 0.0, ["input"]),
        (lambda ops, x: x[:1] * 0.0 + np.arange(4.0)[None, :, None], ["constant", "spread"]),
        (lambda ops, x: ops.join([x, x[:1] * 0.0, x[:2] * 0.0]), ["input", "fill", "join"]),
        (lambda ops, x: ops.stack([x[0], x[1]], 1), ["input", "view", "view", "stack"]),
        (lambda ops, x: x * np.full((3, 1, 1), 4.0), ["input", "constant", "mul"]),
        (lambda ops, x: x - 0.0 * x, ["input"]),
        (lambda ops, x: 0.0 - x, ["constant", "input", "sub"]),
    ],
)
def test_rules(make, expected):
    assert sorted(step.operation for step in simplify_program(program(make)).steps) == sorted(expected)


@pytest.mark.parametrize("name", ZOO)
def test_every_step_is_needed_and_made_once(name):
    found = simplify_program(trace_whole(ZOO[name].architecture, ZOO[name].architecture.context))
    assert all(count > 0 for count in found.uses()[:-1])
    assert len({repr(step) for step in found.steps}) == len(found.steps)
    assert all(read < place for place, step in enumerate(found.steps) for read in step.reads)
    assert found.names[len(found.steps) - 1] == ["logits"]
    assert found.steps[-1].shape == (ZOO[name].architecture.vocab, ZOO[name].architecture.context, -1)


def test_a_stream_is_one_array_for_readers():
    """glass-29 keeps the digit's plane and the place apart when it runs; a reader sees `mid` as one sum."""
    found = simplify_program(trace_whole(ZOO["glass-29"].architecture, 32))
    (mid,) = [place for place, names in found.names.items() if "mid" in names]
    assert found.steps[mid].operation == "add"
    assert found.steps[mid].shape == (5, 32, -1)


@pytest.mark.parametrize(
    "key",
    [
        (0,),
        (slice(1, 3),),
        (slice(None), None),
        (slice(None), 2),
        (None, slice(0, 3, 2)),
        (slice(None), slice(1, 2), 0),
    ],
)
def test_views_are_written_as_they_are_read(key):
    graph = TraceGraph()
    x = graph.leaf("input", "x", (3, 4, 5))
    node = graph.nodes[x[key].number]
    array = np.arange(60.0).reshape(3, 4, 5)
    text = format_view(ProgramStep(node.operation, node.arguments, node.option, node.shape), (3, 4, 5))
    np.testing.assert_array_equal(eval(f"array{text}"), array[key])


def test_a_matrix_turned_round_is_its_transpose():
    graph = TraceGraph()
    node = graph.nodes[Symbol.T.fget(graph.leaf("parameter", "w", (3, 4))).number]
    assert format_view(ProgramStep(*node), (3, 4)) == ".T"


def test_masks_are_rules_and_other_arrays_are_not():
    def mask(relation):
        here = AttentionSite(NumpyOps("float32"), {}, "attn", np.zeros((2, 6, 1)), range(6))
        return Attention(relation=relation).shift(here, 0, 6)[:, :, None]

    assert find_mask_slope(mask(Attention().relation)) == 0.0
    assert find_mask_slope(mask(AlibiRelation(slopes=(0.3,)))) == pytest.approx(0.3, rel=1e-6)
    spoilt = mask(Attention().relation)
    spoilt[4, 1] = 1.0
    assert find_mask_slope(spoilt) is None
    assert find_mask_slope(np.zeros((3, 4, 1))) is None


def test_steps_are_made_once():
    steps = SimplifiedProgram()
    assert steps.add(ProgramStep("fill", (), 0.0, (1,))) == steps.add(ProgramStep("fill", (), 0.0, (1,))) == 0
