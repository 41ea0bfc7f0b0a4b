"""The module for PyTorch: its parameters are the learned numbers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from glassformer.exports.torch_file import format_torch_file
from glassformer.models.architecture import Tie, make_reference_architecture
from glassformer.models.forward import list_parameters
from tests.exports.exported import assert_same, module_of, subject_of, zoo
from tests.models.test_forward import contexts, drawn


def test_parameters_of_the_module_are_the_learned_numbers():
    subject = zoo("glass-29")
    model = module_of(format_torch_file(subject)).Model()
    found = {name: value.detach().numpy() for name, value in model.named_parameters()}
    expected = {name.replace(".", "_"): array for name, array in subject.loaded.params.items()}
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)  # to the last bit
    assert sum(value.numel() for value in model.parameters()) == subject.counts["learned"] == 29
    assert set(model.state_dict()) == set(found)  # fixed numbers are not stored


def test_the_module_can_be_trained_on():
    model = module_of(format_torch_file(zoo("glass-29"))).Model()
    model(torch.randint(0, 10, (4, 32))).square().mean().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in model.parameters())


def test_a_tied_array_is_stored_once():
    tied = replace(make_reference_architecture(vocab=12), ties=(Tie("head.weight", "token.weight"),))
    subject = subject_of(tied, drawn(tied, dtype="float32"))
    names = {name for name, _ in module_of(format_torch_file(subject)).Model().named_parameters()}
    assert "token_weight" in names
    assert "head_weight" not in names
    assert_same(subject, "torch", contexts(8, vocab=12).T)


def test_frozen_numbers_are_buffers():
    model = make_reference_architecture(vocab=12)
    subject = subject_of(model, drawn(model, dtype="float32"))
    frozen = {
        name: one.frozen() if name == "head.bias" else one for name, one in list_parameters(model).items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glassformer.exports.subject.list_parameters", lambda _: frozen)
        exported = module_of(format_torch_file(subject)).Model()
    assert "head_bias" not in dict(exported.named_parameters())
    np.testing.assert_array_equal(exported.head_bias.numpy(), subject.loaded.params["head.bias"])
