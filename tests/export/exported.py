"""Exported files in this process, in a namespace of their own."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import torch

from glassformer.export.onnx_file import onnx_bytes
from glassformer.export.python_file import python_text
from glassformer.export.subject import Subject
from glassformer.export.torch_file import torch_text
from glassformer.model.architecture import Architecture
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import Loaded
from glassformer.tasks import Rule

Logits = Callable[[np.ndarray], np.ndarray]
RULE = CONFIGURATIONS["lucky7"]


def module_of(text: str) -> ModuleType:
    module = ModuleType("exported")
    exec(compile(text, "exported.py", "exec"), module.__dict__)
    return module


def by_torch(subject: Subject) -> Logits:
    model = module_of(torch_text(subject)).Model()
    return lambda tokens: model(torch.tensor(tokens)).detach().double().numpy()


def by_python(subject: Subject) -> Logits:
    module = module_of(python_text(subject))
    return lambda tokens: np.array([module.forward(one) for one in tokens.tolist()])


def by_onnx(subject: Subject) -> Logits:
    session = onnxruntime.InferenceSession(onnx_bytes(subject), providers=["CPUExecutionProvider"])
    return lambda tokens: session.run(["logits"], {"tokens": tokens.astype(np.int64)})[0].astype(np.float64)


KINDS: dict[str, Callable[[Subject], Logits]] = {"torch": by_torch, "python": by_python, "onnx": by_onnx}


def subject_of(model: Architecture, params: dict[str, np.ndarray]) -> Subject:
    """A model of any architecture; its task is a rule, for some task it must have."""
    assert isinstance(RULE.task, Rule)
    return Subject(
        Loaded(model, params, RULE.task, RULE.data, str(Path("some.safetensors"))), "some.safetensors"
    )
