"""Jobs that workers in other processes import: some fail, some take their worker or their node with them."""

import os
import select
import signal
import threading
from pathlib import Path

from glassformer.core.errors import UserError

PATIENCE = 60  # seconds that a unit waits for its end before it says that nobody came


def squared(number):
    return number * number


def refuses_three(number):
    if number == 3:
        raise UserError("three is one too many")
    return number


def has_a_bug(number):
    return number / 0


def gives_a_function(number):
    return lambda: number


def kills_its_worker(number):
    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_worker_once(folder, number):
    """In the middle of unit 1, the first time."""
    if begun(folder, number) == 1 and number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return squared(number)


def waits_for_its_node_to_die(folder, number):
    """Unit 1, the first time: names its node through a named pipe, whose reader kills it."""
    if begun(folder, number) == 1 and number == 1:
        import ray

        Path(folder, "node").write_text(ray.get_runtime_context().get_node_id(), encoding="utf-8")
        threading.Event().wait(PATIENCE)
        raise RuntimeError("the node was not killed")
    return squared(number)


def holds_a_pipe(path):
    """Opens a named pipe and works on for ever, as far as a test can tell."""
    with Path(path).open("w", encoding="utf-8") as file:
        print("begun", file=file, flush=True)
        threading.Event().wait(PATIENCE)
        print("survived", file=file)


def does_or_holds(path, number):
    return squared(number) if number else holds_a_pipe(path)


def begun(folder, number):
    """How often a unit was begun, with this time; every time leaves a file."""
    for time in range(1, 100):
        try:
            Path(folder, f"unit-{number}-{time}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return time
    raise RuntimeError(f"unit {number} was begun too often")


def times_begun(folder, number):
    return len(list(Path(folder).glob(f"unit-{number}-*")))


def place_of(name):
    """The value of an environment variable where the unit runs."""
    return os.environ.get(name)


def open_pipe(path):
    """A new named pipe, for reading; a writer need not be there yet."""
    os.mkfifo(path)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def read_pipe(handle):
    """What is written next; empty when the last writer is gone."""
    assert select.select([handle], [], [], PATIENCE)[0], "nobody wrote"
    return os.read(handle, 1000).decode()


def does_or_waits(path, number):
    """Unit 0 ends when somebody has opened the named pipe for writing and closed it."""
    return squared(number) if number else len(Path(path).read_text(encoding="utf-8"))
