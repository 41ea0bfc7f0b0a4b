"""All numbers about one spectrum.

Three equal singular values use three directions in every convention:

>>> compute_spectrum_statistics(np.array([2.0, 2.0, 2.0, 0.0])).ranks
Ranks(eff_rank=3.0, eff_rank_energy=3.0, stable_rank=3.0, participation_ratio=3.0)
"""

import numpy as np
from jaxtyping import Float

from glassformer.lens.compute.power_law import NO_FIT, fit_power_law
from glassformer.lens.results import PERCENTILES, SHARES, Ranks, Statistics

_DIGITS = 12  # of the ranks: what lies beyond is rounding


def compute_spectrum_statistics(values: Float[np.ndarray, "component"], power_law: bool = True) -> Statistics:
    """Ranks, norm, condition, components, percentiles and the power law of falling singular values."""
    largest, smallest = float(values[0]), float(values[-1])
    relative = values / (largest or 1.0)  # so that no square overflows
    fit = fit_power_law(relative**2) if power_law else NO_FIT
    return Statistics(
        ranks=compute_ranks(values),
        frobenius=largest * float(np.linalg.norm(relative)),
        largest=largest,
        smallest=smallest,
        condition=largest / smallest if smallest > 0 else float("inf"),
        components=_count_energy_components(values),
        percentiles=tuple(np.percentile(values, PERCENTILES).tolist()),
        alpha=fit.alpha,
        alpha_tail=fit.tail,
        alpha_distance=fit.distance,
    )


def compute_ranks(values: Float[np.ndarray, "component"]) -> Ranks:
    """Four conventions; all 0 for a matrix of zeros."""
    if values[0] <= 0:
        return Ranks(0.0, 0.0, 0.0, 0.0)
    relative = values / values[0]
    energy = relative**2
    return Ranks(
        eff_rank=_compute_entropy_rank(relative),
        eff_rank_energy=_compute_entropy_rank(energy),
        stable_rank=float(energy.sum()),
        participation_ratio=float(energy.sum() ** 2 / (energy**2).sum()),
    )


def _compute_entropy_rank(weights: Float[np.ndarray, "component"]) -> float:
    """exp of the entropy of weights / sum(weights)."""
    share = weights[weights > 0] / weights.sum()
    return round(float(np.exp(-np.sum(share * np.log(share)))), _DIGITS)


def _count_energy_components(values: Float[np.ndarray, "component"]) -> tuple[int, ...]:
    """How many leading ones hold SHARES of the energy; 0 for a matrix of zeros."""
    if values[0] <= 0:
        return tuple(0 for _ in SHARES)
    energy = np.cumsum((values / values[0]) ** 2)
    wanted = np.array(SHARES) / 100 * energy[-1]
    return tuple(int(place) + 1 for place in np.searchsorted(energy, wanted * (1 - 1e-12)))
