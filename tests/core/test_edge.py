"""The edge of a command: one sentence and a status for whatever happens inside."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.core.edge import guard_action
from glassformer.core.errors import UserError


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (UserError("that is wrong"), 2, "glassformer: that is wrong\n"),
        (KeyboardInterrupt(), 130, "glassformer: stopped\n"),
        (PermissionError(13, "Permission denied", "x"), 2, "glassformer: x: Permission denied\n"),
        (OSError("odd"), 2, "glassformer: odd\n"),
    ],
)
def test_what_is_expected_is_a_sentence(capsys, error, status, sentence):
    assert guard_action(raising(error), []) == status
    assert capsys.readouterr().err == sentence


@pytest.mark.parametrize(
    "error",
    [KeyError("x"), RecursionError("deep"), MemoryError(), OverflowError("large"), RuntimeError("a\nb")],
)
def test_what_is_not_expected_is_a_sentence_and_a_log(capsys, tmp_path, monkeypatch, error):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert guard_action(raising(error), ["draw", "x"]) == 70
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("glassformer: ")
    (log,) = tmp_path.iterdir()
    assert str(log) in said
    assert log.stat().st_mode & 0o077 == 0
    text = log.read_text()
    assert "glassformer draw x" in text and "Traceback" in text and type(error).__name__ in text


def test_a_log_that_cannot_be_written_is_said(capsys, monkeypatch):
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: raising(OSError(28, "No space left on device"))())
    assert guard_action(raising(KeyError("x")), []) == 70
    assert "no file, because none could be written (No space left on device)" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_disk_behind_standard_output_is_a_sentence():
    command = f"{sys.executable} -m glassformer list models > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "glassformer: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("verb", ["run", "draw"])
def test_sigterm_ends_a_command_as_ctrl_c_does(tmp_path, verb, number):
    code = (
        "import os, sys, signal\nfrom glassformer.cli import program as cli\n"
        f"cli._run_command = lambda words: os.kill(os.getpid(), {number.value}) or 0\n"
        f"sys.argv = ['glassformer', {verb!r}, 'x']\ncli.program()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    more = "; nothing is lost, run the same command again to resume" if verb == "run" else ""
    assert done.stderr == f"glassformer: stopped{more}\n"
