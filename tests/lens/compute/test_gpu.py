"""The GPU's code on JAX's CPU: the same numbers; and the sentence where there is no GPU."""

from collections.abc import Iterator

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.lens.compute import gpu
from glassformer.lens.compute.singular import compute_matrix_spectrum
from glassformer.lens.matrix import Matrix


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import jax

    monkeypatch.setattr(gpu, "find_gpu", lambda: jax.devices("cpu")[0])
    yield
    assert not jax.config.jax_enable_x64


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("stream", ["in", "out"])
def test_it_finds_what_the_cpu_finds(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "PANEL", 500)
    weights = np.random.default_rng(0).standard_normal((30, 70)).astype(np.float32)
    matrix = Matrix("w", weights.shape, lambda rows, columns: weights[rows, columns])
    here, there = (
        compute_matrix_spectrum(matrix, stream, 3),
        compute_matrix_spectrum(matrix, stream, 3, "gpu"),
    )
    assert np.allclose(here.values, there.values, rtol=1e-12) and there.precision == "float64 Gram"
    assert np.allclose(np.abs(np.sum(here.vectors * there.vectors, axis=1)), 1, atol=1e-5)


@pytest.mark.usefixtures("on_cpu")
def test_what_the_gram_matrix_cannot_hold_goes_to_qr() -> None:
    weights = np.diag(np.r_[np.ones(6), np.full(40, 1e-6)])
    matrix = Matrix("w", weights.shape, lambda rows, columns: weights[rows, columns])
    found = compute_matrix_spectrum(matrix, "in", 2, "gpu")
    assert found.precision == "float64 QR" and np.allclose(found.values, np.diag(weights), rtol=1e-6)


def test_without_a_gpu_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    def none(platform: str) -> None:
        raise RuntimeError(f"no {platform}")

    monkeypatch.setattr(jax, "devices", none)
    gpu.find_gpu.cache_clear()
    with pytest.raises(UserError, match="--device gpu needs a GPU that JAX sees, but it sees none"):
        gpu.find_gpu()
