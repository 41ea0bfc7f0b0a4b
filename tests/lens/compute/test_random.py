"""Ranks of random matrices: known numbers, and simulation."""

import numpy as np
import pytest

from glassformer.lens.compute.random import (
    SMALL,
    compute_random_kernel_ranks,
    compute_random_ranks,
    integrate_marchenko_pastur,
)
from glassformer.lens.compute.statistics import compute_ranks


def simulate(make: object, draws: int) -> dict[str, float]:
    found = [
        vars(compute_ranks(np.linalg.svd(make(np.random.default_rng(seed)), compute_uv=False)))
        for seed in range(draws)
    ]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


@pytest.mark.parametrize(
    ("shape", "share"), [((2048, 2048), 0.8050), ((11008, 2048), 0.9754), ((256, 2048), 0.9838)]
)
def test_the_known_shares(shape: tuple[int, int], share: float) -> None:
    assert compute_random_ranks(shape).eff_rank / min(shape) == pytest.approx(share, abs=5e-5)
    assert compute_random_ranks(shape) == compute_random_ranks(shape[::-1])


@pytest.mark.parametrize("shape", [(160, 160), (400, 120)])
def test_the_law_agrees_with_simulation(shape: tuple[int, int]) -> None:
    truth = simulate(lambda random: random.standard_normal(shape), 6)
    found = vars(compute_random_ranks(shape))
    assert found.pop("stable_rank") == pytest.approx(
        truth.pop("stable_rank"), rel=0.06
    )  # the edge is less sharp
    assert found == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize("shape", [(1, 9), (3, 5), (8, 8), (20, 40)])
def test_small_matrices_are_simulated(shape: tuple[int, int]) -> None:
    truth = simulate(lambda random: random.standard_normal(shape), 400)
    assert vars(compute_random_ranks(shape)) == pytest.approx(truth, rel=0.03)


def test_law_and_simulation_meet() -> None:
    below, above = compute_random_ranks((SMALL - 1, 200)), integrate_marchenko_pastur(SMALL - 1, 200)
    assert below.eff_rank == pytest.approx(above.eff_rank, rel=0.005)
    assert below.stable_rank == pytest.approx(above.stable_rank, rel=0.08)


@pytest.mark.parametrize("shapes", [((16, 90), (16, 90)), ((5, 3), (5, 3)), ((64, 150), (64, 150))])
def test_kernels_agree_with_dense_ones(shapes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    def dense(random: np.random.Generator) -> np.ndarray:
        return random.standard_normal(shapes[0]).T @ random.standard_normal(shapes[1])

    assert vars(compute_random_kernel_ranks(*shapes)) == pytest.approx(
        simulate(dense, 60 if shapes[0][0] < 20 else 8), rel=0.05
    )
    assert compute_random_kernel_ranks(*shapes) is compute_random_kernel_ranks(*shapes)
