"""The board's pairs, and the filter that takes them out of whatever shapes a model."""

import random
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks import to_digits, to_numbers
from glassformer.tasks.board import (
    EDGE_CASES,
    can_be_on_board,
    draw_board_pairs,
    draw_random_pairs,
    hash_pairs,
    make_board_table,
    replace_board_pairs,
)

BOARD = list(draw_board_pairs())
X, Y = (to_digits(numbers, 10, 10) for numbers in zip(*BOARD, strict=True))
NUMBER = st.integers(0, 10**10 - 1)


def test_the_edge_cases_are_the_boards():
    nines = 9_999_999_999
    first = [(0, 0), (0, 1), (nines, 0), (nines, 1), (nines, nines), (5_000_000_000, 5_000_000_000)]
    last = [(1_111_111_111, 8_888_888_889), (1_234_567_890, 9_876_543_210), (nines, nines), (1, nines)]
    assert list(EDGE_CASES) == first + last


def test_the_random_pairs_are_the_boards():
    draw = random.Random(2025)
    expected = [(draw.randint(0, 9_999_999_999), draw.randint(0, 9_999_999_999)) for _ in range(10_000)]
    assert BOARD[:10] == list(EDGE_CASES)
    assert BOARD[10:] == expected
    assert (BOARD[10], BOARD[-1]) == ((2_395_527_356, 9_334_186_774), (4_210_807_827, 8_038_206_893))


def test_other_seeds_and_numbers_of_pairs():
    other = list(draw_board_pairs(seed=7, pairs=5))
    assert other[:10] == list(EDGE_CASES)
    assert len(other) == 15
    assert other[10:] == list(draw_random_pairs(7, 5)) != BOARD[10:15]
    assert all(0 <= number < 100 for pair in draw_random_pairs(7, 200, end=100) for number in pair)


def test_every_pair_of_the_board_is_flagged():
    assert can_be_on_board(X, Y).all()
    assert can_be_on_board(jnp.asarray(X), jnp.asarray(Y)).all()
    x, y = replace_board_pairs(X, Y, 10)
    assert set(zip(to_numbers(x, 10), to_numbers(y, 10), strict=True)) == {(7, 8)}
    assert not can_be_on_board(x, y).any()


def test_only_exact_pairs_need_be_flagged():
    """The table has a bit a hash, and hashes are spread: 10,009 different pairs set about 9,960 bits."""
    assert 9_900 < np.bitwise_count(make_board_table()).sum() <= 10_009
    x, y = np.random.default_rng(0).integers(0, 10, (2, 10, 200_000), np.int32)
    assert 0.008 < can_be_on_board(x, y).mean() < 0.01


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=20))
def test_numpy_and_jax_hash_alike(pairs):
    x, y = (to_digits(numbers, 10, 10) for numbers in zip(*pairs, strict=True))
    expected = hash_pairs(x, y)
    np.testing.assert_array_equal(np.asarray(jax.jit(hash_pairs)(x, y)), expected)
    assert expected.max() < 2**20


@given(st.integers(0, 999), st.integers(0, 999))
def test_zeros_in_front_change_nothing(a, b):
    short, long = (hash_pairs(to_digits([a], size, 10), to_digits([b], size, 10)) for size in (3, 10))
    assert short == long


def test_it_runs_inside_compiled_and_mapped_programs():
    steps = jnp.stack([jnp.asarray(X[:, :6]), jnp.asarray(Y[:, 20:26])])
    x, _ = jax.jit(jax.vmap(lambda x, y: replace_board_pairs(x, y, 10)))(steps, steps)
    np.testing.assert_array_equal(np.asarray(x), np.asarray(replace_board_pairs(steps, steps, 10)[0]))
    assert x.dtype == steps.dtype


def test_other_pairs_stay_as_they_are():
    x, y = np.random.default_rng(1).integers(0, 10, (2, 10, 1000), np.int8)
    kept = ~can_be_on_board(x, y)
    for before, after in zip((x, y), replace_board_pairs(x, y, 10), strict=True):
        np.testing.assert_array_equal(before[:, kept], after[:, kept])
        assert after.dtype == before.dtype


def test_neither_board_nor_hard_pairs_load_jax():
    code = "import sys, glassformer.tasks.board, glassformer.tasks.hard; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
