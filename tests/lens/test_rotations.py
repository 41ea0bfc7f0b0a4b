import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.layout import RopeLayout
from glassformer.lens.rotations import compute_rotation

HALVES, ADJACENT = RopeLayout((1.0, 0.3), "halves"), RopeLayout((1.0, 0.3), "adjacent")
ROPES = st.builds(
    RopeLayout,
    rates=st.lists(st.floats(0, 2), min_size=1, max_size=3).map(tuple),
    pairs=st.sampled_from(["halves", "adjacent"]),
    first=st.integers(0, 2),
)
PLACES = st.integers(-5000, 5000)


def as_complex(vector: np.ndarray, rope: RopeLayout, place: int) -> np.ndarray:
    """Pairs as complex numbers, each times exp(i place rate)."""
    count, turned = len(rope.rates), vector.copy()
    for index, rate in enumerate(rope.rates):
        pair = (index, index + count) if rope.pairs == "halves" else (2 * index, 2 * index + 1)
        one, other = (rope.first + dim for dim in pair)
        number = (vector[one] + 1j * vector[other]) * np.exp(1j * place * rate)
        turned[one], turned[other] = number.real, number.imag
    return turned


@given(ROPES, PLACES, st.integers(0, 100))
def test_pairs_turn_like_complex_numbers(rope, place, seed):
    vector = np.random.default_rng(seed).normal(size=9)
    assert compute_rotation(rope, place, 9) @ vector == pytest.approx(
        as_complex(vector, rope, place), abs=1e-9
    )


@given(ROPES, PLACES, PLACES)
def test_turns_add_up_and_keep_lengths(rope, one, other):
    product = compute_rotation(rope, one, 8) @ compute_rotation(rope, other, 8)
    assert product == pytest.approx(compute_rotation(rope, one + other, 8), abs=1e-9)
    turned = compute_rotation(rope, one, 8)
    assert turned.T @ turned == pytest.approx(np.eye(8), abs=1e-12)
    assert compute_rotation(rope, 0, 8).tolist() == np.eye(8).tolist()


@given(ROPES, st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_the_score_depends_on_the_distance_only(rope, query_place, key_place, shift):
    query, key = np.random.default_rng(0).normal(size=(2, 8))

    def score(i, j):
        return (compute_rotation(rope, i, 8) @ query) @ (compute_rotation(rope, j, 8) @ key)

    here = score(query_place, key_place)
    assert score(query_place + shift, key_place + shift) == pytest.approx(here, abs=1e-9)
    assert query @ compute_rotation(rope, key_place - query_place, 8) @ key == pytest.approx(here, abs=1e-9)


def test_which_dimensions_are_a_pair():
    assert np.argwhere(np.triu(compute_rotation(HALVES, 1, 4), 1)).tolist() == [[0, 2], [1, 3]]
    assert np.argwhere(np.triu(compute_rotation(ADJACENT, 1, 4), 1)).tolist() == [[0, 1], [2, 3]]


def test_dimensions_outside_the_pairs_stay():
    turned = compute_rotation(RopeLayout((1.0,), "halves", first=3), 2, 6)
    kept = [0, 1, 2, 5]
    assert turned[np.ix_(kept, kept)].tolist() == np.eye(4).tolist()


def test_too_small_a_head_is_one_sentence():
    with pytest.raises(UserError, match="need 5 dimensions of a head, but a head here has 4"):
        compute_rotation(RopeLayout((1.0, 0.1), "halves", first=1), 1, 4)
