"""SIGKILL at random moments: the same command, run again, ends with the bytes of one that nobody killed.

`python -m tools.kills` does the same with a hundred kills of each command.
"""

import os
import subprocess
import sys

import pytest

from tools.kills.__main__ import Asked, count_cases, kill_verb
from tools.kills.look import find_broken, find_changes, read_files
from tools.kills.process import find_living


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One run is trained for all."""
    return tmp_path_factory.mktemp("kills")


def kill(verb, kills, seed, at, place):
    """The cases of a verb: no difference, and so many kills of a running command."""
    cases = kill_verb(verb, Asked(kills=kills, seed=seed, at=at), place)
    assert [case for case in cases if case.differences] == []
    assert count_cases(verb, cases, 0)["kills"] >= kills


@pytest.mark.slow
def test_a_few_kills(place):
    kill("page", 2, 0, "steps", place)


@pytest.mark.slow
@pytest.mark.parametrize("at", ["clock", "steps"])
@pytest.mark.parametrize("verb", ["run", "video", "page", "sweep"])
def test_many_kills(verb, at, tmp_path):
    kill(verb, 25, 1, at, tmp_path)


def test_a_process_that_is_left_is_seen():
    code = "import sys; sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, start_new_session=True)
    assert find_living(process.pid) == [process.pid]
    assert os.getpid() in find_living(os.getsid(0))
    process.communicate()
    assert find_living(process.pid) == []


WHOLE = {
    "run.toml": b'name = "x"\n',
    "result.json": b'{"digests": {"metrics.csv": "%s"}}' % (b"0" * 64),
    "metrics.csv": b"a,b\n1,2\n",
    "report.md": b"# x\n",
    "page.html": b'<script id="payload">{"proof":{"seconds":1.5}}</script></html>\n',
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    for name, content in WHOLE.items():
        (tmp_path / "run" / name).write_bytes(content)
    return tmp_path


def test_half_a_file_and_a_wrong_seal_are_seen(folder):
    assert find_broken(folder) == ["metrics.csv is not what run/result.json says it is"]
    (folder / "run" / "result.json").write_text("{}")
    assert find_broken(folder) == []
    (folder / "run" / ".page.html.12.tmp").write_bytes(b"half")
    assert find_broken(folder) == []
    for name in WHOLE:
        path = folder / "run" / name
        path.write_bytes(WHOLE[name][: -3 if name != "result.json" else 0])
    broken = [line.partition(" ")[0] for line in find_broken(folder) if line.startswith("run/")]
    assert broken == sorted(f"run/{name}" for name in WHOLE)


def test_times_may_differ_and_nothing_else(folder):
    before = read_files(folder, "run")
    page, other = folder / "run" / "page.html", WHOLE["page.html"].replace(b"1.5", b"2.5")
    page.write_bytes(other)
    assert find_changes(before, read_files(folder, "run")) == []
    page.write_bytes(other.replace(b"</html>", b"</HTML>"))
    (folder / "run" / "report.md").unlink()
    (folder / "run" / ".report.md.12.tmp").write_bytes(b"half")
    assert find_changes(before, read_files(folder, "run")) == [
        "run/report.md is missing",
        "run/.report.md.12.tmp is left over",
        "run/page.html has other bytes",
    ]
