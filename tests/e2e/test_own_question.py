"""A question of the user's own, one file, through every command; its folder is then data that runs no code."""

import json
import shutil
import subprocess
import sys

import pytest

from glassformer.cli.program import main
from glassformer.runs.load import load_model
from glassformer.tasks import TASKS, TabulatedQuestion

QUESTION = '''
from dataclasses import dataclass
from pathlib import Path

from glassformer.tasks import Question, register

Path("it_ran").touch()


@register
@dataclass(frozen=True)
class Smaller(Question):
    """The smaller of two numbers: `3 1 ?` gives 1."""

    name = "smaller"
    numbers: int = 4

    def slots(self):
        return range(self.numbers), range(self.numbers), ("?",)

    def begin(self):
        return self.numbers

    def read(self, memory, token):
        return memory if token == "?" else min(memory, token)

    def answer(self, memory):
        return memory
'''
FEW = "--train.evaluate_every 10 --train.held_out 16 --train.batch 8 --quiet"
TINY = f"{FEW} --seeds 2 --steps 20 --draw.figures none --draw.page false"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with the file and a finished run of it."""
    folder, patch, known = tmp_path_factory.mktemp("own"), pytest.MonkeyPatch(), dict(TASKS)
    (folder / "smaller.py").write_text(QUESTION)
    patch.chdir(folder)
    assert main(["run", "smaller.py", *TINY.split()]) == 0
    (folder / "it_ran").unlink()
    yield folder
    patch.undo()
    TASKS.clear()
    TASKS.update(known)


def answer(capsys, words, *statuses):
    capsys.readouterr()
    status = main([*words.split(), "--json"])
    out, err = capsys.readouterr()
    assert status in (statuses or (0,)), err
    return json.loads(out, parse_constant=pytest.fail)


def hits(folder):
    """Prompts with the right answer, counted by hand."""
    model = load_model(folder)
    pairs = [(a, b) for a in range(4) for b in range(4)]
    return sum(int(model.forward([a, b, 4])[-1].argmax() == min(a, b)) for a, b in pairs)


def test_the_run_has_a_result(here):
    result = json.loads((here / "runs" / "smaller" / "result.json").read_text())
    assert (result["seeds"], result["argmax_accuracy"]["positions"]) == (2, 16)
    assert result["argmax_accuracy"]["value"] == hits("runs/smaller") / 16
    assert result["verdict"] == ("proved" if hits("runs/smaller") == 16 else "refuted")
    assert (here / "runs" / "smaller" / "rule.py").read_text() == QUESTION


def test_its_settings_are_options(capsys, here):
    answer(capsys, f"train smaller.py --task.numbers 3 {TINY} --out runs/three")
    assert load_model("runs/three").task.tokens() == ("0", "1", "2", "?")
    assert main(["run", "smaller.py", "--task.number", "3"]) == 2
    assert "no setting of smaller called 'number'; did you mean 'numbers'?" in capsys.readouterr().err


def test_measured_and_proved(capsys, here):
    tested = answer(capsys, "test runs/smaller")
    assert tested["argmax_accuracy"]["value"] == hits("runs/smaller") / 16
    proof = answer(capsys, "prove runs/smaller", 0, 1)
    assert (proof["inputs"], proof["exact_error"]["count_low"]) == ("16", 16 - hits("runs/smaller"))
    assert proof["exact_error"]["count_low"] == proof["exact_error"]["count_high"]
    if proof["verdict"] == "refuted":
        assert main(["check", proof["certificate"], "--for", "runs/smaller"]) == 0
    rows = answer(capsys, "prove runs/smaller --population", 0, 1)["rows"]
    assert [row["seed"] for row in rows] == [0, 1]


def test_drawn(capsys, here):
    answer(capsys, "draw runs/smaller --only 05,S8,P1 --quiet")
    drawn = {path.name[:2] for path in (here / "runs" / "smaller" / "figures").glob("*.png")}
    assert drawn == {"05", "S8", "P1"}


def test_on_a_page(capsys, here):
    (page,) = answer(capsys, "page runs/smaller --quiet")["files"]
    text = (here / page).read_text()
    assert "The smaller of two numbers" in text
    assert "def answer" not in text


def test_swept(capsys, here):
    swept = answer(capsys, f"sweep smaller.py --seeds 2 --train.steps 20 {FEW}")
    (row,) = swept["rows"]
    assert (row["seeds"], row["success"]) == (2, "proved")


def test_exported(capsys, here):
    found = answer(capsys, "export runs/smaller --to python --out mine.py")
    assert found["checked_equal"] is True
    assert "smaller" in (here / "mine.py").read_text()


def test_the_folder_elsewhere_is_data(capsys, here, tmp_path, monkeypatch):
    """Without the file, in a process of its own: the same answers, and no line of it is run."""
    shutil.copytree(here / "runs" / "smaller", tmp_path / "theirs")
    monkeypatch.chdir(tmp_path)
    wanted = hits("theirs") / 16
    code = (
        "import sys; from glassformer.cli.program import main; sys.exit(main(['test', 'theirs', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["argmax_accuracy"]["value"] == wanted
    assert isinstance(load_model("theirs").task, TabulatedQuestion)
    assert answer(capsys, "prove theirs", 0, 1)["inputs"] == "16"
    assert main(["draw", "theirs", "--only", "05", "--quiet"]) == 0
    assert not (tmp_path / "it_ran").exists()
    assert answer(capsys, "run theirs/run.toml --out again --quiet")["folder"] == "again"
    weights = [(tmp_path / name / "params.safetensors").read_bytes() for name in ("theirs", "again")]
    assert weights[0] == weights[1]
    assert not (tmp_path / "it_ran").exists()


@pytest.mark.slow
def test_a_page_and_all_figures_after_a_run(capsys, here):
    found = answer(capsys, f"run smaller.py --steps 20 --seeds 2 {FEW} --out runs/whole")
    assert (here / found["folder"] / "page.html").exists()
    assert len(list((here / "runs" / "whole" / "figures").glob("*.png"))) > 20
