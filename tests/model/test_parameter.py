"""Parameters: sizes, and the widths of their first values."""

import pytest

from glassformer.model.parameter import constant, matrix, normal, uniform


def test_sizes():
    assert [p.size for p in (normal((12, 2)), uniform((3,), 1.0), constant((), 2.5))] == [24, 3, 1]


@pytest.mark.parametrize(
    ("start", "half_width"), [("fan_in", 0.5), ("xavier", 1.0), ("unit", 1.0), ("zero", 0.0)]
)
def test_starts_of_a_weight(start, half_width):
    weight = matrix(2, 4, start)
    assert (weight.shape, weight.scale) == ((2, 4), pytest.approx(half_width))


def test_frozen_is_stored_but_not_learned():
    weight = normal((2, 3))
    assert (weight.learned, weight.frozen().learned, weight.frozen().size) == (True, False, 6)
