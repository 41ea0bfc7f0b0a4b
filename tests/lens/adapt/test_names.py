"""Prefixes and shapes."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.adapt.names import TensorNames, require_all_layers
from glassformer.lens.layout import Vector
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor


def holding(*names: str) -> Checkpoint:
    return Checkpoint(
        "x", "x", "torch", {}, {name: make_memory_tensor(name, np.ones((2, 3))) for name in names}, ""
    )


def test_outer_tensors_are_found_under_shorter_prefixes() -> None:
    names = TensorNames.find(holding("language_model.model.e", "language_model.head", "tail"), "e")
    assert names.prefix == "language_model.model."
    assert [names.full(name) for name in ("e", "head", "tail", "none")] == [
        "language_model.model.e",
        "language_model.head",
        "tail",
        "language_model.model.none",
    ]


def test_layers_and_experts_take_their_places() -> None:
    names = TensorNames.find(holding("model.h.1.w.2"), "h.1.w.2")
    assert names.at(1, 2).has("h.#.w.*") and not names.at(2, 1).has("h.#.w.*")


def test_a_vector_of_another_size_is_one_sentence() -> None:
    names = TensorNames.find(holding("e"), "e")
    with pytest.raises(UserError, match=r"x: 'e' is 2 x 3, but the configuration \(its width\) makes it 4"):
        names.gain("e", 4)
    assert names.bias("missing", 4) is None
    assert names.optional_gain("", 4) is None


def test_a_gain_keeps_its_offset() -> None:
    tensor = make_memory_tensor("g", np.ones(4))
    names = TensorNames.find(Checkpoint("x", "x", "torch", {}, {"g": tensor}, ""), "g")
    assert names.gain("g", 4, offset=1.0) == Vector("g", offset=1.0)


def test_layers_are_counted() -> None:
    names = TensorNames.find(holding("h.0.w", "h.1.w"), "h.0.w")
    require_all_layers(names, "h.#.w", 2)
    with pytest.raises(UserError, match="layer 2 of 3 is incomplete"):
        require_all_layers(names, "h.#.w", 3)
    with pytest.raises(UserError, match=r"says 1 layers, but there is a 'h\.1\.w'"):
        require_all_layers(names, "h.#.w", 1)


def test_nothing_of_that_name() -> None:
    with pytest.raises(UserError, match="x has no tensor called 'e', which its architecture needs"):
        TensorNames.find(holding("vision.e"), "e")
