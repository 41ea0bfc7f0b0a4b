"""Tests of success rates: known p-values, and Holm's correction as its definition says."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from tools import rate_differences
from tools.rate_differences import Successes, compare_pairs, compare_with_base, correct_by_holm, find_chance


def test_examples():
    assert doctest.testmod(rate_differences).failed == 0


def test_chances_of_the_docstring():
    assert find_chance(Successes(172, 1024), Successes(117, 1024)) == pytest.approx(0.00059, abs=5e-6)
    assert find_chance(Successes(8, 1024), Successes(4, 1024)) == pytest.approx(0.386, abs=5e-4)


def test_three_of_three_against_none_of_three():
    """Of the 20 ways to choose 3 of 6, two are as extreme as that."""
    assert find_chance(Successes(3, 3), Successes(0, 3)) == pytest.approx(2 / 20)


@given(st.integers(0, 12), st.integers(0, 12))
def test_fisher_by_its_definition(one, other):
    chances = [float(hypergeom.pmf(k, 24, one + other, 12)) for k in range(13)]
    expected = sum(p for p in chances if p <= chances[one] * (1 + 1e-7))
    assert find_chance(Successes(one, 12), Successes(other, 12)) == pytest.approx(min(1.0, expected))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm(chances):
    corrected = correct_by_holm(chances)
    assert all(p <= one <= 1 for p, one in zip(chances, corrected, strict=True))
    assert min(corrected) == min(1.0, len(chances) * min(chances))
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    assert [corrected[place] for place in order] == sorted(corrected)


def test_a_difference_has_the_sign_of_the_variant():
    base, worse = Successes(170, 1000), Successes(0, 1000)
    (found,) = compare_with_base(base, [worse])
    assert found.value == -0.17 and found.is_supported and found.corrected == found.p
    assert compare_pairs([(base, worse)])[0].value == 0.17
    assert not compare_with_base(base, [Successes(160, 1000)])[0].is_supported
