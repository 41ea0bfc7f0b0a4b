"""What `run` answers, as data and in words, and what lies in its folder."""

import json

import pytest

from glassformer.cli.program import main
from glassformer.commands.run import run
from tests.commands.answers import RUN_FIELDS, SETTINGS, answer, check_fields

pytestmark = pytest.mark.usefixtures("at_home")


def test_run_answers_with_all_fields(capsys):
    content = answer(capsys, "run", "successor", *SETTINGS.split())
    check_fields(content, RUN_FIELDS)
    assert (content["folder"], content["seeds"]) == ("runs/successor", 2)
    assert content["argmax_accuracy"]["value"] > 0.9
    assert content["argmax_accuracy"]["positions"] >= 1000
    assert content["entropy_floor"] == 0.0
    assert content["measures"]["by_source"]["absent"] == {
        "value": None,
        "low": 0.0,
        "high": 1.0,
        "positions": 0,
    }


def test_the_folder_holds_what_the_readers_need(home):
    names = {path.name for path in (home / "runs" / "successor").iterdir()}
    assert names == {
        *("run.toml", "env.json", "metrics.csv", "result.json", "report.md", "certificate.json"),
        *("params.safetensors", "population.safetensors", "history.safetensors", "page.html"),
    }
    text = (home / "runs" / "successor" / "report.md").read_text()
    assert "argmax rule accuracy, source in the window: " in text
    env = json.loads((home / "runs" / "successor" / "env.json").read_text())
    assert env["packages"]["jax"] and env["python"].startswith("3.")


def test_a_complete_run_is_not_trained_again(capsys, home):
    folder = home / "runs" / "successor"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    first, second = (answer(capsys, "run", "successor", *SETTINGS.split()) for _ in range(2))
    assert first == second == json.loads(before["result.json"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_another_configuration_is_refused(capsys):
    assert main(["run", "successor", "--steps", "7"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("glassformer: runs/successor holds another run (train.seeds is 2 there and ")
    assert err.count("\n") == 1


def test_words_of_a_run(capsys):
    assert main(["run", "successor", *SETTINGS.split()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("runs/successor: complete after ")
    assert "on every context that the rule can produce (100 contexts)" in out  # and then of all contexts
    assert out.endswith("next: glassformer check runs/successor/certificate.json\n")
    assert "758 parameters; 2 of 2 seeds reach 99.9% on the held-out windows; seed " in out


def test_a_copy_of_run_toml_repeats_the_run(capsys, home):
    content = answer(capsys, "run", "runs/successor/run.toml", "--out", "runs/successor")
    assert content["folder"] == "runs/successor"


def test_resume_of_a_complete_run_gives_its_result(capsys):
    assert answer(capsys, "run", "successor", "--resume", "--draw.figures", "none")["seeds"] == 2


def test_python_mirrors_the_command(home):
    options = dict(zip(SETTINGS.split()[4::2], SETTINGS.split()[5::2], strict=True))
    options = {name.removeprefix("--"): value for name, value in options.items()}
    result = run("successor", options=options | {"train.seeds": "2", "train.steps": "200"})
    assert result.argmax_accuracy["value"] > 0.9
