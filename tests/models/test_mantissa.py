"""Mantissa bits: the definition by hand, and rounding that keeps to it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.models.mantissa import count_mantissa_bits, round_mantissa

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def test_bits_by_hand():
    """glass-8's coarse values: 26 bits in total."""
    values = (20, 1 / 8, 24, 8.875, 14.5, 1 / 2, -18, -2.5)
    assert [count_mantissa_bits(value) for value in values] == [3, 1, 2, 7, 5, 1, 4, 3]
    assert [count_mantissa_bits(value) for value in (0.0, -0.0, 5e-324, 1.7976931348623157e308)] == [
        0,
        0,
        1,
        53,
    ]


def test_a_float32_has_at_most_24():
    random = np.random.default_rng(0).normal(size=200).astype(np.float32)
    assert max(count_mantissa_bits(float(value)) for value in random) == 24


@given(NUMBERS, st.integers(1, 53))
@settings(deadline=None, derandomize=True)
def test_a_rounded_number_has_no_more_bits_and_is_near(value, bits):
    rounded = round_mantissa(value, bits)
    if math.isfinite(rounded):
        assert count_mantissa_bits(rounded) <= bits
        assert abs(rounded - value) <= abs(value) * 2.0**-bits
    assert round_mantissa(value, 53) == value
    assert round_mantissa(-value, bits) == -rounded


def test_ends():
    assert round_mantissa(1.7976931348623157e308, 1) == math.inf
    assert round_mantissa(3.0, 0) == 0.0
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="has no mantissa"):
            count_mantissa_bits(bad)
