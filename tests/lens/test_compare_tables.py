"""Means of numbers of which some are not known."""

import math

import pytest

from glassformer.lens.compare_tables import average_known


def test_a_mean_is_of_what_is_known():
    assert average_known([1.0, math.nan, 3.0]) == 2.0
    assert average_known([0.1]) == pytest.approx(0.1)


@pytest.mark.parametrize("numbers", [[], [math.nan], [math.nan, math.nan]])
def test_of_nothing_known_nothing_is_known(numbers):
    assert math.isnan(average_known(numbers))
