"""`glassformer export`: files, JSON, and what it says where something is missing."""

import json
from pathlib import Path

import pytest

import glassformer
from glassformer.cli.program import main
from glassformer.exports import targets
from glassformer.exports import write as exporting
from glassformer.exports.check import ExportComparison
from glassformer.zoo.entry import WEIGHTS

FIELDS = {"file", "kind", "checked_equal", "reason", "inputs", "logits", "largest_difference", "tolerance"}
FIELDS |= {"winners_agree", "sums", "sums_agree", "sha256", "bytes", "seconds", "digits"}


@pytest.fixture
def unchecked(monkeypatch):
    """No comparison: what is tested is all else."""
    monkeypatch.setattr(
        exporting, "compare_export", lambda *_: ExportComparison(1, 1, 0.0, 1e-3, True, 0, True)
    )


def sentence(capsys, *words: str) -> str:
    assert main(["export", *words]) == 2
    return capsys.readouterr().err.removeprefix("glassformer: ").strip()


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("python", "hand_4_python.py"),
        ("torch", "hand_4_torch.py"),
        ("onnx", "hand_4.onnx"),
        ("adderboard", "hand_4_adderboard.py"),
    ],
)
def test_a_file_is_written_loaded_again_and_found_equal(kind, file, capsys):
    assert main(["export", "hand-4", "--to", kind, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == FIELDS
    assert (found["file"], found["kind"], found["checked_equal"]) == (file, kind, True)
    assert found["inputs"] >= 32
    assert found["winners_agree"]
    assert found["largest_difference"] <= found["tolerance"]
    assert found["sums"] == (64 if kind == "adderboard" else 0)
    assert Path(file).stat().st_size == found["bytes"]


def test_words(unchecked, capsys):
    assert main(["export", "hand-4", "--to", "torch", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("hand_4_torch.py: equal to the model")
    assert "all winners agree" in text


def test_a_file_of_weights(unchecked, capsys):
    words = [
        str(WEIGHTS / "glass-29.safetensors"),
        "--model",
        "glass-29",
        "--to",
        "python",
        "--out",
        "deep/er/mine.py",
    ]
    assert main(["export", *words, "--quiet"]) == 0
    assert "# 29 trainable parameters" in Path("deep/er/mine.py").read_text()


@pytest.mark.slow
def test_a_run_and_its_weights(unchecked, tmp_path):
    options = {
        "train.seeds": 2,
        "train.steps": 5,
        "train.held_out": 64,
        "measure.positions": "100",
        "prove.seconds": 1,
    }
    options |= {"draw.figures": "none", "draw.page": "false"}
    run = glassformer.run("plus_last_even", out=tmp_path / "demo", options=options)
    found = glassformer.export(run.folder, "python")
    assert found.file == "demo_python.py"
    assert "made for the rule plus_last_even" in Path(found.file).read_text()
    weights = Path(run.folder) / "params.safetensors"
    again = glassformer.export(weights, "python", out="deep/er/mine.py")
    assert Path(again.file).read_text().count("trainable parameters") == 1
    assert again.sha256 == found.sha256


def test_another_file_is_left_alone(unchecked, capsys):
    assert main(["export", "hand-4", "--to", "python", "--quiet"]) == 0
    first = Path("hand_4_python.py").read_text()
    assert main(["export", "hand-4", "--to", "python", "--quiet"]) == 0  # the very same bytes
    Path("hand_4_python.py").write_text("mine")
    assert "--overwrite replaces it" in sentence(capsys, "hand-4", "--to", "python")
    assert Path("hand_4_python.py").read_text() == "mine"
    assert main(["export", "hand-4", "--to", "python", "--overwrite", "--quiet"]) == 0
    assert Path("hand_4_python.py").read_text() == first


def test_a_different_file_has_status_1(monkeypatch, capsys):
    monkeypatch.setattr(
        exporting, "compare_export", lambda *_: ExportComparison(7, 70, 0.5, 1e-3, False, 0, True)
    )
    assert main(["export", "hand-4", "--to", "python", "--quiet"]) == 1
    text = capsys.readouterr().out
    assert "NOT equal to the model" in text
    assert "not all winners agree" in text


@pytest.mark.parametrize(
    ("kind", "package"), [("torch", "torch"), ("adderboard", "torch"), ("onnx", "onnxruntime")]
)
def test_what_cannot_be_compared_is_said_to_be_so(kind, package, monkeypatch, capsys):
    monkeypatch.setattr(targets, "find_spec", lambda name: None if name == package else object())
    assert main(["export", "hand-4", "--to", kind, "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["checked_equal"] is None
    assert found["winners_agree"] is None
    assert f"{package} is not installed (pip install" in found["reason"]
    assert Path(found["file"]).exists()


def test_without_onnx_nothing_is_written(monkeypatch, capsys):
    monkeypatch.setattr(targets, "find_spec", lambda name: None)
    assert "pip install 'glassformer[onnx]'" in sentence(capsys, "hand-4", "--to", "onnx")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hand-4", "--to", "tensorflow"), "no kind of export called 'tensorflow'"),
        (("hand-4",), "--to"),
        (("hand-5x", "--to", "torch"), "did you mean 'hand-5'?"),
        (("hand-4", "--to", "torch", "--out", "mine.onnx"), "ends with .py, but it is 'mine.onnx'"),
        (("hand-4", "--to", "torch", "--model", "hand-4"), "--model is for .safetensors files"),
        (("hand-4", "--to", "torch", "--out", "/proc/mine.py"), "cannot write"),
    ],
)
def test_what_is_wrong_is_one_sentence(words, said, capsys):
    found = sentence(capsys, *words)
    assert said in found
    assert "\n" not in found
