import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lens.trends import (
    FEWEST,
    LEVEL,
    average_thirds,
    choose_course,
    find_two_line_turn,
    fit_least_squares,
    mann_kendall,
    measure_trend,
    score_rising_pairs,
    theil_sen,
)

SIZES = (6, 8, 12, 24, 36, 80)
TURN_SIZES = (8, 12, 24, 36, 80)


def noise(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_monotone_series_is_found(size, sign):
    found = measure_trend(sign * (np.linspace(0, 1, size) + 0.05 * noise(size)))
    assert found.label == found.tested == ("rising" if sign > 0 else "falling")
    assert found.p_value < LEVEL and np.sign(found.slope) == sign


@pytest.mark.parametrize("size", TURN_SIZES)
@pytest.mark.parametrize(("sign", "label"), [(1, "U-shape"), (-1, "inverted U")])
@pytest.mark.parametrize("turn", [-0.2, 0.0, 0.2])
def test_a_turn_is_found(size, sign, label, turn):
    found = measure_trend(sign * ((np.linspace(-1, 1, size) - turn) ** 2 + 0.03 * noise(size)))
    assert found.tested == label and found.p_value < LEVEL


def test_most_turns_of_six_layers_are_found():
    place = np.linspace(-1, 1, 6)
    found = [measure_trend(place**2 + 0.05 * noise(6, seed)).tested == "U-shape" for seed in range(100)]
    assert sum(found) > 60


@pytest.mark.parametrize("size", [5, 6, 9, 12, 36])
def test_noise_has_a_trend_about_once_in_twenty(size):
    draws = 600
    labels = Counter(measure_trend(noise(size, seed)).tested for seed in range(draws))
    assert 0.92 < labels["none"] / draws < 0.99


def test_heavy_tails_make_no_trend():
    random = np.random.default_rng(0)
    labels = Counter(measure_trend(random.standard_cauchy(24)).tested for _ in range(400))
    assert labels["none"] > 0.92 * 400


@pytest.mark.parametrize("size", [12, 36, 80])
def test_a_curve_that_levels_off_does_not_turn(size):
    place = np.linspace(0, 1, size)
    turns = [
        find_two_line_turn(-np.exp(-8 * place) + 0.03 * noise(size, seed))[1] < LEVEL for seed in range(150)
    ]
    assert np.mean(turns) < 0.1


def test_one_odd_layer_makes_no_trend():
    series = np.tile([1.0, 2.0, 1.5], 10)
    series[0] = -1000.0
    assert measure_trend(series).tested == "none"


def test_few_layers_are_not_judged():
    few = measure_trend(np.arange(FEWEST - 1.0))
    assert few.tested == "too few layers" and np.isnan(few.p_value) and few.slope == 1.0
    assert measure_trend(np.arange(float(FEWEST))).tested == "rising"


@pytest.mark.parametrize("layers", [12, 30])
def test_constant_series_have_no_trend(layers):
    flat = measure_trend(np.full(layers, 3.0))
    assert (flat.tested, flat.p_value, flat.slope, flat.label) == ("none", 1.0, 0.0, "none")


def test_mann_kendall_counts_all_orders():
    orders = [np.array(order, float) for order in permutations(range(5))]
    scores = [abs(score_rising_pairs(order)) for order in orders]
    for order, score in zip(orders, scores, strict=True):
        assert mann_kendall(order) == pytest.approx(np.mean([one >= score for one in scores]))


@pytest.mark.parametrize("layers", [100, 200])
def test_the_exact_count_meets_the_normal_approximation(layers):
    series = noise(layers, 3) + 0.008 * np.arange(layers)
    variance = layers * (layers - 1) * (2 * layers + 5) / 18
    normal = math.erfc((abs(score_rising_pairs(series)) - 1) / math.sqrt(2 * variance))
    assert mann_kendall(series) == pytest.approx(normal, abs=0.001)
    assert mann_kendall(np.arange(float(layers))) < 1e-9


def test_ties_lower_the_variance_by_hand():
    series = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])  # score 12, variance (6*5*17 - 3*2*1*9) / 18
    from scipy.special import erfc

    assert mann_kendall(series) == pytest.approx(erfc(11 / np.sqrt(2 * (510 - 54) / 18)))


@pytest.mark.parametrize("layers", [4, 9, 36])
def test_a_fitted_line_has_the_p_value_of_scipy(layers):
    from scipy.stats import linregress

    place, series = np.arange(float(layers)), noise(layers, 5)
    coefficients, p_values = fit_least_squares(np.stack([np.ones(layers), place], axis=1), series)
    line = linregress(place, series)
    assert coefficients == pytest.approx([line.intercept, line.slope])
    assert p_values[1] == pytest.approx(line.pvalue)


def test_the_slope_is_that_of_scipy():
    from scipy.stats import theilslopes

    for layers in (2, 7, 40):
        assert theil_sen(noise(layers, 4)) == theilslopes(noise(layers, 4)).slope


def test_thirds_are_split_as_published():
    assert average_thirds(np.arange(36.0)) == (5.5, 17.5, 29.5)
    assert average_thirds(np.arange(7.0)) == (1.0, 3.5, 5.5)
    assert average_thirds(np.arange(2.0)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("thirds", "course"),
    [
        ((1, 2, 3), "rising"),
        ((3, 2, 1), "falling"),
        ((2, 1, 3), "U-shape"),
        ((1, 3, 2), "inverted U"),
        ((1, 1, 2), "none"),
        ((1, 2), "none"),
        ((1,), "none"),
    ],
)
def test_the_course_of_three_means(thirds, course):
    assert choose_course(thirds) == course


def test_the_slope_ignores_one_odd_layer():
    series = 2.0 * np.arange(9)
    series[4] = 1e6
    assert theil_sen(series) == 2.0


@given(st.lists(st.integers(-50, 50), min_size=FEWEST, max_size=30))
def test_upside_down_is_the_mirrored_label(values):
    mirrored = {"rising": "falling", "U-shape": "inverted U"}
    mirrored |= {other: one for one, other in mirrored.items()}
    one, other = (measure_trend(sign * np.array(values, float)) for sign in (1, -1))
    assert other.tested == mirrored.get(one.tested, one.tested)
    assert other.p_value == pytest.approx(one.p_value, abs=1e-9) and 0 <= one.p_value <= 1


@given(st.lists(st.integers(-50, 50), min_size=FEWEST, max_size=30))
def test_labels_see_the_order_only(values):
    series = np.array(values, float)
    assert measure_trend(series).tested == measure_trend(np.sinh(series / 10)).tested
