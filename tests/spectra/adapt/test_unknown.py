"""Patterns of names, and matrices in tensors of three axes."""

import numpy as np

from glassformer.spectra.adapt.unknown import pattern, pattern_weights, unknown_layout
from glassformer.spectra.matrix import view_matrix
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.tensor import in_memory


def test_the_first_number_is_the_layer() -> None:
    assert pattern("h.3.experts.7.w") == (3, "h.#.experts.7.w")
    assert pattern("conv1.weight") == (None, "conv1.weight")
    assert pattern("²") == (None, "²")


def test_names_and_architectures_hold_no_markup() -> None:
    """In a table, a title or a terminal they would be more than a name."""
    assert pattern("a b|`<i>$x$*.4.w") == (4, "a_b___i__x_*.#.w")
    stored = {"w": in_memory("w", np.eye(2))}
    config = {"model_type": "new\x1b[31m\nmodel\ud800" + "x" * 999}
    layout = unknown_layout(Checkpoint("toy", "toy", "safetensors", config, stored, ""), config["model_type"])
    assert layout.architecture.startswith("new__31m_model_xxx") and len(layout.architecture) == 80
    assert layout.notes[0].isprintable() and layout.architecture in layout.notes[0]


def test_leading_axes_are_experts() -> None:
    array = np.random.default_rng(0).standard_normal((3, 4, 5))
    tensor = in_memory("blocks.2.experts", array)
    checkpoint = Checkpoint("toy", "toy", "safetensors", {}, {tensor.name: tensor}, "")
    weights = pattern_weights([tensor])
    assert [(weight.layer, weight.expert) for weight in weights] == [(2, 0), (2, 1), (2, 2)]
    for weight, expert in zip(weights, array, strict=True):
        assert np.array_equal(view_matrix(checkpoint, weight.view).dense(), expert)


def test_a_convolution_is_one_matrix() -> None:
    """16 channels by 8 channels by 3 places are not 16 experts."""
    assert len(pattern_weights([in_memory("conv", np.ones((16, 8, 3)))])) == 1
    assert len(pattern_weights([in_memory("patch", np.ones((16, 3, 4, 4)))])) == 1


def test_vectors_and_empty_tensors_are_no_matrices() -> None:
    tensors = [in_memory("a", np.ones(4)), in_memory("b", np.ones((1, 4))), in_memory("c", np.ones((0, 4)))]
    assert pattern_weights(tensors) == ()


def test_layers_come_in_the_order_of_numbers() -> None:
    tensors = [in_memory(f"h.{layer}.w", np.eye(2)) for layer in (10, 9, 0)] + [in_memory("e", np.eye(2))]
    assert [weight.layer for weight in pattern_weights(tensors)] == [0, 9, 10, None]
