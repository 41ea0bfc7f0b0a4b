"""Processes of this machine: bugs, deaths, GPUs, and an end with their driver."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.answer import JobError
from glassformer.scale.here import LocalEngine
from glassformer.scale.processes import ProcessEngine
from tests.scale.jobs import (
    gives_a_function,
    has_a_bug,
    kills_its_worker,
    kills_its_worker_once,
    open_pipe,
    place_of,
    read_pipe,
    squared,
    times_begun,
)

DRIVER = """
import sys
from glassformer.scale.processes import ProcessEngine
from tests.scale.jobs import holds_a_pipe
list(ProcessEngine(1).work(holds_a_pipe, sys.argv[1:]))
"""


def test_a_bug_says_where_it_is():
    with pytest.raises(JobError, match=r"^ZeroDivisionError: ") as caught:
        list(ProcessEngine(1).work(has_a_bug, [1]))
    assert "jobs.py" in caught.value.__notes__[0]


def test_a_result_that_cannot_travel_is_a_bug_too():
    with pytest.raises(JobError, match="pickle"):
        list(ProcessEngine(1).work(gives_a_function, [1]))


def test_a_killed_worker_changes_nothing(tmp_path):
    job, units = partial(kills_its_worker_once, str(tmp_path)), [0, 1, 2, 3]
    assert sorted(ProcessEngine(2).work(job, units)) == sorted(LocalEngine().work(squared, units))
    assert [times_begun(tmp_path, number) for number in units] == [1, 2, 1, 1]


def test_a_unit_that_no_worker_survives_is_named():
    with pytest.raises(UserError, match=r"^unit 5: 3 workers died of it, the last one by SIGKILL$"):
        list(ProcessEngine(2).work(kills_its_worker, [5]))


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_driver(tmp_path, way):
    """In the middle of a unit that would not end; the pipe closes with the last process that has it open."""
    pipe = open_pipe(tmp_path / "pipe")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, tmp_path / "pipe"], stderr=subprocess.DEVNULL)
    try:
        assert read_pipe(pipe) == "begun\n"
        driver.send_signal(way)
        assert read_pipe(pipe) == ""
    finally:
        driver.kill()
        driver.wait()
        os.close(pipe)


def test_every_worker_has_its_gpu(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    places = ProcessEngine(gpus_per_unit=1).places()
    assert places == [{"CUDA_VISIBLE_DEVICES": "4"}, {"CUDA_VISIBLE_DEVICES": "6"}]
    found = ProcessEngine(gpus_per_unit=2).work(place_of, ["CUDA_VISIBLE_DEVICES"])
    assert list(found) == [("CUDA_VISIBLE_DEVICES", "4,6")]


@pytest.mark.parametrize(
    "seen, sentence", [("", "but none can be seen"), ("0", "--workers must be at most 1")]
)
def test_too_few_gpus_are_one_sentence(monkeypatch, seen, sentence):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    with pytest.raises(UserError, match=sentence):
        list(ProcessEngine(2, gpus_per_unit=1).work(squared, [1]))
