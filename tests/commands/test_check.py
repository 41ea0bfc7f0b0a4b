"""`glassformer check`: what holds, what does not, and what is no certificate."""

import json
from pathlib import Path

import pytest

from glassformer.cli.program import main
from tests.commands.answers import prove_json


def test_check(capsys):
    prove_json(capsys, "glass-23")
    assert main(["check", "glass-23.certificate.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] is True
    assert set(found) >= {"valid", "reason", "seconds"}


def test_check_of_another_model(capsys):
    prove_json(capsys, "glass-23")
    assert main(["check", "glass-23.certificate.json", "--for", "glass-29"]) == 2
    assert "certificate of another model: its weights are not those of glass-29" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": 1', "[]", "12", '{"format": 7}', '{"format": 1}', "\x00\xff"]
)
def test_check_of_what_is_no_certificate(capsys, tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    assert main(["check", "c.json"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("glassformer: ")
    assert error.count("\n") == 1


def test_check_of_a_cut_off_certificate(capsys, tmp_path):
    prove_json(capsys, "glass-23")
    text = Path("glass-23.certificate.json").read_text()
    (tmp_path / "cut.json").write_text(text[: len(text) // 2])
    assert main(["check", "cut.json"]) == 2
    assert "is not JSON, or was cut off" in capsys.readouterr().err


def test_check_of_a_file_that_is_not_there(capsys):
    assert main(["check", "nowhere.json"]) == 2
    assert "cannot read nowhere.json: No such file or directory" in capsys.readouterr().err
