"""Exported files in this process, in a namespace of their own."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import torch

from glassformer.exports.check import TOLERANCE, measure_export_difference
from glassformer.exports.onnx_file import encode_onnx_file
from glassformer.exports.python_file import format_python_file
from glassformer.exports.subject import ExportSubject
from glassformer.exports.torch_file import format_torch_file
from glassformer.models.architecture import Architecture
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import LoadedModel, load_model
from glassformer.tasks import Rule

Logits = Callable[[np.ndarray], np.ndarray]
RULE = CONFIGURATIONS["lucky7"]


def module_of(text: str) -> ModuleType:
    module = ModuleType("exported")
    exec(compile(text, "exported.py", "exec"), module.__dict__)
    return module


def by_torch(subject: ExportSubject) -> Logits:
    model = module_of(format_torch_file(subject)).Model()
    return lambda tokens: model(torch.tensor(tokens)).detach().double().numpy()


def by_python(subject: ExportSubject) -> Logits:
    module = module_of(format_python_file(subject))
    return lambda tokens: np.array([module.forward(one) for one in tokens.tolist()])


def by_onnx(subject: ExportSubject) -> Logits:
    session = onnxruntime.InferenceSession(encode_onnx_file(subject), providers=["CPUExecutionProvider"])
    return lambda tokens: session.run(["logits"], {"tokens": tokens.astype(np.int64)})[0].astype(np.float64)


KINDS: dict[str, Callable[[ExportSubject], Logits]] = {
    "torch": by_torch,
    "python": by_python,
    "onnx": by_onnx,
}


def subject_of(model: Architecture, params: dict[str, np.ndarray]) -> ExportSubject:
    """A model of any architecture; its task is a rule, for some task it must have."""
    assert isinstance(RULE.task, Rule)
    return ExportSubject(
        LoadedModel(model, params, RULE.task, RULE.data, str(Path("some.safetensors"))), "some.safetensors"
    )


def zoo(name: str) -> ExportSubject:
    return ExportSubject(load_model(name), name)


def assert_same(subject: ExportSubject, kind: str, tokens: np.ndarray) -> None:
    """Logits within the tolerance and the same winners; shorter inputs too, for they are filled up."""
    logits, ours = KINDS[kind](subject), subject.loaded.forward(tokens).astype(np.float64)
    for places in (tokens.shape[1], 2):
        theirs = logits(tokens[:, :places])
        assert theirs.shape == ours[:, :places].shape
        assert measure_export_difference(ours[:, :places], theirs) <= TOLERANCE[subject.precision]
        np.testing.assert_array_equal(theirs.argmax(-1), ours[:, :places].argmax(-1))
