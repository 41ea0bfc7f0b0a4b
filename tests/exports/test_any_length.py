"""Files of an adder for every length: right sums and the model's logits at lengths it was not trained on."""

import ast
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from glassformer.cli.program import main
from glassformer.core.errors import UserError
from glassformer.exports.adderboard_file import format_adderboard_file
from glassformer.exports.any_length import is_any_length_adder, trace_any_length
from glassformer.exports.check import TOLERANCE, compare_export, measure_export_difference
from glassformer.exports.onnx_file import encode_onnx_file
from glassformer.exports.python_file import format_python_file
from glassformer.exports.simplify import ProgramStep, SimplifiedProgram
from glassformer.exports.subject import ExportSubject
from glassformer.exports.targets import TARGETS
from glassformer.exports.torch_file import format_torch_file
from glassformer.models.forward import list_parameters
from glassformer.runs.adders import ADDERS
from glassformer.runs.load import load_model, make_loaded_model
from glassformer.tasks.examples import list_example_pairs
from glassformer.zoo import ZOO
from tests.exports.exported import assert_same, module_of, zoo
from tests.selection import chosen

Logits = Callable[[np.ndarray, int], np.ndarray]  # of tokens `batch pos` and digits
DIGITS = [1, 3, 10, 25, 200]
MODELS = ["any-8", "any-7", "any-6", "pure-5"]
SUMS = {1: 16, 3: 16, 10: 16, 25: 16, 200: 2}  # that a test writes at a length


def by_torch(subject: ExportSubject) -> Logits:
    model = module_of(format_torch_file(subject)).Model()
    return lambda tokens, digits: model(torch.tensor(tokens), digits=digits).detach().double().numpy()


def by_python(subject: ExportSubject) -> Logits:
    forward = module_of(format_python_file(subject)).forward
    return lambda tokens, digits: np.array([forward(one, digits=digits) for one in tokens.tolist()])


def by_onnx(subject: ExportSubject) -> Logits:
    session = onnxruntime.InferenceSession(encode_onnx_file(subject), providers=["CPUExecutionProvider"])

    def compute(tokens: np.ndarray, digits: int) -> np.ndarray:
        given = {"tokens": tokens.astype(np.int64), "digits": np.array(digits, np.int64)}
        return session.run(["logits"], given)[0].astype(np.float64)

    return compute


KINDS = {"torch": by_torch, "python": by_python, "onnx": by_onnx}


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", chosen(MODELS, ["any-8", "pure-5"]))
def test_logits_are_those_of_the_model_and_write_right_sums(name: str, kind: str, digits: int):
    """Sums stand in the input, so the winner after each of their digits is what greedy decoding writes."""
    subject = zoo(name)
    model = subject.loaded.with_digits(digits)
    count = 1 if kind == "python" and digits == 200 else SUMS[digits]
    tokens = model.task.example_inputs(model.architecture.context, count).T
    ours, theirs = model.forward(tokens).astype(np.float64), KINDS[kind](subject)(tokens, digits)
    assert theirs.shape == ours.shape
    assert measure_export_difference(ours, theirs) <= TOLERANCE[subject.precision]
    np.testing.assert_array_equal(theirs.argmax(-1), ours.argmax(-1))
    written = theirs.argmax(-1)[:, model.addition.written().predicting]
    assert read_numbers(written) == [a + b for a, b in list_example_pairs(model.addition, count)]


@pytest.mark.parametrize("digits", [1, 3, 25])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_written_token_by_token(kind: str, digits: int):
    """From the prompt alone; numbers of 25 digits were never seen in training."""
    a, b = 10**digits - 1, 7 * 10 ** (digits - 1)
    logits = KINDS[kind](zoo("any-8"))
    assert decode_sum(logits, a, b, digits) == a + b


def read_numbers(written: np.ndarray) -> list[int]:
    """Digits in a row, units first, as numbers."""
    return [int("".join(map(str, row[::-1]))) for row in written.tolist()]


def decode_sum(logits: Logits, a: int, b: int, digits: int) -> int:
    x, y = ([int(digit) for digit in f"{number:0{digits}d}"[::-1]] for number in (a, b))
    tokens = [0, *x, 0, 0, *y, 0, 0]
    for _ in range(digits + 1):
        tokens.append(int(logits(np.array([tokens]), digits)[0, -1].argmax()))
    return read_numbers(np.array([tokens[-digits - 1 :]]))[0]


