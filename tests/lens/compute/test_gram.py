"""The Gram matrix: panels, both precisions, and the bound on what float32 does to it."""

import ml_dtypes
import numpy as np
import pytest

from glassformer.lens.compute import gram
from glassformer.lens.compute.gram import compute_double_gram, compute_float_gram, looks_random
from glassformer.lens.matrix import Matrix


def matrix_of(weights: np.ndarray) -> Matrix:
    return Matrix("w", weights.shape, lambda rows, columns: weights[rows, columns])


@pytest.mark.parametrize("shape", [(1500, 70), (70, 1500), (40, 40)])
@pytest.mark.parametrize("block", [16, 33, 512])
def test_it_is_the_sum_of_products_whatever_the_blocks(
    shape: tuple[int, int], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram, "BLOCK", block)
    weights = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    exact = weights.astype(np.float64)
    truth = exact.T @ exact if shape[0] >= shape[1] else exact @ exact.T
    found = compute_double_gram(matrix_of(weights))
    assert np.allclose(found.matrix, truth, rtol=0, atol=1e-11) and np.array_equal(
        found.matrix, found.matrix.T
    )
    assert found.square == pytest.approx(np.sum(exact**2), rel=1e-13) and found.error == 0
    assert np.allclose(compute_float_gram(matrix_of(weights)).matrix, truth, rtol=0, atol=1e-2)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(3000, 300), (300, 900), (500, 60)])
def test_no_eigenvalue_is_further_off_than_the_bound(kind: type, shape: tuple[int, int]) -> None:
    for seed in range(3):
        weights = np.random.default_rng(seed).standard_normal(shape).astype(kind).astype(np.float32)
        found, truth = compute_float_gram(matrix_of(weights)), compute_double_gram(matrix_of(weights))
        off = np.abs(np.linalg.eigvalsh(found.matrix) - np.linalg.eigvalsh(truth.matrix)).max()
        assert 0 < off < found.error < 100 * off
        assert np.allclose(np.diag(found.matrix), np.diag(truth.matrix), rtol=1e-13)


def test_errors_that_are_not_noise_are_not_trusted() -> None:
    """Weights around a large mean: every product is rounded by its size, and errors have a direction."""
    weights = (1000 + np.random.default_rng(0).standard_normal((4000, 64))).astype(np.float32)
    found, truth = compute_float_gram(matrix_of(weights)), compute_double_gram(matrix_of(weights))
    off = np.abs(np.linalg.eigvalsh(found.matrix) - np.linalg.eigvalsh(truth.matrix)).max()
    assert found.error > off


def test_noise_is_told_from_weights_with_structure() -> None:
    random = np.random.default_rng(0)
    noise = random.standard_normal((900, 200))
    assert looks_random(noise) and looks_random(noise * np.geomspace(1, 1e3, 200))
    assert not looks_random(noise + random.standard_normal((900, 3)) @ random.standard_normal((3, 200)))
    assert looks_random(np.zeros((900, 200)))


def test_what_overflows_in_float32_is_not_trusted() -> None:
    assert compute_float_gram(matrix_of(np.full((100, 20), 1e25, np.float32))).error == np.inf
    weights = np.random.default_rng(0).standard_normal((100, 20)).astype(np.float32)
    weights[:, 3:5] *= 1e25  # between two columns that no probe is
    assert compute_float_gram(matrix_of(weights)).error == np.inf
