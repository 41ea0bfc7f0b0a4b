"""`test` and `add` of adders, as data and in words; adders that are right and adders that slip."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.commands import measure_target as testing
from glassformer.core.atomic import write_arrays
from glassformer.tasks.hard import HARD
from glassformer.zoo import ZOO
from tests.commands.answers import silent_answer as answer


def test_an_adder_that_qualifies(capsys, adder):
    adder(digits=10)
    content = answer(capsys, "test", "fake", "--pairs", "300", "--hard", "20")
    assert (content["passed"], content["total"], content["accuracy"]) == (310, 310, 1.0)
    assert (content["qualified"], content["failures"], content["seed"]) == (True, [], 2025)
    assert content["seconds"] > 0 and content["additions_per_second"] > 0
    assert content["distributions"] == {name: {"passed": 20, "total": 20, "failures": []} for name in HARD}
    assert content["argmax_accuracy"]["positions"] == 310


def test_an_adder_that_does_not_qualify_exits_with_1(capsys, adder):
    adder(lambda x, y: x[0] == 9)
    content = answer(capsys, "test", "fake", "--pairs", "300", status=1)
    assert content["total"] == 300  # numbers of two digits have no edge cases of ten
    assert content["passed"] < 290
    assert content["qualified"] is False
    assert len(content["failures"]) == 20
    assert set(content["failures"][0]) == {"a", "b", "expected", "got"}
    assert content["distributions"]["runs_of_nines"]["passed"] < 1500


def test_seeds_choose_the_pairs(capsys, adder):
    adder(lambda x, y: x[0] == 9)
    default, board, other = (
        answer(capsys, "test", "fake", "--pairs", "100", "--hard", "30", *more, status=1)
        for more in ([], ["--seed", "2025"], ["--seed", "7"])
    )
    for name in ("failures", "distributions"):
        assert default[name] == board[name] != other[name]


def test_words_of_a_test(capsys, adder):
    adder(lambda x, y: (x == 9).all(0) & (y == 0).all(0), digits=10)
    assert main(["test", "fake", "--pairs", "90", "--hard", "3000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "fake: 99 of 100 right (99.00%; qualified)",
        "  10 edge cases and 90 pairs of seed 2025",
        "    9999999999 + 0 = 9999999999, the model says 9999999990",
    ]
    found = {line.split()[0]: line for line in lines[3:]}
    assert set(HARD) < set(found)
    assert found["complements"] == "  complements      3,000 of 3,000"
    assert ": 9999999999 + 0 = 9999999999, the model says 9999999990" in found["runs_of_nines"]
    adder(lambda x, y: x[0] == 9)
    assert main(["test", "fake", "--pairs", "300", "--hard", "0"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("%; 99% are needed)")  # not the board's pairs: nothing qualifies
    assert lines[1] == "  300 pairs of 2 digits of seed 2025"
    assert len(lines) == 2 + testing._SHOWN + 1


def test_a_file_without_metadata_and_the_model_that_it_is(capsys, here):
    write_arrays(here / "x.safetensors", ZOO["nanogpt-58-repaired"].build(), {})
    content = answer(
        capsys, "test", "x.safetensors", "--model", "nanogpt-58", "--pairs", "500", "--hard", "100"
    )
    assert (content["passed"], content["total"], content["target"]) == (510, 510, "x.safetensors")
    assert answer(capsys, "add", "x.safetensors", "5", "6", "--model", "nanogpt-58")["got"] == 11


@pytest.mark.parametrize("target", ["glass-39", "rope-36", "zoo", "plus_last_even"])
def test_only_files_take_a_model(capsys, target):
    assert main(["count", target, "--model", "glass-29"]) == 2
    assert "--model is for .safetensors files" in capsys.readouterr().err


def test_adders_are_tested_without_jax():
    code = "import sys; from glassformer.cli.program import main\n"
    code += "main(['test', 'nanogpt-58', '--pairs', '50', '--hard', '5']); main(['add', 'nanogpt-58', '1', '2'])\n"
    code += "print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_no_bar_for_short_work(monkeypatch, adder, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    adder()
    assert main(["test", "fake", "--pairs", "500", "--hard", "5"]) == 0
    assert capsys.readouterr().err == ""


def test_memory_stays_bounded_while_many_pairs_are_drawn(adder, capsys, monkeypatch):
    """60,000 pairs of Python integers alone would take 9 MB; blocks of them take less than 4."""
    monkeypatch.setattr(
        "glassformer.verify.addition.write_answers", lambda model, task, x, y: np.zeros((3, x.shape[1]), int)
    )
    adder()
    tracemalloc.start()
    assert main(["test", "fake", "--pairs", "60000", "--hard", "0", "--json"]) == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000
