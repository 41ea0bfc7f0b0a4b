"""The identities catch what is wrong and let rounding pass."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.compute.checks import check_eigenvalues, check_energy


def test_rounding_passes() -> None:
    check_energy("w", np.array([3.0, 4.0]), 25.0 * (1 + 1e-12))
    check_eigenvalues("h", np.array([1 + 1e-12 + 2j, 1 - 2j]), np.array([[1.0, 2.0], [-2.0, 1.0]]))
    check_energy("w", np.zeros(3), 0.0)


@pytest.mark.parametrize("square", [25.0001, 24.9999, np.nan, 0.0])
def test_another_sum_of_squares_does_not(square: float) -> None:
    with pytest.raises(UserError, match="the spectrum of w is wrong: its squares add up to 25, but"):
        check_energy("w", np.array([3.0, 4.0]), square)


def test_another_trace_does_not() -> None:
    with pytest.raises(UserError, match="the eigenvalues of h are wrong"):
        check_eigenvalues("h", np.array([1.0 + 0j, 1.001]), np.eye(2))
