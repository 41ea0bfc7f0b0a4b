"""Each hard distribution has what its name says, for numbers of any length."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from glassformer.tasks import to_numbers
from glassformer.tasks.hard import HARD, draw_hard_pairs

COUNT = 3_000
DIGITS = (1, 2, 5, 10, 13)


def drawn(name, digits, seed=0):
    return HARD[name](np.random.default_rng(seed), COUNT, digits, 10)


def length(number):
    return len(str(number)) if number else 0


@pytest.mark.parametrize(("name", "digits"), list(itertools.product(HARD, DIGITS)))
def test_pairs_are_digits_and_the_generator_decides(name, digits):
    first, again, other = (drawn(name, digits, seed) for seed in (0, 0, 1))
    for part in first:
        assert (part.shape, part.dtype) == ((digits, COUNT), np.int32)
        assert 0 <= part.min() <= part.max() <= 9
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("digits", DIGITS)
def test_runs_of_nines(digits):
    x, y = drawn("runs_of_nines", digits)
    assert ((x == 9).any(0) | (y == 9).any(0)).all()
    pairs = set(zip(to_numbers(x, 10), to_numbers(y, 10), strict=True))
    assert any(b == 0 for _, b in pairs) and any(a == 0 for a, _ in pairs)
    if 2 <= digits <= 10:  # 5999999999 + 0 and its like: a digit, then nines to the end
        assert {(a % 10 ** (digits - 1), b) for a, b in pairs} >= {(10 ** (digits - 1) - 1, 0)}


@pytest.mark.parametrize("digits", DIGITS)
def test_sums_8_to_10(digits):
    x, y = drawn("sums_8_to_10", digits)
    shares = [((x + y) == total).mean() for total in (8, 9, 10)]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.03)
    assert set(np.unique(x)) == set(range(10))


@pytest.mark.parametrize("digits", DIGITS)
def test_digits_0189(digits):
    for part in drawn("digits_0189", digits):
        assert set(np.unique(part)) == {0, 1, 8, 9}


@pytest.mark.parametrize("digits", DIGITS)
def test_ripple_carries(digits):
    """In every pair some column carries by itself; in most, columns of nine then hand the carry on."""
    x, y = drawn("ripple_carries", digits)
    carries = x + y >= 10
    assert carries.any(0).all()
    handed_on = (x + y == 9)[1:] & carries[:-1]
    if digits > 1:
        assert handed_on.any(0).mean() > 0.4
    if digits == 10:
        whole = (carries[0] & (x + y == 9)[1:].all(0)).sum()
        assert whole > 50  # the carry goes from the units to the top


@pytest.mark.parametrize("digits", DIGITS)
def test_complements(digits):
    x, y = drawn("complements", digits)
    sums = {a + b for a, b in zip(to_numbers(x, 10), to_numbers(y, 10), strict=True)}
    nines, tens = ({10**size - less for size in range(1, digits + 1)} for less in (1, 0))
    assert sums - {0} <= nines | tens  # 0 + 0 where the complement of 0 would have a digit too many
    assert nines <= sums and tens <= sums


@pytest.mark.parametrize("digits", DIGITS)
def test_repeated_digits(digits):
    for part in drawn("repeated_digits", digits):
        texts = {str(number) for number in to_numbers(part, 10)}
        assert all(len(set(text)) == 1 for text in texts)
        assert texts <= {"0", *(digit * size for digit in "123456789" for size in range(1, digits + 1))}
        assert {str(digit) * digits for digit in range(1, 10)} <= texts


@pytest.mark.parametrize("digits", DIGITS)
def test_unequal_lengths(digits):
    x, y = drawn("unequal_lengths", digits)
    lengths = {(length(a), length(b)) for a, b in zip(to_numbers(x, 10), to_numbers(y, 10), strict=True)}
    assert lengths == {(a, b) for a in range(digits + 1) for b in range(digits + 1) if a != b}


def test_all_kinds_in_equal_shares():
    x, y = draw_hard_pairs(np.random.default_rng(0), 7_000, 4, 10)
    assert x.shape == y.shape == (4, 7_000)
    sums = np.isin(x + y, (8, 9, 10)).all(0)
    assert sums[1000:2000].all() and not sums[2000:3000].all()
    for count in (0, 1, 6, 13):
        assert draw_hard_pairs(np.random.default_rng(0), count, 4, 10)[0].shape == (4, count)


def test_every_kind_says_what_it_is_with_an_example():
    for draw in HARD.values():
        assert " + " in draw.__doc__.split(": ")[-1]


def test_the_documentation_shows_every_kind_with_the_same_example():
    rows = (Path(__file__).parents[2] / "docs" / "testing.md").read_text().splitlines()
    shown = {row.split("`")[1]: row.split(" | ")[-1].rstrip(" |") for row in rows if row.startswith("| `")}
    assert shown == {name: draw.__doc__.split(": ")[-1].rstrip(".") for name, draw in HARD.items()}
