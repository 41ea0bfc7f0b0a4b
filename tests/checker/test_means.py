"""The bound of a mean is no less than any mean that tokens and weights can make, and as tight as they allow."""

from fractions import Fraction

import numpy as np
import pytest

from glassformer.checker.means import WeightRanges

QUERIES, KEYS, TOKENS = 2, 3, 4


def draw_ranges(random, is_exact=False, extra=0.0):
    """Weights of keys by tokens, within ranges; each key can hold some token."""
    least = random.uniform(0.01, 1.0, (QUERIES, KEYS, TOKENS))
    most = least if is_exact else least * random.uniform(1.0, 1.5, least.shape)
    allowed = random.random(least.shape) < 0.7
    allowed[..., 0] = True
    zero = np.full(QUERIES, extra), np.full(QUERIES, 1.2 * extra)
    total = np.where(allowed, least, np.inf).min(2).sum(1) + zero[0]
    return WeightRanges(least, most, zero, total * (1 - 2.0**-40), allowed)


def list_means(ranges, value, query):
    """All means of a query, with weights at their ends, as exact fractions."""
    zeros = {Fraction(float(end[query])) for end in ranges.zero}
    found = [(Fraction(0), zero) for zero in zeros]
    for key in range(KEYS):
        tokens = np.flatnonzero(ranges.allowed[query, key])
        choices = [
            (Fraction(float(end[query, key, token])), Fraction(float(value[key, token])))
            for token in tokens
            for end in (ranges.least, ranges.most)
        ]
        found = list({(top + w * v, below + w) for top, below in found for w, v in set(choices)})
    return [top / below for top, below in found]


@pytest.mark.parametrize("extra", [0.0, 0.5])  # softmax, and softmax1 with its zero vector
@pytest.mark.parametrize("seed", range(4))
def test_no_mean_is_above_the_bound(seed, extra):
    random = np.random.default_rng(seed)
    ranges = draw_ranges(random, extra=extra)
    value = random.normal(size=(KEYS, TOKENS)) + random.choice([-3.0, 0.0, 3.0])
    bound = ranges.bound_mean(value)
    for query in range(QUERIES):
        best = max(list_means(ranges, value, query))
        assert best <= Fraction(float(bound[query]))
        assert float(best) >= bound[query] - 0.5 * np.ptp(value)


@pytest.mark.parametrize("extra", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_reached_where_weights_are_known(seed, extra):
    random = np.random.default_rng(10 + seed)
    drawn = draw_ranges(random, is_exact=True, extra=extra)
    ranges = WeightRanges(drawn.least, drawn.most, (drawn.zero[0],) * 2, drawn.least_total, drawn.allowed)
    value = random.normal(size=(KEYS, TOKENS))
    for query, bound in enumerate(ranges.bound_mean(value)):
        best = max(list_means(ranges, value, query))
        assert float(best) == pytest.approx(bound, abs=1e-9) and best <= Fraction(float(bound))


def test_any_guess_gives_a_bound():
    random = np.random.default_rng(5)
    ranges, value = draw_ranges(random, extra=0.5), random.normal(size=(KEYS, TOKENS))
    best = [max(list_means(ranges, value, query)) for query in range(QUERIES)]
    for guess in (-1e6, -1.0, 0.0, 1e-300, 0.7, 1e6):
        bound, _ = ranges.bound_by_guess(value, np.full(QUERIES, guess))
        assert all(one <= Fraction(float(b)) for one, b in zip(best, bound, strict=True))


def test_the_zero_vector_is_mixed_only_where_it_has_weight():
    ones, allowed = np.ones((1, 1, 1)), np.ones((1, 1, 1), bool)
    value = np.full((1, 1), -2.0)
    nothing, half = (np.zeros(1),) * 2, (np.ones(1),) * 2
    assert WeightRanges(ones, ones, nothing, np.ones(1), allowed).bound_mean(value) == pytest.approx(-2.0)
    assert WeightRanges(ones, ones, half, np.full(1, 2.0), allowed).bound_mean(value) == pytest.approx(-1.0)


def test_weights_that_may_be_nothing_leave_the_largest_value(precise):
    ranges = WeightRanges(
        np.zeros((1, 2, 1)),
        np.ones((1, 2, 1)),
        (np.zeros(1),) * 2,
        np.zeros(1),
        np.ones((1, 2, 1), bool),
    )
    bound = ranges.bound_mean(np.array([[1.0], [5.0]]))
    assert 5.0 <= bound[0] < 5.0 + 1e-9
