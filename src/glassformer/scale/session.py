"""A cluster of this machine is a session of processes and a private folder; both end together.

The foreman leads the session (`setsid`), and whatever Ray starts stays in it, with or without a parent. A
guard outside of it, which no Ctrl-C reaches, waits for the end of the work or of the engine and ends it all:

    python session.py 4711 /tmp/gf-k3v9x2wq

>>> from glassformer.scale.child import ChildProcess
>>> child = ChildProcess("glassformer.scale.worker", {})
>>> with guard_folder(child.process.pid) as folder:
...     _list_session_processes(child.process.pid) == [child.process.pid], folder.exists()
(True, True)
>>> _list_session_processes(child.process.pid), folder.exists()
([], False)
>>> child.end()
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST = 24  # bytes of the temporary folder's path: Ray's sockets lie 78 deeper, and 103 is the most
_PATIENCE = 10.0  # seconds for killed processes to be gone; a driver may hold one for a while
_LOOK = 0.01  # seconds between two looks whether they are


@contextmanager
def guard_folder(leader: int | None = None) -> Iterator[Path]:
    """A private folder, for a leader's session if any; neither outlives this context, nor this process."""
    folder = make_session_folder()
    guard = _start_guard(leader, folder)
    try:
        yield folder
    finally:
        guard.communicate()
        if guard.returncode:  # somebody killed it
            _end_session(leader, folder)


def make_session_folder() -> Path:
    """An empty folder that nobody else can enter, with a path short enough for Ray's sockets."""
    usual = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="gf-", dir=usual if len(os.fsencode(usual)) <= LONGEST else "/tmp"))


def _start_guard(leader: int | None, folder: Path) -> "subprocess.Popen[bytes]":
    """Its pipe is closed whatever becomes of us; it needs this file alone, as it is to start at once."""
    return subprocess.Popen(
        [sys.executable, "-I", __file__, str(leader or ""), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end_session(leader: int | None, folder: Path) -> None:
    """Kill every process of the session and remove its folder; what is gone already is no error."""
    deadline = time.monotonic() + _PATIENCE
    while leader and (running := _list_session_processes(leader)) and time.monotonic() < deadline:
        for process in running:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_LOOK)
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:  # somebody was writing into it, and is ending
        time.sleep(_LOOK)
        shutil.rmtree(folder, ignore_errors=True)


def _list_session_processes(leader: int) -> list[int]:
    """The processes of a session; Linux alone tells, elsewhere Ray's own reaper ends what it started."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_running(path, leader)]


def _is_running(path: Path, leader: int) -> bool:
    try:
        told = (path / "stat").read_text(encoding="utf-8")
    except OSError:  # it has ended since
        return False
    state, _, _, session = told.rpartition(")")[2].split()[:4]  # a name before it may have any character
    return int(session) == leader and state not in "ZX"


if __name__ == "__main__":
    sys.stdin.read()
    _end_session(int(sys.argv[1]) if sys.argv[1] else None, Path(sys.argv[2]))
