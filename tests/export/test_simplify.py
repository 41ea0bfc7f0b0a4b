"""Programs for readers: each rule, and that nothing is left over."""

import numpy as np
import pytest

from glassformer.export.fixed import slope_of_mask
from glassformer.export.lines import view_text
from glassformer.export.simplify import Step, Steps, simplify
from glassformer.model.attention import Attention
from glassformer.model.ops_trace import TraceOps
from glassformer.model.position import Alibi
from glassformer.model.program import Program, trace_whole, written
from glassformer.model.symbols import BATCH, Graph, Symbol
from glassformer.zoo import ZOO


def program(make) -> Program:
    """That of a function of one array `3 4 batch`."""
    graph = Graph()
    x = graph.leaf("input", "x", (3, 4, BATCH))
    return written(graph, {"logits": make(TraceOps(graph), x)})


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
    assert sorted(step.operation for step in simplify(program(make)).steps) == sorted(expected)


@pytest.mark.parametrize("name", ZOO)
def test_every_step_is_needed_and_made_once(name):
    found = simplify(trace_whole(ZOO[name].architecture, ZOO[name].architecture.context))
    assert all(count > 0 for count in found.uses()[:-1])
    assert len({repr(step) for step in found.steps}) == len(found.steps)
    assert all(read < place for place, step in enumerate(found.steps) for read in step.reads)
    assert found.names[len(found.steps) - 1] == ["logits"]
    assert found.steps[-1].shape == (ZOO[name].architecture.vocab, ZOO[name].architecture.context, -1)


def test_a_stream_is_one_array_for_readers():
    """glass-29 keeps the digit's plane and the place apart when it runs; a reader sees `mid` as one sum."""
    found = simplify(trace_whole(ZOO["glass-29"].architecture, 32))
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
    graph = Graph()
    x = graph.leaf("input", "x", (3, 4, 5))
    node = graph.nodes[x[key].number]
    array = np.arange(60.0).reshape(3, 4, 5)
    text = view_text(Step(node.operation, node.arguments, node.option, node.shape), (3, 4, 5))
    np.testing.assert_array_equal(eval(f"array{text}"), array[key])


def test_a_matrix_turned_round_is_its_transpose():
    graph = Graph()
    node = graph.nodes[Symbol.T.fget(graph.leaf("parameter", "w", (3, 4))).number]
    assert view_text(Step(*node), (3, 4)) == ".T"


def test_masks_are_rules_and_other_arrays_are_not():
    def mask(relation):
        shift = Attention(relation=relation).shift(0, range(6), 6)
        return np.array(shift, np.float32)[:, :, None]

    assert slope_of_mask(mask(Attention().relation)) == 0.0
    assert slope_of_mask(mask(Alibi(slopes=(0.3,)))) == pytest.approx(0.3, rel=1e-6)
    spoilt = mask(Attention().relation)
    spoilt[4, 1] = 1.0
    assert slope_of_mask(spoilt) is None
    assert slope_of_mask(np.zeros((3, 4, 1))) is None


def test_steps_are_made_once():
    steps = Steps()
    assert steps.add(Step("fill", (), 0.0, (1,))) == steps.add(Step("fill", (), 0.0, (1,))) == 0
