"""A rule of the user's own, adders and float64, from file to result."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.core.atomic import read_arrays
from glassformer.runs.load import load_model
from glassformer.tasks import TASKS
from tests.tasks.test_load import RULE as MIRROR

RULE = MIRROR.replace("high: int = 9", "high: int = 4")
TINY = "--draw.figures none --prove.seconds 1 --seeds 1 --steps 20 --train.evaluate_every 10 --train.held_out 32 --train.batch 8"
TINY += " --measure.positions 50 --measure.generated 4 --data.count 50"


@pytest.fixture
def here(tmp_path, monkeypatch, registry):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mirror.py").write_text(RULE)
    return tmp_path


def answer(capsys, words):
    capsys.readouterr()
    status = main([*words.split(), "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out, parse_constant=pytest.fail)


def forget():
    """As in a new process."""
    from glassformer.tasks import load as files

    files._loaded.clear()
    TASKS.pop("mirror", None)


def test_a_rule_file_from_training_to_test(capsys, here):
    first = answer(capsys, f"run mirror.py {TINY}")
    assert first["folder"] == "runs/mirror"
    assert (here / "runs" / "mirror" / "rule.py").read_text() == RULE
    forget()
    assert answer(capsys, f"run mirror.py {TINY}") == first  # complete: the stored result
    forget()
    assert answer(capsys, "run runs/mirror/run.toml --out runs/mirror") == first

    (here / "mirror.py").unlink()  # the run has the rule as data
    forget()
    assert answer(capsys, "test runs/mirror --positions 50")["argmax_accuracy"]["positions"] >= 50
    shutil.copytree(here / "runs" / "mirror", here / "runs" / "mirror2")
    found = {item["id"]: item["about"] for item in answer(capsys, "list runs")["runs"]}
    assert found == {"runs/mirror": "mirror, complete", "runs/mirror2": "mirror, complete"}


@pytest.mark.slow
def test_an_interrupted_rule_file_goes_on(capsys, here, monkeypatch):
    import glassformer.commands.run_stages as command

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "measure_model", interrupt)
        assert main(["run", "mirror.py", *TINY.split()]) == 130
    weights = (here / "runs" / "mirror" / "params.safetensors").read_bytes()
    for words in ("run mirror.py --resume", f"run mirror.py {TINY}"):
        forget()
        assert answer(capsys, words)["seeds"] == 1
    assert (here / "runs" / "mirror" / "params.safetensors").read_bytes() == weights


def test_a_rule_with_other_code_is_another_run(capsys, here):
    answer(capsys, f"run mirror.py {TINY}")
    (here / "mirror.py").write_text(RULE.replace("self.low + self.high - state", "state"))
    forget()
    assert main(["run", "mirror.py", *TINY.split()]) == 2
    assert "runs/mirror holds another run (task.digest is '" in capsys.readouterr().err
    forget()
    answer(capsys, f"run mirror.py {TINY} --overwrite")
    assert "only([state])" in (here / "runs" / "mirror" / "rule.py").read_text()


@pytest.mark.slow
def test_an_adder_from_a_file(capsys, here):
    (here / "adder.toml").write_text(
        'name = "adder"\n[task]\nname = "addition"\ndigits = 1\ndigit_stages = []\n[model]\ncontext = 5\n'
    )
    content = answer(capsys, f"train adder.toml {TINY}")
    assert content["argmax_accuracy"]["positions"] == 50
    assert content["measures"]["board"] is None  # the board's pairs have ten digits
    assert (content["sampled_error"], content["entropy_floor"]) == (None, None)
    capsys.readouterr()
    assert main(["test", "adder", "--pairs", "200", "--json"]) == 1  # twenty steps make no adder
    tested = json.loads(capsys.readouterr().out)
    assert tested["total"] == 200
    assert tested["failures"][0]["expected"] == tested["failures"][0]["a"] + tested["failures"][0]["b"]
    assert (content["verdict"], content["proof"]) == (None, None)  # train does not prove
    assert main(["run", "adder.toml", *TINY.split()]) == 0  # run goes on from there
    out = capsys.readouterr().out
    assert "whole answers right: " in out
    assert "refuted: " in out
    assert main(["check", "runs/adder/certificate.json"]) == 0
    assert main(["prove", "runs/adder", "--population", "--json"]) == 1


@pytest.mark.slow
def test_float64_all_the_way(here):
    """In a process of its own, since the precision is the process's."""
    words = f"run successor {TINY} --model.precision float64 --out deep --json".split()
    done = subprocess.run(
        [sys.executable, "-m", "glassformer", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout)["loss"] < 5
    params, about = read_arrays(here / "deep" / "params.safetensors")
    assert {array.dtype for array in params.values()} == {np.dtype(np.float64)}
    assert any((array != array.astype(np.float32)).any() for array in params.values())
    assert about["model"]["precision"] == "float64"
    assert load_model("deep").forward(np.arange(3)).dtype == np.float64
