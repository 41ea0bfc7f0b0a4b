"""Random spectra have the ranks of random matrices."""

import numpy as np
import pytest

from glassformer.lens.compute.random import compute_random_kernel_ranks, compute_random_ranks
from glassformer.lens.figures.random_spectra import (
    average_random_heads,
    compute_random_edge,
    compute_random_values,
)
from tests.lens.figures.synthetic import ranks_of


@pytest.mark.parametrize("shape", [(300, 300), (256, 2048), (1100, 200)])
def test_random_values_have_the_ranks_of_a_random_matrix(shape):
    values, expected = compute_random_values(shape), compute_random_ranks(shape)
    found = ranks_of(values)
    assert found.eff_rank == pytest.approx(expected.eff_rank, rel=2e-3)
    assert found.participation_ratio == pytest.approx(expected.participation_ratio, rel=2e-3)
    assert 0.98 < values[0] / compute_random_edge(shape) < 1


def test_a_random_head_has_the_ranks_of_a_random_kernel():
    values, magnitudes = average_random_heads(48, 300)
    assert ranks_of(values).eff_rank == pytest.approx(
        compute_random_kernel_ranks((48, 300), (48, 300)).eff_rank, rel=0.02
    )
    assert np.sum(magnitudes**2) < np.sum(values**2) * (1 + 1e-9)  # Schur: equal for normal matrices only


def test_a_head_wider_than_the_model_has_the_model_s_rank():
    values, magnitudes = average_random_heads(6, 4)
    assert len(values) == len(magnitudes) == 4
