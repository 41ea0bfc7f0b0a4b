"""What spectra look like where nothing was learned: random matrices and random heads, of Frobenius norm 1.

>>> values = compute_random_values((64, 64))
>>> bool(abs((values**2).sum() - 1) < 1e-12), bool(values[0] < compute_random_edge((64, 64)))
(True, True)
"""

from functools import cache

import numpy as np
from jaxtyping import Complex, Float

_GRID = 4_000  # points of the quadrature
_DRAWS, _SEED = 8, 20_260  # random heads that are averaged


def compute_random_edge(shape: tuple[int, int]) -> float:
    """Where the singular values of a random matrix of Frobenius norm 1 end."""
    return float(shape[0] ** -0.5 + shape[1] ** -0.5)


@cache
def compute_random_values(shape: tuple[int, int]) -> Float[np.ndarray, "component"]:
    """Quantiles of the law of Marchenko and Pastur (1967) for singular values, falling."""
    short, long = sorted(shape)
    ratio = short / long
    low, high = 1 - ratio**0.5, 1 + ratio**0.5
    # sigma = middle + half cos(angle): the density's square roots at both ends become smooth
    angle = (np.arange(_GRID) + 0.5) * np.pi / _GRID
    squares = (low**2 + high**2) / 2 + (high**2 - low**2) / 2 * np.cos(angle)  # falling
    weight = np.sin(angle) ** 2 / np.maximum(squares, 1e-12)
    passed = (np.cumsum(weight) - weight / 2) / weight.sum()
    values = np.sqrt(np.interp((np.arange(short) + 0.5) / short, passed, squares))
    return np.asarray(values / np.linalg.norm(values))


@cache
def average_random_heads(
    size: int, width: int
) -> tuple[Float[np.ndarray, "component"], Float[np.ndarray, "component"]]:
    """Mean singular values, and mean magnitudes of the eigenvalues, of kernels with random weights."""
    random = np.random.default_rng(_SEED)
    drawn = [_compute_head_spectrum(random.normal(size=(2, size, width))) for _ in range(_DRAWS)]
    values, magnitudes = (np.mean([pair[part] for pair in drawn], axis=0) for part in (0, 1))
    return values, magnitudes


def _compute_head_spectrum(
    maps: Float[np.ndarray, "two dim width"],
) -> tuple[Float[np.ndarray, "component"], Float[np.ndarray, "component"]]:
    """Of A = left' right, from problems of the head's size: R of a QR keeps all that matters."""
    left, right = maps
    triangles = [np.asarray(np.linalg.qr(one.T, mode="r")) for one in (left, right)]
    corner = triangles[0] @ triangles[1].T
    values = np.linalg.svd(corner, compute_uv=False)
    eigenvalues: Complex[np.ndarray, dim] = np.linalg.eigvals(right @ left.T)
    norm = np.linalg.norm(values)
    return values / norm, np.sort(np.abs(eigenvalues))[::-1][: len(values)] / norm
