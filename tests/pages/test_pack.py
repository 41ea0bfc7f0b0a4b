"""What is packed comes back."""

import numpy as np
import pytest

from glassformer.pages.pack import pack_array, unpack_array


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.float32([0.1, np.inf]), np.array(True)])
def test_what_is_packed_comes_back(array):
    back = unpack_array(pack_array(array))
    np.testing.assert_array_equal(back, array)
    assert back.shape == array.shape


def test_large_whole_numbers_are_not_cut():
    assert unpack_array(pack_array(np.array([2**40])))[0] == 2**40
    assert pack_array(np.array([2**20]))["dtype"] == "int32"
