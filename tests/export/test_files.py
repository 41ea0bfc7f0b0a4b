"""Every kind of file gives the logits of the model, whatever the architecture."""

import ast
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from hypothesis import Phase, given, settings

from glassformer.export.adderboard_file import adderboard_text
from glassformer.export.check import TOLERANCE, largest_difference
from glassformer.export.onnx_file import onnx_bytes
from glassformer.export.python_file import python_text
from glassformer.export.subject import Subject
from glassformer.export.torch_file import torch_text
from glassformer.model.architecture import Architecture, Fixed, Tie, reference
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import parameters
from glassformer.proof.verdict import Verdict
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import load
from glassformer.zoo import ZOO
from tests.export.exported import KINDS, module_of, subject_of
from tests.model.test_forward import CONTEXT, architectures, contexts, drawn
from tests.selection import chosen

ADDER_RUN = Path(__file__).parents[2] / "fuzz/runs/adder"
SHIPPED = [name for name, entry in ZOO.items() if entry.build or entry.weights]
INPUTS = {"torch": 32, "onnx": 32, "python": 3}
# One of each family, in both precisions: what they are made of covers all parts of the zoo.
ALWAYS = ["microadder-62", "glass-23", "rope-62", "nanogpt-58", "tinyadder-95-repaired", "hand-4"]


def zoo(name: str) -> Subject:
    return Subject(load(name), name)


def assert_same(subject: Subject, kind: str, tokens: np.ndarray) -> None:
    """Logits within the tolerance and the same winners; shorter inputs too, for they are filled up."""
    logits, ours = KINDS[kind](subject), subject.loaded.forward(tokens).astype(np.float64)
    for places in (tokens.shape[1], 2):
        theirs = logits(tokens[:, :places])
        assert theirs.shape == ours[:, :places].shape
        assert largest_difference(ours[:, :places], theirs) <= TOLERANCE[subject.precision]
        np.testing.assert_array_equal(theirs.argmax(-1), ours[:, :places].argmax(-1))


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
    """With random numbers; the tasks of these are rules, and adders without weights."""
    model = CONFIGURATIONS[name].architecture
    tokens = np.random.default_rng(2).integers(0, model.vocab, (3, model.context))
    assert_same(subject_of(model, drawn(model, dtype=model.precision)), kind, tokens)


@given(architectures())
@settings(deadline=None, derandomize=True, max_examples=5, phases=[Phase.generate])
def test_every_architecture(model: Architecture):
    """Random ones of all parts, in both precisions."""
    for precision in TOLERANCE:
        one = replace(model, precision=precision)
        for kind in KINDS:
            assert_same(subject_of(one, drawn(one, dtype=precision)), kind, contexts(CONTEXT, batch=3).T)


def test_onnx_has_an_error_function_in_float64():
    """Runtimes have none, so that a series stands in; it must be as exact as the rest."""
    layer = replace(reference(vocab=12).layers[0], feedforward=FeedForward(bend="gelu"))
    model = replace(reference(vocab=12), layers=(layer,), precision="float64")
    params = {name: 4 * array for name, array in drawn(model).items()}  # far into both tails
    subject, tokens = subject_of(model, params), contexts(8, batch=40, vocab=12).T
    theirs, ours = KINDS["onnx"](subject)(tokens), subject.loaded.forward(tokens)
    assert largest_difference(ours, theirs) < 1e-13


def test_parameters_of_the_module_are_the_learned_numbers():
    subject = zoo("glass-29")
    model = module_of(torch_text(subject)).Model()
    found = {name: value.detach().numpy() for name, value in model.named_parameters()}
    expected = {name.replace(".", "_"): array for name, array in subject.loaded.params.items()}
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)  # to the last bit
    assert sum(value.numel() for value in model.parameters()) == subject.counts["learned"] == 29
    assert set(model.state_dict()) == set(found)  # fixed numbers are not stored


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_entries_are_not_among_the_learned(kind: str):
    """Some of a matrix, one of a vector at another value than 0, and a whole array."""
    entries = [Fixed("attn.q.weight", (0, 1)), Fixed("head.bias", (2,), -1.3)]
    entries += [Fixed("ff.down.bias", (place,), 0.1) for place in range(2)]
    model = replace(reference(vocab=12), fixed=tuple(entries))
    params = drawn(model, dtype="float32")
    for entry in entries:
        params[entry.name][entry.place] = entry.value
    subject = subject_of(model, params)
    assert subject.counts["learned"] == sum(array.size for array in subject.learned.values()) == 250 - 4
    assert_same(subject, kind, contexts(8, vocab=12).T)
    if kind == "torch":
        exported = module_of(torch_text(subject)).Model()
        assert sum(value.numel() for value in exported.parameters()) == 250 - 4


