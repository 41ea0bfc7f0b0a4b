"""The graph for ONNX: its names, and an error function where runtimes have none."""

from dataclasses import replace

import onnx

from glassformer.exports.check import measure_export_difference
from glassformer.exports.onnx_file import encode_onnx_file
from glassformer.models.architecture import make_reference_architecture
from glassformer.models.feedforward import FeedForward
from tests.exports.exported import KINDS, subject_of, zoo
from tests.models.test_forward import contexts, drawn


def test_onnx_has_an_error_function_in_float64():
    """Runtimes have none, so that a series stands in; it must be as exact as the rest."""
    layer = replace(make_reference_architecture(vocab=12).layers[0], feedforward=FeedForward(bend="gelu"))
    model = replace(make_reference_architecture(vocab=12), layers=(layer,), precision="float64")
    params = {name: 4 * array for name, array in drawn(model).items()}  # far into both tails
    subject, tokens = subject_of(model, params), contexts(8, batch=40, vocab=12).T
    theirs, ours = KINDS["onnx"](subject)(tokens), subject.loaded.forward(tokens)
    assert measure_export_difference(ours, theirs) < 1e-13


def test_the_graph_names_what_the_trace_names():
    subject = zoo("glass-29")
    graph = onnx.load_from_string(encode_onnx_file(subject)).graph
    assert set(subject.loaded.params) <= {one.name for one in graph.initializer}
    assert {"attn.scores.0", "attn.mixed", "ff.hidden", "stream"} <= {
        name for node in graph.node for name in node.output
    }
    assert [axis.dim_param for axis in graph.input[0].type.tensor_type.shape.dim] == ["batch", "pos"]
