"""Every kind of file gives the logits of the model, whatever the architecture."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings

from glassformer.exports.adderboard_file import format_adderboard_file
from glassformer.exports.check import TOLERANCE
from glassformer.exports.onnx_file import encode_onnx_file
from glassformer.exports.python_file import format_python_file
from glassformer.exports.torch_file import format_torch_file
from glassformer.models.architecture import Architecture, FixedEntry, make_reference_architecture
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.zoo import ZOO
from tests.exports.exported import KINDS, assert_same, module_of, subject_of, zoo
from tests.models.test_forward import CONTEXT, architectures, contexts, drawn
from tests.selection import chosen

SHIPPED = [
    name
    for name, entry in ZOO.items()
    if (entry.build or entry.weights) and entry.task.operation == "add"  # others have no file yet
]
INPUTS = {"torch": 32, "onnx": 32, "python": 3}
# One of each family, in both precisions: what they are made of covers all parts of the zoo.
ALWAYS = ["microadder-62", "glass-23", "rope-62", "nanogpt-58", "tinyadder-95-repaired", "hand-4"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", chosen(SHIPPED, ALWAYS))
def test_every_model_of_the_zoo(name: str, kind: str):
    subject = zoo(name)
    assert_same(
        subject, kind, subject.loaded.task.example_inputs(subject.loaded.architecture.context, INPUTS[kind]).T
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", chosen(CONFIGURATIONS, ["plus_last_even", "lucky7_no_resid"]))
def test_every_configuration(name: str, kind: str):
    """With random numbers, but for what is fixed; all tasks are here, a file of the bare model has none."""
    model = CONFIGURATIONS[name].architecture
    tokens = np.random.default_rng(2).integers(0, model.vocab, (3, model.context))
    params = drawn(model, dtype=model.precision)
    for entry in model.fixed:
        params[entry.name][entry.place] = entry.value
    assert_same(subject_of(model, params), kind, tokens)


@given(architectures())
@settings(deadline=None, derandomize=True, max_examples=5, phases=[Phase.generate])
def test_every_architecture(model: Architecture):
    """Random ones of all parts, in both precisions."""
    for precision in TOLERANCE:
        one = replace(model, precision=precision)
        for kind in KINDS:
            assert_same(subject_of(one, drawn(one, dtype=precision)), kind, contexts(CONTEXT, batch=3).T)


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_entries_are_not_among_the_learned(kind: str):
    """Some of a matrix, one of a vector at another value than 0, and a whole array."""
    entries = [FixedEntry("attn.q.weight", (0, 1)), FixedEntry("head.bias", (2,), -1.3)]
    entries += [FixedEntry("ff.down.bias", (place,), 0.1) for place in range(2)]
    model = replace(make_reference_architecture(vocab=12), fixed=tuple(entries))
    params = drawn(model, dtype="float32")
    for entry in entries:
        params[entry.name][entry.place] = entry.value
    subject = subject_of(model, params)
    assert subject.counts["learned"] == sum(array.size for array in subject.learned.values()) == 250 - 4
    assert_same(subject, kind, contexts(8, vocab=12).T)
    if kind == "torch":
        exported = module_of(format_torch_file(subject)).Model()
        assert sum(value.numel() for value in exported.parameters()) == 250 - 4


def test_too_many_places_are_refused():
    subject, tokens = zoo("glass-29"), [0] * 33
    with pytest.raises(ValueError, match="at most 32 positions"):
        module_of(format_python_file(subject)).forward(tokens)
    with pytest.raises(ValueError, match="at most 32 positions"):
        module_of(format_torch_file(subject)).Model()(torch.tensor([tokens]))


def test_files_are_the_same_every_time():
    for write in (format_torch_file, format_python_file, format_adderboard_file, encode_onnx_file):
        assert write(zoo("glass-29")) == write(zoo("glass-29"))


def test_files_are_formatted_and_clean(tmp_path):
    """By the rules of ruff as it comes."""
    for name in [*ALWAYS, "pure-5"]:
        for kind, write in (
            ("torch", format_torch_file),
            ("python", format_python_file),
            ("board", format_adderboard_file),
        ):
            (tmp_path / f"{name}_{kind}.py").write_text(write(zoo(name)))
    for words in (["format", "--check"], ["check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", str(tmp_path)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
