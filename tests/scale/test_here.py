"""Threads of this process."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.scale.here import LocalEngine
from tests.scale.jobs import (
    squared,
)


@given(units=st.lists(st.integers(-9, 9), max_size=9), threads=st.integers(1, 4))
@settings(max_examples=20)
def test_threads_do_what_one_does(units, threads):
    assert sorted(LocalEngine(threads).work(squared, units)) == sorted(LocalEngine().work(squared, units))


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
        list(LocalEngine(2).work(work, ["bad", "slow", *"abcdefgh"]))
    assert "slow" in finished
    assert len(started) == 1 + len(finished)