@pytest.mark.parametrize("digits", DIGITS)
def test_the_boards_file_adds_numbers_of_every_length(digits: int):
    exported = module_of(format_adderboard_file(zoo("any-8")))
    model, about = exported.build_model()
    assert about["params"] == 8
    count = SUMS[digits] // 2  # decoding, not one pass
    for a, b in list_example_pairs(zoo("any-8").loaded.with_digits(digits).addition, count):
        assert exported.add(model, a, b) == a + b


def test_nothing_outside_the_model_adds():
    tree = ast.parse(format_adderboard_file(zoo("any-8")))
    outside = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name in ("add", "prompt")]
    assert len(outside) == 2
    assert not [node for one in outside for node in ast.walk(one) if isinstance(node, ast.BinOp)]


@pytest.mark.parametrize("kind", TARGETS)
def test_the_command_compares_several_lengths(kind: str, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "any-8", "--to", kind, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["checked_equal"]
    assert found["digits"] == [1, 3, 10, 25]
    assert "of 1, 3, 10, 25 digits" in found["reason"]
    assert found["sums"] == (64 if kind == "adderboard" else 0)


def test_a_file_that_is_wrong_at_other_lengths_is_found(tmp_path):
    text = format_python_file(zoo("any-8"))
    assert text.count("columns_up(length, digits + 2)") == 1
    path = tmp_path / "fixed.py"
    path.write_text(text.replace("columns_up(length, digits + 2)", "columns_up(length, 12)"))
    assert not compare_export(path, TARGETS["python"], load_model("any-8"), count=4).is_equal


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("torch", "`Model()(tokens, digits=n)` gives the logits; n is 10 if it is not given."),
        ("python", "`forward(tokens, digits=n)` gives the logits; n is 10 if it is not given."),
        ("adderboard", "`add(model, a, b)` takes n from the longer number; it is at least 10."),
        ("onnx", "Inputs are `tokens` and `digits`: n, an int64 without axes, 10 if not given."),
    ],
)
def test_the_header_says_how_to_call_it(kind: str, call: str):
    content = TARGETS[kind].encode(zoo("any-8"))
    is_graph = kind == "onnx"
    text = onnx.load_from_string(content).doc_string if is_graph else ast.get_docstring(ast.parse(content))
    header = " ".join((text or "").split())
    assert "adds two numbers of any length" in header
    assert "works at every length" in header
    assert call in header
    assert "Any number of positions" in header


@pytest.mark.parametrize("kind", KINDS)
def test_without_digits_numbers_have_ten(kind: str):
    subject = zoo("any-8")
    assert_same(subject, kind, subject.loaded.task.example_inputs(subject.positions, 2).T)


def test_no_table_has_a_length():
    """Arrays of a file are no longer than the digits that there are, 10."""
    stored = onnx.load_from_string(encode_onnx_file(zoo("any-8"))).graph.initializer
    assert max(np.prod(one.dims, dtype=int) for one in stored) == 10
    assert max(one.array.size for one in zoo("any-8").written) == 10


def test_only_adders_of_every_length_are_any_length():
    loaded = load_model("any-8")
    assert is_any_length_adder(loaded)
    assert not is_any_length_adder(load_model("glass-8"))
    odd = replace(loaded, task=replace(loaded.addition, digits=9))  # 12 columns, but not its own
    assert not is_any_length_adder(odd)


def test_a_pass_that_depends_on_length_in_another_way_is_refused(monkeypatch):
    def trace(architecture, task, digits: int) -> SimplifiedProgram:
        found = SimplifiedProgram()
        found.add(ProgramStep("constant", (), [float(digits)], ()))
        return found

    monkeypatch.setattr("glassformer.exports.any_length._trace_length", trace)
    loaded = load_model("any-8")
    with pytest.raises(UserError, match="by more than the mask"):
        trace_any_length(loaded.architecture, loaded.addition)


def test_what_does_not_add_has_no_file_yet_and_gets_one_sentence():
    entry = ZOO["minus-6"]
    arrays = {key: np.ones(one.shape, np.float32) for key, one in list_parameters(entry.architecture).items()}
    loaded = make_loaded_model(ADDERS["minus-6"], arrays, "minus-6")
    with pytest.raises(UserError, match="subtracts, and exported"):
        ExportSubject(loaded, "minus-6").steps  # noqa: B018
