"""The exponent of a tail, found again."""

import numpy as np
import pytest

from glassformer.lens.compute.power_law import NO_FIT, SHORTEST, fit_power_law


def quantiles(alpha: float, count: int) -> np.ndarray:
    """Values whose shares are exactly those of a power law from 1 on."""
    return ((np.arange(count) + 0.5) / count) ** (-1 / (alpha - 1))


@pytest.mark.parametrize("alpha", [1.8, 2.5, 4.0])
def test_the_exponent_of_exact_quantiles_is_found(alpha: float) -> None:
    fit = fit_power_law(quantiles(alpha, 1500))
    assert fit.alpha == pytest.approx(alpha, rel=0.03) and fit.distance < 0.01 and fit.tail > 700


def test_what_lies_under_the_tail_does_not_count() -> None:
    tail = quantiles(2.5, 400)
    body = np.random.default_rng(0).uniform(0, 1, 600)
    fit = fit_power_law(np.concatenate([body, tail]))
    assert fit.alpha == pytest.approx(2.5, rel=0.05) and 300 < fit.tail < 480


def test_the_distance_is_that_of_the_definition() -> None:
    values = np.sort(np.random.default_rng(0).pareto(1.5, 60) + 1)[::-1]
    fit = fit_power_law(values)
    tail = values[: fit.tail]
    model = 1 - (tail[::-1] / tail[-1]) ** (1 - fit.alpha)
    below = np.arange(fit.tail) / fit.tail
    assert fit.distance == pytest.approx(max(np.max(model - below), np.max(below + 1 / fit.tail - model)))


def test_of_all_starts_the_nearest_fit_is_taken() -> None:
    values = np.sort(np.random.default_rng(1).lognormal(size=40))[::-1]
    best = min(distance_of(values[:tail]) for tail in range(SHORTEST, 41))
    assert fit_power_law(values).distance == pytest.approx(best)


def test_the_scale_changes_nothing() -> None:
    values = np.random.default_rng(0).pareto(2, 300) + 1
    assert fit_power_law(values * 1e6).alpha == pytest.approx(fit_power_law(values).alpha)


@pytest.mark.parametrize("values", [np.ones(50), np.zeros(50), np.arange(1.0, SHORTEST)])
def test_no_spread_or_too_few_values_have_no_fit(values: np.ndarray) -> None:
    assert fit_power_law(values) == NO_FIT


def distance_of(tail: np.ndarray) -> float:
    steep = len(tail) / np.sum(np.log(tail / tail[-1]))
    share, steps = (tail / tail[-1]) ** -steep, np.arange(len(tail)) / len(tail)
    return float(max(np.max(share - steps), np.max(steps + 1 / len(tail) - share)))
