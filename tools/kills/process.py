"""A command in a session of its own, killed after some seconds or just before a change of a file.

The group is killed at once. Workers of `sweep --engine processes` have groups of their own in the same
session; they end by themselves when their driver is gone, and are waited for.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PATIENCE = 20.0  # seconds in which workers must have ended, on a busy machine
# The command, but just before the given step that changes a file or folder here the whole group is killed. At
# its end it says how many such steps there were.
STEPPED = """
import atexit, os, signal, sys
from pathlib import Path
here, moment, counter, done = os.getcwd(), int(sys.argv[1]), sys.argv[2], [0]
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.utime", "shutil.rmtree")
def step(event, told):
    if event not in CHANGES and not (event == "open" and (told[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
        return
    try:
        path = os.path.abspath(os.fsdecode(told[0]))
    except TypeError:
        return
    if path.startswith(here + os.sep):
        done[0] += 1
        if done[0] == moment:
            os.killpg(os.getpgrp(), signal.SIGKILL)
atexit.register(lambda: Path(counter).write_text(str(done[0]), encoding='utf-8'))
from glassformer.cli.program import program
sys.addaudithook(step)
sys.argv[:] = ["glassformer", *sys.argv[3:]]
program()
"""


class Moment(NamedTuple):
    """When a command is killed: after some seconds, or before a step, counted from 1; neither: not at all."""

    seconds: float | None = None
    step: int = 0

    def __str__(self) -> str:
        return f"before step {self.step}" if self.step else f"after {self.seconds:.3f} s"


NEVER = Moment()


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    seconds: float
    steps: int  # changes that it made; 0 where it was killed
    left: list[int]  # processes of its session that outlived it
    said: str  # on standard error

    @property
    def is_killed(self) -> bool:
        return self.status == -signal.SIGKILL


def run_command(words: str, folder: Path, place: Path, moment: Moment = NEVER) -> Ended:
    """Run in `folder`; `place` keeps the compiled programs and what the command says."""
    began, counter, messages = time.perf_counter(), place / "steps", place / "messages"
    (place / "temporary").mkdir(exist_ok=True)
    counter.unlink(missing_ok=True)
    command = [sys.executable, "-P", "-c", STEPPED, str(moment.step), str(counter), *words.split()]
    with messages.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(place), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip
    _wait_or_kill(process, moment.seconds)
    seconds = time.perf_counter() - began
    left = _wait_for_session(process.pid)
    steps = int(counter.read_text(encoding="utf-8")) if counter.exists() else 0
    return Ended(
        process.returncode,
        seconds,
        steps,
        left,
        messages.read_text(encoding="utf-8", errors="replace").strip(),
    )


def _environment(place: Path) -> Mapping[str, str]:
    """One cache for all, which they fill while they are killed, and one folder for temporary files."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    cache = os.environ.get("GLASSFORMER_CACHE") or str(place / "xla")
    own = {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "GLASSFORMER_CACHE": cache}
    return {**os.environ, **own, "TMPDIR": str(place / "temporary")}


def _wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float | None) -> None:
    """Until the command ends or its time is over; then everything that it started is killed."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:  # it is not reaped yet, so its group cannot be another one
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for_session(session: int) -> list[int]:
    """The processes of a session that do not end; they are killed then."""
    end = time.monotonic() + PATIENCE
    while (left := find_living(session)) and time.monotonic() < end:
        time.sleep(0.01)
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return left


def find_living(session: int) -> list[int]:
    """The processes of a session; in /proc/PID/stat state, parent, group and session follow the name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, number = (
                path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:4]
            )
        except (OSError, ValueError):  # it has ended in between
            continue
        if int(number) == session and state not in "ZX":
            found.append(int(path.parent.name))
    return found
