"""A process of ours with a pipe to it; whatever it prints stays out of the way.

>>> child = ChildProcess("glassformer.scale.worker", {})
>>> child.end()
>>> child.death
'SIGKILL'
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import IO

_DYING = 1.0  # seconds that a process may take to end by itself, which tells more than being killed
_LAST_WORDS = 4000  # bytes of a dead process's messages that are looked at


class ChildProcess:
    """Runs a module of ours, which gets the number of the pipe's file descriptor as its one word."""

    def __init__(self, module: str, place: Mapping[str, str]) -> None:
        """In a session of its own: Ctrl-C is for its parent, whose end it sees by the pipe."""
        self.pipe, theirs = Pipe()
        self.messages = tempfile.TemporaryFile()  # noqa: SIM115  closed in end
        self.death = ""
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.messages,
                env={**os.environ, "PYTHONPATH": make_import_path(), **place},
                start_new_session=True,
            )

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def send(self, letter: bytes) -> None:
        with suppress(OSError):  # it is dead: the next letter from it tells
            self.pipe.send_bytes(letter)

    def receive(self) -> bytes | None:
        """The next letter; none where the process has died."""
        try:
            return self.pipe.recv_bytes()
        except (EOFError, OSError):
            self.end(_DYING)
            return None

    def end(self, patience: float = 0.0) -> None:
        """Close the pipe, by which it ends, and kill it where it takes longer; says what it died of."""
        if self.death:
            return
        self.pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        self.process.kill()
        self.death = f"{describe_exit(self.process.wait())}{_read_last_line(self.messages)}"
        self.messages.close()


def make_import_path() -> str:
    """Ours, so that a job is found where we have it."""
    return os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)


def describe_exit(status: int) -> str:
    """
    >>> describe_exit(-9), describe_exit(1)
    ('SIGKILL', 'exit status 1')
    """
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def _read_last_line(messages: IO[bytes]) -> str:
    """The last line that it wrote, if any."""
    size = messages.seek(0, os.SEEK_END)
    messages.seek(max(0, size - _LAST_WORDS))
    lines = messages.read().decode(errors="replace").split("\n")
    return next((f" ({line.strip()})" for line in reversed(lines) if line.strip()), "")
