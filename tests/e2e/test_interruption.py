"""Processes that die: whatever the moment, the same command goes on and ends with the same bytes."""

import json
import signal
import subprocess
import sys

import pytest

WORDS = "run successor --model.context 4 --draw.figures none --prove.seconds 1 --seeds 2 --threads 2 --steps 60 --train.evaluate_every 10 --train.batch 16"
WORDS += " --train.held_out 64 --measure.positions 1 --measure.generated 4 --json"
KEPT = ("params.safetensors", "population.safetensors", "history.safetensors", "metrics.csv")

# The command, but the process sends itself a signal just before (odd) or after (even) half the given write.
INTERRUPTED = """
import os, sys
from pathlib import Path
from glassformer.cli.program import program
moment, number, real, done = int(sys.argv[1]), int(sys.argv[2]), Path.replace, [0]
def replace(path, target):
    done[0] += 1
    if 2 * done[0] - 1 == moment:
        os.kill(os.getpid(), number)
    real(path, target)
    if 2 * done[0] == moment:
        os.kill(os.getpid(), number)
Path.replace = replace
sys.argv[:] = ["glassformer", *sys.argv[3:]]
program()
"""


def start(folder, moment=0, number=signal.SIGKILL):
    told = [str(moment), str(number.value), *WORDS.split(), "--out", str(folder)]
    command = [sys.executable, "-c", INTERRUPTED, *told]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(folder):
    process = start(folder)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert err == ""
    return json.loads(out)


def kept(folder):
    return {name: (folder / name).read_bytes() for name in KEPT}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    finish(folder)
    return folder


def signal_when(process, folder, pattern, number):
    """Send the signal as soon as a file of this pattern is there; false where the process was faster."""
    while process.poll() is None:
        if list(folder.glob(pattern)):
            process.send_signal(number)
            return True
        try:
            process.wait(timeout=0.002)
        except subprocess.TimeoutExpired:
            continue
    return False


def test_sigkill_at_chosen_writes(tmp_path, whole):
    """Killed, started again, killed again: before run.toml, around a state, in the last files."""
    folder = tmp_path / "run"
    for moment in (3, 12, 5, 26):
        process = start(folder, moment)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    result = finish(folder)
    assert kept(folder) == kept(whole)
    assert result["folder"] == str(folder)
    assert not list(folder.rglob(".*.tmp"))
    assert {path.name for path in folder.iterdir()} == {path.name for path in whole.iterdir()}


@pytest.mark.slow
def test_sigkill_when_a_file_appears(tmp_path, whole):
    folder = tmp_path / "run"
    patterns = (
        "checkpoints/000000000.safetensors",
        "checkpoints/000000040.safetensors",
        "population.safetensors",
        "params.safetensors",
    )
    kills = 0
    for pattern in patterns:
        process = start(folder)
        kills += signal_when(process, folder, pattern, signal.SIGKILL)
        process.communicate()
    finish(folder)
    assert kills >= 2  # the last files follow each other within milliseconds
    assert kept(folder) == kept(whole)


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(tmp_path, whole):
    folder = tmp_path / "run"
    process = start(folder, 12, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == "glassformer: stopped; nothing is lost, run the same command again to resume\n"
    assert not (folder / "result.json").exists()
    finish(folder)
    assert kept(folder) == kept(whole)
