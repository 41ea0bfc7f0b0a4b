"""Adders that are right, and adders that slip where they are told to."""

import numpy as np
import pytest

from glassformer.tasks import Addition, digits_of, numbers_of
from glassformer.verify.addition import MOST_FAILURES, answers, measure_addition

from .fakes import Adder


@pytest.mark.parametrize("layout", ["lsb", "msb", "nanogpt", "lsb24"])
def test_a_perfect_adder_passes(layout):
    task = Addition(digits=3, layout=layout)
    report = measure_addition(Adder(task), task, pairs=200)
    assert (report.argmax_accuracy.value, report.argmax_accuracy.positions) == (1.0, 200)
    assert report.failures == ()
    assert report.qualified


def test_failures_are_counted_and_the_first_are_listed():
    task = Addition(digits=3)
    report = measure_addition(Adder(task, slips=lambda x, y: x[0] == 9), task, pairs=2000)
    share = report.argmax_accuracy
    assert share.low < 0.9 < share.high
    assert not report.qualified
    assert len(report.failures) == MOST_FAILURES
    for failure in report.failures:
        assert failure.a % 10 == 9
        assert failure.expected == failure.a + failure.b
        units = failure.expected % 10
        assert failure.got == failure.expected - units + (units + 1) % 10


def test_a_single_failure_is_not_lost():
    task = Addition(digits=2)
    model = Adder(task, slips=lambda x, y: (x[0] == 7) & (x[1] == 5) & (y[0] == 8) & (y[1] == 6))
    x, y = digits_of([57, 57, 11], 2), digits_of([68, 67, 22], 2)
    assert numbers_of(answers(model, task, x, y)) == [126, 124, 33]


def test_blocks_give_the_same_answers():
    task = Addition(digits=2)
    random = np.random.default_rng(0)
    x, y = random.integers(0, 10, (2, 2, 50))
    model = Adder(task)
    np.testing.assert_array_equal(answers(model, task, x, y, block=7), answers(model, task, x, y))
    assert {batch for _, batch in model.widths} == {7, 1, 50}


def test_the_bar_is_99_of_100():
    task = Addition(digits=2)
    lenient = Adder(task, slips=lambda x, y: (x == 0).all(0) & (y[0] < 5))  # one pair in 200
    assert measure_addition(lenient, task, pairs=4000).qualified


def test_other_seeds_bring_other_pairs():
    task = Addition(digits=3)
    reports = [
        measure_addition(Adder(task, slips=lambda x, y: x[0] == 9), task, pairs=100, seed=seed).failures
        for seed in (0, 0, 1)
    ]
    assert reports[0] == reports[1] != reports[2]
