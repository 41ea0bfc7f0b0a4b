"""The smallest singular values from the weights themselves: exact, or none."""

import numpy as np
import pytest

from glassformer.lens.compute.smallest import find_smallest_values
from glassformer.lens.matrix import Matrix

NOISE = 128 * 2.2e-16


def refined(weights: np.ndarray, count: int) -> np.ndarray | None:
    gram = weights.T @ weights
    matrix = Matrix("w", weights.shape, lambda rows, columns: weights[rows, columns])
    return find_smallest_values(matrix, gram, np.linalg.eigvalsh(gram), count, NOISE * gram.trace(), 1e-6)


def turned(values: np.ndarray, rows: int) -> np.ndarray:
    random = np.random.default_rng(0)
    left = np.linalg.qr(random.standard_normal((rows, len(values))))[0]
    return (left * values) @ np.linalg.qr(random.standard_normal((len(values), len(values))))[0]


@pytest.mark.parametrize("smallest", [1e-4, 1e-5, 1e-6])
def test_they_have_the_digits_that_squaring_loses(smallest: float) -> None:
    values = np.r_[np.linspace(1, 0.1, 60), smallest * np.array([3.0, 2.0, 1.0])]
    found = refined(turned(values, 90), 3)
    assert found is not None and np.allclose(found[-3:], values[-3:], rtol=1e-9)
    assert np.allclose(found, values[-len(found) :], rtol=1e-9)


@pytest.mark.parametrize("count", [0, 33])
def test_none_and_too_many_are_left_to_others(count: int) -> None:
    assert refined(turned(np.geomspace(1, 1e-4, 60), 60), count) is None


def test_what_cannot_be_told_apart_or_is_0_is_not_claimed() -> None:
    assert refined(turned(np.r_[np.ones(10), np.full(40, 1e-5)], 60), 3) is None  # others are as small
    assert refined(turned(np.r_[np.ones(20), np.zeros(2)], 30), 2) is None
    assert refined(np.diag([1.0, 1.0, 0.0]), 1) is None  # no inverse
