from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lens.change_points import (
    PENALTY,
    SHORTEST,
    compute_piece_costs,
    estimate_noise,
    find_change_points,
)


def levels(*pieces: tuple[float, int], seed: int = 0, spread: float = 0.1) -> np.ndarray:
    exact = np.concatenate([np.full(length, level) for level, length in pieces])
    return exact + spread * np.random.default_rng(seed).normal(size=len(exact))


def cheapest_by_hand(series: np.ndarray) -> tuple[int, ...]:
    """Every split there is."""
    n, noise = len(series), estimate_noise(series)
    best = (np.inf, ())
    for count in range(n):
        for starts in combinations(range(1, n), count):
            pieces = np.split(series, starts)
            if min(map(len, pieces)) >= SHORTEST:
                squares = sum(((piece - piece.mean()) ** 2).sum() for piece in pieces)
                best = min(best, (squares / noise**2 + PENALTY * count * np.log(n), starts))
    return best[1]


@pytest.mark.parametrize(
    ("pieces", "starts"),
    [
        ([(0.0, 6), (1.0, 6)], (6,)),
        ([(0.0, 2), (2.0, 10)], (2,)),
        ([(0.0, 12), (1.0, 12), (0.0, 12)], (12, 24)),
        ([(5.0, 20), (4.0, 40), (7.0, 20)], (20, 60)),
    ],
)
def test_levels_are_found(pieces, starts):
    assert find_change_points(levels(*pieces)) == starts


@pytest.mark.parametrize("seed", range(12))
def test_the_split_is_the_cheapest_of_all(seed):
    random = np.random.default_rng(seed)
    series = random.normal(size=11) + np.where(np.arange(11) < random.integers(2, 9), 0, random.normal() * 4)
    assert find_change_points(series) == cheapest_by_hand(series)


@pytest.mark.parametrize(("size", "most"), [(8, 0.2), (36, 0.1), (80, 0.06)])
def test_noise_seldom_changes(size, most):
    random = np.random.default_rng(0)
    assert np.mean([len(find_change_points(random.normal(size=size))) > 0 for _ in range(300)]) < most


@pytest.mark.parametrize("series", [[], [1.0], [1.0, 2.0, 3.0], [4.0] * 9])
def test_nothing_to_split(series):
    assert find_change_points(np.array(series)) == ()


def test_exact_levels_without_noise_are_found():
    assert find_change_points(np.array([1.0] * 5 + [2.0] * 5 + [1.5] * 5)) == (5, 10)


def test_costs_of_pieces_by_hand():
    costs = compute_piece_costs(np.array([1.0, 3.0, 8.0]))
    assert costs[0, 2] == pytest.approx(2.0) and costs[0, 3] == pytest.approx(26.0) and costs[2, 3] == 0.0


@given(
    st.lists(st.integers(-20, 20), min_size=4, max_size=20),
    st.integers(-100, 100),
    st.sampled_from([0.5, 2, 8]),
)
def test_unit_and_zero_do_not_matter(values, shift, scale):
    series = np.array(values, float)
    starts = find_change_points(series)
    assert find_change_points(series * scale + shift) == starts
    assert all(
        stop - start >= SHORTEST for start, stop in zip((0, *starts), (*starts, len(values)), strict=True)
    )
