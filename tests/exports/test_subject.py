"""What is exported, and what its header says of it."""

import ast
import shutil
from dataclasses import replace
from pathlib import Path

from glassformer.exports.subject import ExportSubject
from glassformer.exports.torch_file import format_torch_file
from glassformer.models.architecture import make_reference_architecture
from glassformer.proofs.verdict import Verdict
from glassformer.runs.load import load_model
from tests.exports.exported import module_of, subject_of, zoo
from tests.models.test_forward import drawn

ADDER_RUN = Path(__file__).parents[2] / "fuzz/runs/adder"


def header_of(subject):
    return " ".join((ast.get_docstring(ast.parse(format_torch_file(subject))) or "").split())


def test_the_header_says_what_count_and_prove_say(monkeypatch):
    subject = zoo("glass-29")
    proved = Verdict(verdict="proved", inputs="100", arithmetic="float32", smallest_margin=2.5)
    for stored, words in (
        (proved, "Proved right on all 100 inputs in float32"),
        (None, "No proof of these parameters"),
    ):
        monkeypatch.setattr(
            "glassformer.exports.subject.find_stored_verdict", lambda *_, stored=stored: stored
        )
        text = header_of(zoo("glass-29"))
        assert words in text
        assert "29 parameters, 29 of them trainable, and 6 constants" in text
        assert subject.sha256 in text
        assert "glassformer export glass-29 --to torch" in text


def test_the_zoos_list_is_what_the_header_says():
    assert "Proved right on all 10^20 inputs in float32, with a margin of at least 2.44" in header_of(
        zoo("glass-29")
    )


def test_what_a_run_says_counts_if_it_is_of_these_numbers(tmp_path):
    folder = Path(shutil.copytree(ADDER_RUN, tmp_path / "run"))
    assert "Refuted: not right on all 10,000 inputs, in float32" in header_of(
        ExportSubject(load_model(folder), "run")
    )
    for name in ("certificate.json", "result.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(load_hash(folder), "0" * 64))
    assert "No proof of these parameters" in header_of(ExportSubject(load_model(folder), "run"))
    for name in ("certificate.json", "result.json"):
        (folder / name).write_text("[cut off")
    assert "No proof of these parameters" in header_of(ExportSubject(load_model(folder), "run"))


def load_hash(folder):
    return ExportSubject(load_model(folder), "run").sha256


def test_a_strange_name_stays_in_its_docstring():
    model = make_reference_architecture(vocab=12)
    loaded = replace(subject_of(model, drawn(model, dtype="float32")).loaded, origin='a"""\\b\n.safetensors')
    assert module_of(format_torch_file(ExportSubject(loaded, loaded.origin))).Model()
