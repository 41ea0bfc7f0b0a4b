"""Leading directions against LAPACK's singular vectors."""

import numpy as np
import pytest

from glassformer.lens.compute import leading
from glassformer.lens.compute.singular import compute_matrix_spectrum
from glassformer.lens.matrix import Matrix


def directions(weights: np.ndarray, stream: str, top: int) -> np.ndarray:
    matrix = Matrix("w", weights.shape, lambda rows, columns: weights[rows, columns])
    found = compute_matrix_spectrum(matrix, stream, top).vectors
    assert found is not None and found.dtype == np.float32
    return found


def decaying(shape: tuple[int, int], rate: float = 0.9) -> np.ndarray:
    random, short = np.random.default_rng(0), min(shape)
    left, right = (np.linalg.qr(random.standard_normal((side, short)))[0] for side in shape)
    return (left * rate ** np.arange(short)) @ right.T


@pytest.mark.parametrize("is_krylov", [False, True])
@pytest.mark.parametrize("shape", [(200, 120), (120, 200), (150, 150)])
@pytest.mark.parametrize("stream", ["in", "out"])
def test_they_are_the_singular_vectors_on_the_streams_side(
    shape: tuple[int, int], stream: str, is_krylov: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "SMALL", 0 if is_krylov else 1000)
    weights = decaying(shape)
    left, _, right = np.linalg.svd(weights, full_matrices=False)
    truth = (right if stream == "in" else left.T)[:6]
    found = directions(weights, stream, 6)
    assert found.shape == truth.shape
    assert np.abs(np.abs(np.sum(found * truth, axis=1)) - 1).max() < 1e-4
    assert np.abs(found @ found.T - np.eye(6)).max() < 1e-5


def test_a_flat_spectrum_gives_nearly_the_most_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leading, "SMALL", 0)
    weights = np.random.default_rng(0).standard_normal((900, 600))
    found = directions(weights, "in", 8)
    most = np.sum(np.linalg.svd(weights, compute_uv=False)[:8] ** 2)
    assert np.sum((weights @ found.T) ** 2) > 0.99 * most


def test_they_are_the_same_every_time() -> None:
    weights = np.random.default_rng(0).standard_normal((500, 420))
    assert np.array_equal(directions(weights, "out", 5), directions(weights, "out", 5))


def test_no_more_than_the_rank_are_given() -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal((60, 2)) @ random.standard_normal((2, 500))
    assert directions(weights, "in", 16).shape == (2, 500)
    assert directions(np.zeros((4, 7)), "out", 16).shape == (0, 4)


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_weights_beyond_float32_have_the_same_directions(size: float) -> None:
    """Gains that are folded in are float64, and so is the product."""
    weights = decaying((60, 40))
    assert np.allclose(directions(weights * size, "out", 5), directions(weights, "out", 5), atol=1e-5)
