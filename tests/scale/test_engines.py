"""The laws of an engine, for the engines of one machine: every unit once, and errors as one sentence."""

import os
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import UserError
from glassformer.scale.answer import JobError
from glassformer.scale.here import Here
from glassformer.scale.processes import Processes

from .jobs import (
    gives_a_function,
    has_a_bug,
    kills_its_worker,
    kills_its_worker_once,
    open_pipe,
    place_of,
    read_pipe,
    refuses_three,
    squared,
    times_begun,
)

DRIVER = """
import sys
from glassformer.scale.processes import Processes
from tests.scale.jobs import holds_a_pipe
list(Processes(1).work(holds_a_pipe, sys.argv[1:]))
"""
ENGINES = {"here": Here(), "threads": Here(3), "processes": Processes(2)}
each_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


@each_engine
def test_every_unit_is_done_once(engine):
    assert sorted(engine.work(squared, [*range(7)])) == [(number, number**2) for number in range(7)]


@each_engine
def test_units_that_are_equal_are_each_done(engine):
    assert list(engine.work(squared, [3, 3, 3])) == [(3, 9)] * 3


@each_engine
def test_no_units_are_no_work(engine):
    assert list(engine.work(squared, [])) == []


@given(units=st.lists(st.integers(-9, 9), max_size=9), threads=st.integers(1, 4))
@settings(max_examples=20)
def test_threads_do_what_one_does(units, threads):
    assert sorted(Here(threads).work(squared, units)) == sorted(Here().work(squared, units))


@each_engine
def test_the_error_of_a_job_is_one_sentence_and_ends_the_work(engine):
    with pytest.raises(UserError, match=r"^three is one too many$"):
        list(engine.work(refuses_three, [3, 1, 2, 3]))


@each_engine
def test_work_can_be_left_in_the_middle(engine):
    results = engine.work(squared, [*range(9)])
    number, result = next(results)
    results.close()
    assert result == number**2


def test_the_first_error_on_a_thread_ends_the_work_and_lets_what_runs_finish():
    begun, started, finished = threading.Event(), [], []

    def work(unit):
        started.append(unit)
        if unit == "bad":
            begun.wait()
            raise UserError("bad")
        begun.set()
        finished.append(unit)
        return {}

    with pytest.raises(UserError, match="bad"):
        list(Here(2).work(work, ["bad", "slow", *"abcdefgh"]))
    assert "slow" in finished
    assert len(started) == 1 + len(finished)


def test_a_bug_says_where_it_is():
    with pytest.raises(JobError, match=r"^ZeroDivisionError: ") as caught:
        list(Processes(1).work(has_a_bug, [1]))
    assert "jobs.py" in caught.value.__notes__[0]


def test_a_result_that_cannot_travel_is_a_bug_too():
    with pytest.raises(JobError, match="pickle"):
        list(Processes(1).work(gives_a_function, [1]))


def test_a_killed_worker_changes_nothing(tmp_path):
    job, units = partial(kills_its_worker_once, str(tmp_path)), [0, 1, 2, 3]
    assert sorted(Processes(2).work(job, units)) == sorted(Here().work(squared, units))
    assert [times_begun(tmp_path, number) for number in units] == [1, 2, 1, 1]


def test_a_unit_that_no_worker_survives_is_named():
    with pytest.raises(UserError, match=r"^unit 5: 3 workers died of it, the last one by SIGKILL$"):
        list(Processes(2).work(kills_its_worker, [5]))


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
    places = Processes(gpus_per_unit=1).places()
    assert places == [{"CUDA_VISIBLE_DEVICES": "4"}, {"CUDA_VISIBLE_DEVICES": "6"}]
    found = Processes(gpus_per_unit=2).work(place_of, ["CUDA_VISIBLE_DEVICES"])
    assert list(found) == [("CUDA_VISIBLE_DEVICES", "4,6")]


@pytest.mark.parametrize(
    "seen, sentence", [("", "but none can be seen"), ("0", "--workers must be at most 1")]
)
def test_too_few_gpus_are_one_sentence(monkeypatch, seen, sentence):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    with pytest.raises(UserError, match=sentence):
        list(Processes(2, gpus_per_unit=1).work(squared, [1]))
