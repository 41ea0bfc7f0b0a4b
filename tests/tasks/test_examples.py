"""Pairs to compare two adders on, and their sums as tokens."""

import numpy as np
import pytest

from glassformer.tasks import Addition
from glassformer.tasks.board import EDGE_CASES, draw_board_pairs
from glassformer.tasks.examples import encode_example_sums, list_example_pairs


@pytest.mark.parametrize("digits", [2, 10])
@pytest.mark.parametrize("count", [1, 8, 60])
def test_there_are_as_many_as_asked_always_the_same_and_of_the_tasks_digits(digits, count):
    task = Addition(digits=digits)
    pairs = list_example_pairs(task, count)
    assert len(pairs) == count
    assert pairs == list_example_pairs(task, count)
    assert all(0 <= number < 10**digits for pair in pairs for number in pair)


def test_edge_cases_come_first_and_random_pairs_are_not_the_boards():
    pairs = list_example_pairs(Addition(digits=10), 60)
    assert pairs[: len(EDGE_CASES)] == list(EDGE_CASES)
    assert not {*pairs[-20:]} & {*draw_board_pairs()}


@pytest.mark.parametrize("layout", ["lsb", "msb"])
def test_sums_are_written_out_but_for_the_last_digit(layout):
    task = Addition(digits=3, layout=layout)
    written, tokens = task.written(), encode_example_sums(task, 12)
    for (a, b), column in zip(list_example_pairs(task, 12), tokens.T, strict=True):
        digits = {
            place: int(str(a + b).zfill(4)[3 - power]) for power, place in enumerate(written.z_positions)
        }
        told = {place: digit for place, digit in digits.items() if place < len(column)}
        assert len(told) == 3
        assert all(column[place] == digit for place, digit in told.items())
    assert tokens.dtype.kind == "i" and np.all(tokens >= 0)
