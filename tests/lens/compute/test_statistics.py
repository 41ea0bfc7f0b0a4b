"""Numbers about a spectrum, by hand."""

import numpy as np
import pytest

from glassformer.lens.compute.statistics import compute_spectrum_statistics
from glassformer.lens.results import Ranks


def test_two_values_by_hand() -> None:
    found = compute_spectrum_statistics(np.array([3.0, 1.0]), power_law=False)
    assert found.ranks.eff_rank == pytest.approx(np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25))))
    assert found.ranks.eff_rank_energy == pytest.approx(np.exp(-(0.9 * np.log(0.9) + 0.1 * np.log(0.1))))
    assert found.ranks.stable_rank == pytest.approx(10 / 9)
    assert found.ranks.participation_ratio == pytest.approx(100 / 82)
    assert (found.frobenius, found.largest, found.smallest, found.condition) == (
        pytest.approx(10**0.5),
        3,
        1,
        3,
    )
    assert found.components == (1, 1, 1, 2, 2)  # 90% is reached by the first alone
    assert found.percentiles == pytest.approx((1.1, 1.5, 2.0, 2.5, 2.9))
    assert np.isnan(found.alpha) and found.alpha_tail == 0


def test_zeros_count_for_nothing() -> None:
    found = compute_spectrum_statistics(np.zeros(4))
    assert found.ranks == Ranks(0.0, 0.0, 0.0, 0.0) and found.components == (0,) * 5
    assert found.condition == np.inf


def test_components_are_counted_over_the_energy() -> None:
    assert compute_spectrum_statistics(np.ones(200)).components == (100, 150, 180, 190, 198)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_ranks_do_not_depend_on_the_scale(scale: float) -> None:
    values = np.linspace(5, 1, 30)
    found = compute_spectrum_statistics(values * scale, power_law=False).ranks
    assert vars(found) == pytest.approx(vars(compute_spectrum_statistics(values).ranks), rel=1e-12)
