"""A sweep that is stopped or killed at a chosen write goes on, inside the unit, to the same bytes."""

import json
import signal
import subprocess
import sys

import numpy as np

from glassformer.cli.program import main
from glassformer.sweeps.folder import read_stored_sweep
from glassformer.sweeps.store import read_unit_result
from tests.e2e.test_interruption import INTERRUPTED

from .small import QUICK_WORDS

WORDS = ["sweep", "successor", "--seeds", "4", "--block", "2", *QUICK_WORDS, "--json"]
# Writes of the first try: sweep.toml, the table, the first checkpoint; then checkpoint, metrics and state of
# each of two stretches. Of the second, from the first state on: the table, the second stretch, three last
# files, then the unit's pair. A moment is twice the number of a write, one less for just before it.
AFTER_THE_FIRST_STATE, BEFORE_THE_ROWS_OF_A_UNIT = 2 * 6, 2 * 9 - 1


def start(folder, moment=0, number=signal.SIGKILL):
    told = [str(moment), str(number.value), *WORDS, "--out", str(folder)]
    command = [sys.executable, "-c", INTERRUPTED, *told]
    return subprocess.run(command, capture_output=True, text=True)


def results(folder):
    return [read_unit_result(folder / "units", unit)[0] for unit in read_stored_sweep(folder).units()]


def test_stopped_and_then_killed(tmp_path, capsys):
    assert main([*WORDS, "--out", str(tmp_path / "whole")]) == 0
    capsys.readouterr()
    folder = tmp_path / "s"
    stopped = start(folder, AFTER_THE_FIRST_STATE, signal.SIGINT)
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr == "glassformer: stopped; nothing is lost, run the same command again to resume\n"
    (working,) = (folder / "working").iterdir()
    assert (working / "state.safetensors").exists()
    assert start(folder, BEFORE_THE_ROWS_OF_A_UNIT).returncode == -signal.SIGKILL
    assert [path.suffix for path in (folder / "units").glob("[!.]*")] == [".safetensors"]
    assert main([*WORDS, "--out", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["units"] == 2
    for name in ("table.csv", "seeds.csv", "sweep.toml"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    for there, here in zip(results(folder), results(tmp_path / "whole"), strict=True):
        assert there.rows == here.rows
        assert all(np.array_equal(there.params[name], array) for name, array in here.params.items())
    assert not (folder / "working").exists()
    assert not list(folder.rglob(".*.tmp"))
