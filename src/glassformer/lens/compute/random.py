"""Ranks of random matrices, without which "this matrix has the higher rank" is mostly its shape.

The singular values of a large random matrix follow Marchenko and Pastur's law (1967). With y = short / long,
the squares lie between (1 - sqrt(y))^2 and (1 + sqrt(y))^2:

>>> for shape in [(2048, 2048), (11008, 2048), (256, 2048)]:
...     print(round(compute_random_ranks(shape).eff_rank / min(shape), 4))
0.805
0.9754
0.9838
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from glassformer.lens.compute.statistics import compute_ranks
from glassformer.lens.results import Ranks

_NODES = 20_000  # of the quadrature: ranks are right to 1e-8, also for square matrices
# Short sides under which matrices are drawn: the law, which is for large ones, is off by 1% there, and the
# stable rank, which hangs on the largest value alone, by 7% (4% at 96).
SMALL = 48
_SMALL_DRAWS = 400  # random matrices whose ranks are averaged there
_KERNEL_DRAWS = 6  # of large heads: ranks vary by 0.5% from draw to draw, the stable rank by 3%
_SEED = 0


@lru_cache(maxsize=4096)
def compute_random_ranks(shape: tuple[int, int]) -> Ranks:
    """Ranks of a matrix of independent random numbers of this shape."""
    short, long = sorted(shape)
    return _simulate_random_ranks(short, long) if short < SMALL else integrate_marchenko_pastur(short, long)


def integrate_marchenko_pastur(short: int, long: int) -> Ranks:
    """The four ranks as integrals over the law's density."""
    ratio = short / long
    angle = (np.arange(_NODES) + 0.5) * np.pi / _NODES
    squares = 1 + ratio - 2 * np.sqrt(ratio) * np.cos(angle)
    density = np.sin(angle) ** 2 / squares
    density /= density.sum()
    sigma = np.sqrt(squares)
    mean = float(density @ sigma)
    return Ranks(
        eff_rank=short * mean * float(np.exp(-(density @ (sigma * np.log(sigma))) / mean)),
        eff_rank_energy=short * float(np.exp(-(density @ (squares * np.log(squares))))),
        stable_rank=short / (1 + ratio**0.5) ** 2,
        participation_ratio=short / (1 + ratio),
    )


def _simulate_random_ranks(short: int, long: int) -> Ranks:
    random = np.random.default_rng([_SEED, short, long])
    return _average_ranks(
        [_compute_singular_values(_sample_wishart_triangle(random, short, long)) for _ in range(_SMALL_DRAWS)]
    )


@lru_cache(maxsize=4096)
def compute_random_kernel_ranks(left_shape: tuple[int, int], right_shape: tuple[int, int]) -> Ranks:
    """Ranks of left' right for random maps of these shapes (head x width)."""
    random = np.random.default_rng([_SEED, *left_shape, *right_shape])
    draws = _KERNEL_DRAWS if min(*left_shape, *right_shape) >= SMALL else _SMALL_DRAWS
    return _average_ranks(
        [
            _compute_singular_values(
                _sample_random_root(random, left_shape).T @ _sample_random_root(random, right_shape)
            )
            for _ in range(draws)
        ]
    )


def _sample_random_root(
    random: np.random.Generator, shape: tuple[int, int]
) -> Float[np.ndarray, "head rank"]:
    """What a random map's rows are to each other, up to a rotation: no wide matrix is drawn."""
    head, width = shape
    return _sample_wishart_triangle(random, head, width) if head <= width else random.standard_normal(shape)


def _sample_wishart_triangle(
    random: np.random.Generator, head: int, width: int
) -> Float[np.ndarray, "head head"]:
    """The Cholesky factor of a Wishart matrix, drawn entry by entry (Bartlett 1933)."""
    lower = np.tril(random.standard_normal((head, head)), -1)
    np.fill_diagonal(lower, np.sqrt(random.chisquare(width - np.arange(head))))
    return lower


def _compute_singular_values(matrix: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "component"]:
    return np.asarray(np.linalg.svd(matrix, compute_uv=False))


def _average_ranks(spectra: list[Float[np.ndarray, "component"]]) -> Ranks:
    found = [compute_ranks(values) for values in spectra]
    return Ranks(*np.mean([list(vars(one).values()) for one in found], axis=0).tolist())
