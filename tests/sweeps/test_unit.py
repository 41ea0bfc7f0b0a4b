"""Units that really train: the same bits wherever and however they run."""

import json
import subprocess
import sys

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.store import read_unit_result, write_unit_plan
from glassformer.sweeps.unit import Unit, run_unit

from .small import QUICK, QUICK_WORDS

# What a bare machine has not: nothing of it may be imported by a unit.
BARE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tomli_w", "rich", "flint", "matplotlib", "ray", "torch"):
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
from glassformer.sweeps.unit import main
sys.exit(main(sys.argv[1:]))
"""
KEPT = ("table.csv", "seeds.csv")


def swept(folder, *words):
    seeds = ["--seeds", "4", "--block", "2"]
    assert main(["sweep", "successor", *seeds, *QUICK_WORDS, "--out", str(folder), "--json", *words]) == 0
    return [(folder / name).read_bytes() for name in KEPT]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "s"
    swept(folder)
    return folder


def units():
    return make_sweep("successor", None, QUICK, {"seeds": 4, "block": 2}).units()


def test_a_bare_machine_makes_the_same_results(tmp_path, whole):
    plan, unit = write_unit_plan(tmp_path / "plan", units()[0]), units()[0]
    words = [sys.executable, "-c", BARE, str(plan), str(tmp_path / "units")]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.rpartition(",")[0] == f"{unit.name}: 2 seeds, 0 reached, 0 proved"
    there, here = (read_unit_result(folder, unit)[0] for folder in (tmp_path / "units", whole / "units"))
    assert there.rows == here.rows
    assert all(np.array_equal(there.params[name], array) for name, array in here.params.items())
    assert not list((tmp_path / "units" / "working").iterdir())


@pytest.mark.slow
def test_processes_make_the_same_table(tmp_path, whole):
    assert swept(tmp_path / "s", "--engine", "processes", "--workers", "2") == [
        (whole / name).read_bytes() for name in KEPT
    ]


def test_the_grouping_of_seeds_changes_no_bit(whole):
    """Seed 1 alone, and as it was beside seed 0."""
    pair = units()[0]
    alone = run_unit(Unit(pair.configuration, pair.tree, 1, 1))
    there, _ = read_unit_result(whole / "units", pair)
    assert alone.rows == there.rows[1:]
    assert all(np.array_equal(array[0], there.params[name][1]) for name, array in alone.params.items())


@pytest.mark.slow
def test_seeds_that_all_diverge_are_a_result():
    options = QUICK | {
        "train.peak_rate": 1e30,
        "train.clip": 0.0,
        "train.warm_up": 0,
        "train.polish_steps": 2,
    }
    (unit,) = make_sweep("successor", None, options, {"seeds": 2}).units()
    result = run_unit(unit)
    assert [row["verdict"] for row in result.rows] == ["diverged", "diverged"]
    assert {len(array) for array in result.params.values()} == {2}


@pytest.mark.slow
def test_a_rule_is_learned_proved_and_saved(tmp_path, capsys):
    folder = tmp_path / "s"
    words = ["--seeds", "4", "--block", "2", "--train.steps", "1500", "--prove.seconds", "20", "--json"]
    assert main(["sweep", "even_to_odd_transition", *words, "--out", str(folder)]) == 0
    content = json.loads(capsys.readouterr().out)
    (row,) = content["rows"]
    assert (row["seeds"], row["reached"], row["tried"]) == (4, 4, 2)
    assert len(content["models"]) == row["proved"] >= 1
    assert main(["prove", content["models"][0], "--out", str(tmp_path / "certificate.json"), "--json"]) == 0