def test_the_module_can_be_trained_on():
    model = module_of(torch_text(zoo("glass-29"))).Model()
    model(torch.randint(0, 10, (4, 32))).square().mean().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in model.parameters())


def test_a_tied_array_is_stored_once():
    tied = replace(reference(vocab=12), ties=(Tie("head.weight", "token.weight"),))
    subject = subject_of(tied, drawn(tied, dtype="float32"))
    names = {name for name, _ in module_of(torch_text(subject)).Model().named_parameters()}
    assert "token_weight" in names
    assert "head_weight" not in names
    assert_same(subject, "torch", contexts(8, vocab=12).T)


def test_frozen_numbers_are_buffers():
    model = reference(vocab=12)
    subject = subject_of(model, drawn(model, dtype="float32"))
    frozen = {name: one.frozen() if name == "head.bias" else one for name, one in parameters(model).items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glassformer.export.subject.parameters", lambda _: frozen)
        exported = module_of(torch_text(subject)).Model()
    assert "head_bias" not in dict(exported.named_parameters())
    np.testing.assert_array_equal(exported.head_bias.numpy(), subject.loaded.params["head.bias"])


def test_plain_python_imports_the_standard_library_alone():
    tree = ast.parse(python_text(zoo("tinyadder-95")))
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= {"math", "operator", "array", "itertools"}


def test_the_graph_names_what_the_trace_names():
    subject = zoo("glass-29")
    graph = onnx.load_from_string(onnx_bytes(subject)).graph
    assert set(subject.loaded.params) <= {one.name for one in graph.initializer}
    assert {"attn.scores.0", "attn.mixed", "ff.hidden", "stream"} <= {
        name for node in graph.node for name in node.output
    }
    assert [axis.dim_param for axis in graph.input[0].type.tensor_type.shape.dim] == ["batch", "pos"]


def test_too_many_places_are_refused():
    subject, tokens = zoo("glass-29"), [0] * 33
    with pytest.raises(ValueError, match="at most 32 places"):
        module_of(python_text(subject)).forward(tokens)
    with pytest.raises(ValueError, match="at most 32 places"):
        module_of(torch_text(subject)).Model()(torch.tensor([tokens]))


def header_of(subject):
    return " ".join((ast.get_docstring(ast.parse(torch_text(subject))) or "").split())


def test_the_header_says_what_count_and_prove_say(monkeypatch):
    subject = zoo("glass-29")
    proved = Verdict(verdict="proved", inputs="100", arithmetic="float32", smallest_margin=2.5)
    for stored, words in (
        (proved, "Proved right on all 100 inputs in float32"),
        (None, "No proof of these numbers"),
    ):
        monkeypatch.setattr("glassformer.export.subject.find_stored", lambda *_, stored=stored: stored)
        text = header_of(zoo("glass-29"))
        assert words in text
        assert "29 stored numbers, 29 of them learned, and 8 constants" in text
        assert subject.sha256 in text
        assert "glassformer export glass-29 --to torch" in text


def test_the_zoos_list_is_what_the_header_says():
    assert "Proved right on all 10^20 inputs in float32, with a margin of at least 2.44" in header_of(
        zoo("glass-29")
    )


def test_what_a_run_says_counts_if_it_is_of_these_numbers(tmp_path):
    folder = Path(shutil.copytree(ADDER_RUN, tmp_path / "run"))
    assert "Refuted: not right on all 10,000 inputs, in float32" in header_of(Subject(load(folder), "run"))
    for name in ("certificate.json", "result.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(load_hash(folder), "0" * 64))
    assert "No proof of these numbers" in header_of(Subject(load(folder), "run"))
    for name in ("certificate.json", "result.json"):
        (folder / name).write_text("[cut off")
    assert "No proof of these numbers" in header_of(Subject(load(folder), "run"))


def load_hash(folder):
    return Subject(load(folder), "run").sha256


def test_a_strange_name_stays_in_its_docstring():
    model = reference(vocab=12)
    loaded = replace(subject_of(model, drawn(model, dtype="float32")).loaded, origin='a"""\\b\n.safetensors')
    assert module_of(torch_text(Subject(loaded, loaded.origin))).Model()


def test_files_are_the_same_every_time():
    for write in (torch_text, python_text, adderboard_text, onnx_bytes):
        assert write(zoo("glass-29")) == write(zoo("glass-29"))


def test_files_are_formatted_and_clean(tmp_path):
    """By the rules of ruff as it comes."""
    for name in ALWAYS:
        for kind, write in (("torch", torch_text), ("python", python_text), ("board", adderboard_text)):
            (tmp_path / f"{name}_{kind}.py").write_text(write(zoo(name)))
    for words in (["format", "--check"], ["check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", str(tmp_path)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
