"""The laws of an engine, for the engines of one machine: every unit once, and errors as one sentence."""

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.here import LocalEngine
from glassformer.scale.processes import ProcessEngine
from tests.scale.jobs import (
    refuses_three,
    squared,
)

ENGINES = {"here": LocalEngine(), "threads": LocalEngine(3), "processes": ProcessEngine(2)}
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
