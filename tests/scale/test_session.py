"""A cluster of this machine lets nobody else in, and nothing is left of it, however it ends."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.cluster import RayEngine
from glassformer.scale.session import LONGEST, make_session_folder

from .jobs import does_or_waits, open_pipe, read_pipe, refuses_three
from .look import (
    METHODS,
    ask,
    content,
    list_left,
    list_listeners,
    list_processes,
    own_temporary_folder,
    read_commands,
    read_tokens,
    wait_until,
)

DRIVER = """
import sys
from glassformer.scale.cluster import RayEngine
from tests.scale.jobs import holds_a_pipe
list(RayEngine(workers=1).work(holds_a_pipe, sys.argv[1:]))
"""
LEAVES = """
from glassformer.scale.cluster import RayEngine
from tests.scale.jobs import squared
results = RayEngine(workers=1).work(squared, [1, 2])
next(results)
"""
WRONG = "0" * 64
TURNED_AWAY = ({"UNAUTHENTICATED"}, {"401"}, {"403"})
FEWEST = 6  # gcs_server, raylet (2), its agent, the foreman and a worker each listen


@dataclass(frozen=True)
class Seen:
    """Of a cluster in the middle of a unit; and what is left after the last one."""

    listeners: set
    commands: list
    tokens: set
    strangers: list
    friends: list
    modes: list
    files: list
    left: list


@pytest.fixture(scope="module")
def temporary():
    with own_temporary_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def other_words():
    words = {"RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN": WRONG, "RAY_ADDRESS": "127.0.0.1:1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in words.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def seen(temporary, other_words, tmp_path_factory):
    """One start for all tests of a good run; the user's own words for other clusters change nothing."""
    path = tmp_path_factory.mktemp("seen") / "pipe"
    os.mkfifo(path)
    with closing(RayEngine(workers=2).work(partial(does_or_waits, str(path)), [1, 0])) as results:
        assert next(results) == (1, 1)
        handle = wait_until(partial(open_writer, path))
        found = look(temporary)
        os.close(handle)
        assert list(results) == [(0, 0)]
    return Seen(*found, list_left(temporary))


def open_writer(path):
    """None before the unit reads."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def look(folder):
    processes = list_processes(folder)
    listeners, tokens = list_listeners(processes), read_tokens(processes)
    strangers = [ask(place, token) for place in listeners for token in (None, WRONG)]
    friends = [ask(place, token, METHODS[:1]) for place in listeners for token in tokens]
    modes = [oct(path.stat().st_mode)[-3:] for path in folder.iterdir()]
    files = [content(path) for path in folder.rglob("*") if path.is_file()]
    return listeners, read_commands(processes), tokens, strangers, friends, modes, files


def test_no_port_listens_beyond_loopback(seen):
    assert len(seen.listeners) >= FEWEST
    assert [str(address) for address, _ in seen.listeners if not address.is_loopback] == []


def test_who_has_no_token_or_a_wrong_one_is_turned_away_at_every_port(seen):
    assert [answers for answers in seen.strangers if answers not in TURNED_AWAY] == []
    assert {"OK"} in seen.friends


def test_the_token_is_random_and_shows_in_no_command_and_in_no_file(seen):
    (token,) = seen.tokens - {WRONG}
    assert len(token) == len(WRONG)
    assert len(seen.commands) > FEWEST
    assert len(seen.files) > FEWEST
    assert not [text for text in [*seen.commands, *seen.files] if token.encode() in text]


def test_nobody_else_can_enter_its_folder(seen):
    assert seen.modes == ["700"]


def test_nothing_is_left_after_a_good_run(seen):
    assert seen.left == []


@pytest.mark.slow
def test_nothing_is_left_after_a_unit_that_fails(temporary):
    with pytest.raises(UserError, match=r"^three is one too many$"):
        list(RayEngine(workers=1).work(refuses_three, [3]))
    assert list_left(temporary) == []


@pytest.mark.slow
def test_nothing_is_left_after_a_driver_that_ended_in_the_middle(temporary):
    """With its work still open, which the interpreter closes when most of it is gone."""
    subprocess.run([sys.executable, "-c", LEAVES], check=True)
    assert list_left(temporary) == []


@pytest.fixture
def driver(temporary, tmp_path):
    """A driver in a process of its own, and the pipe that its one unit holds open."""
    pipe = open_pipe(tmp_path / "pipe")
    words = [sys.executable, "-c", DRIVER, tmp_path / "pipe"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    yield process, pipe
    process.kill()
    process.wait()
    os.close(pipe)
    wait_until(lambda: not list_left(temporary))


def test_nothing_is_left_after_the_driver_was_killed(temporary, driver):
    process, pipe = driver
    assert read_pipe(pipe) == "begun\n"
    process.kill()
    process.wait()
    assert read_pipe(pipe) == ""
    wait_until(lambda: not list_left(temporary))


@pytest.mark.slow
def test_nothing_is_left_after_the_driver_was_killed_while_the_cluster_starts(temporary, driver):
    process, _ = driver
    wait_until(lambda: [*temporary.glob("gf-*/r/session_*/sockets")])
    process.kill()
    process.wait()
    wait_until(lambda: not list_left(temporary))


@pytest.mark.slow
def test_nothing_is_left_after_ctrl_c(temporary, driver):
    process, pipe = driver
    assert read_pipe(pipe) == "begun\n"
    process.send_signal(signal.SIGINT)
    process.wait()
    assert list_left(temporary) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "victim, way",
    [("scale.foreman", 0), ("scale.foreman", signal.SIGKILL), ("session.py", signal.SIGINT)],
    ids=["the foreman", "the foreman and the driver", "the guard, and then Ctrl-C"],
)
def test_nothing_is_left_after_others_were_killed(temporary, driver, victim, way):
    process, pipe = driver
    assert read_pipe(pipe) == "begun\n"
    os.kill(find_child(process.pid, victim), signal.SIGKILL)
    process.send_signal(way)
    assert process.wait() != 0
    wait_until(lambda: not list_left(temporary))


def find_child(process, word):
    """The one whose command has this word."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    (found,) = [child for child in children if word.encode() in b"".join(read_commands([child]))]
    return int(found)


def test_a_long_path_of_the_temporary_folder_is_too_long_for_sockets(monkeypatch, tmp_path):
    """Ray's lie in it, and the system takes no path of more than 107 bytes."""
    long = tmp_path / ("x" * LONGEST)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    folder = make_session_folder()
    folder.rmdir()
    assert folder.parent == Path("/tmp")
