"""Words of the command line that stand for values."""

import numpy as np
import pytest

from glassformer.commands.values import read_decimal, read_digits, read_long_decimal, read_pair
from glassformer.core.errors import UserError


def test_pairs():
    assert read_pair(" 57 68 ") == read_pair("57+68") == (57, 68)
    for text in ("57", "57+68+1", "a+b", "-1+2", ""):
        with pytest.raises(UserError):
            read_pair(text)


@pytest.mark.parametrize("read", [read_digits, read_decimal, read_long_decimal])
def test_integers_of_numpy_become_pythons(read):
    """Whose powers do not overflow."""
    assert type(read(np.int64(25))) is int
    assert read(np.int64(25)) == 25


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "5", np.int64(0), np.float32(2)])
def test_digits_are_counted_from_1(value):
    with pytest.raises(UserError, match="--digits must be at least 1, but it is"):
        read_digits(value)
    with pytest.raises(UserError, match="--digits must be between 1 and 200, but it is 201"):
        read_digits(201, 200)
