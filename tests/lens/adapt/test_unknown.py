"""Patterns of names, and matrices in tensors of three axes."""

import numpy as np

from glassformer.lens.adapt.unknown import list_pattern_weights, make_name_pattern, make_unknown_layout
from glassformer.lens.matrix import view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor


def test_the_first_number_is_the_layer() -> None:
    assert make_name_pattern("h.3.experts.7.w") == (3, "h.#.experts.7.w")
    assert make_name_pattern("conv1.weight") == (None, "conv1.weight")
    assert make_name_pattern("²") == (None, "²")


def test_names_and_architectures_hold_no_markup() -> None:
    """In a table, a title or a terminal they would be more than a name."""
    assert make_name_pattern("a b|`<i>$x$*.4.w") == (4, "a_b___i__x_*.#.w")
    stored = {"w": make_memory_tensor("w", np.eye(2))}
    config = {"model_type": "new\x1b[31m\nmodel\ud800" + "x" * 999}
    layout = make_unknown_layout(
        Checkpoint("toy", "toy", "safetensors", config, stored, ""), config["model_type"]
    )
    assert layout.architecture.startswith("new__31m_model_xxx") and len(layout.architecture) == 80
    assert layout.notes[0].isprintable() and layout.architecture in layout.notes[0]


def test_leading_axes_are_experts() -> None:
    array = np.random.default_rng(0).standard_normal((3, 4, 5))
    tensor = make_memory_tensor("blocks.2.experts", array)
    checkpoint = Checkpoint("toy", "toy", "safetensors", {}, {tensor.name: tensor}, "")
    weights = list_pattern_weights([tensor])
    assert [(weight.layer, weight.expert) for weight in weights] == [(2, 0), (2, 1), (2, 2)]
    for weight, expert in zip(weights, array, strict=True):
        assert np.array_equal(view_matrix(checkpoint, weight.view).dense(), expert)


def test_a_convolution_is_one_matrix() -> None:
    """16 channels by 8 channels by 3 places are not 16 experts."""
    assert len(list_pattern_weights([make_memory_tensor("conv", np.ones((16, 8, 3)))])) == 1
    assert len(list_pattern_weights([make_memory_tensor("patch", np.ones((16, 3, 4, 4)))])) == 1


def test_vectors_and_empty_tensors_are_no_matrices() -> None:
    tensors = [
        make_memory_tensor("a", np.ones(4)),
        make_memory_tensor("b", np.ones((1, 4))),
        make_memory_tensor("c", np.ones((0, 4))),
    ]
    assert list_pattern_weights(tensors) == ()


def test_layers_come_in_the_order_of_numbers() -> None:
    tensors = [make_memory_tensor(f"h.{layer}.w", np.eye(2)) for layer in (10, 9, 0)] + [
        make_memory_tensor("e", np.eye(2))
    ]
    assert [weight.layer for weight in list_pattern_weights(tensors)] == [0, 9, 10, None]
