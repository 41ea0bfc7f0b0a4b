"""Whether the kernels agree: the measure, since a CPU has no kernels to ask."""

import numpy as np
import pytest

from tools.compare_kernels import Agreement, far


def test_the_worst_row_counts_by_its_own_largest_number():
    plain = np.array([[1.0, -2.0], [100.0, 0.0]])
    assert far(plain, plain) == 0
    assert far(plain + np.array([[0.5, 0.0], [1.0, 1.0]]), plain) == pytest.approx(0.25)


def test_a_loss_of_each_seed_is_a_row():
    assert far(np.array([1.0, 3.0]), np.array([1.0, 2.0])) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("loss", "slopes", "same", "close"),
    [
        (1e-6, 1e-5, True, True),
        (1e-6, 1e-5, False, False),
        (1e-6, 1e-2, True, False),
        (1.0, 0.0, True, False),
    ],
)
def test_what_is_close(loss, slopes, same, close):
    assert Agreement("glass-8", loss, slopes, same).is_close is close
    assert "glass-8" in str(Agreement("glass-8", loss, slopes, same))
