"""Intervals against SciPy's distribution and against coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from glassformer.core.share import MeasuredShare


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_clopper_and_pearsons(counts):
    hits, trials = counts
    share = MeasuredShare.of(hits, trials)
    low = beta.ppf(0.025, hits, trials - hits + 1) if hits else 0
    high = beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1
    assert (share.low, share.high) == pytest.approx((low, high), abs=1e-9)
    assert share.low <= share.value == hits / trials <= share.high
    assert share.positions == trials


def test_known_values():
    """For 10 of 10 the lower end is 0.025 ** (1/10); for 5 of 10 the textbook's 0.187 to 0.813."""
    assert MeasuredShare.of(10, 10) == MeasuredShare(1.0, pytest.approx(0.025**0.1), 1.0, 10)
    assert MeasuredShare.of(0, 10).high == pytest.approx(1 - 0.025**0.1)
    assert (MeasuredShare.of(5, 10).low, MeasuredShare.of(5, 10).high) == pytest.approx(
        (0.1871, 0.8129), abs=1e-4
    )


@pytest.mark.parametrize("truth", [0.02, 0.5, 0.97])
def test_the_interval_covers_the_truth_95_times_of_100(truth):
    chances = binom.pmf(np.arange(41), 40, truth)
    shares = [MeasuredShare.of(hits, 40) for hits in range(41)]
    covered = sum(c for c, share in zip(chances, shares, strict=True) if share.low <= truth <= share.high)
    assert covered >= 0.95


def test_no_trials_say_nothing():
    share = MeasuredShare.of(0, 0)
    assert math.isnan(share.value)
    assert (share.low, share.high, share.positions) == (0.0, 1.0, 0)
