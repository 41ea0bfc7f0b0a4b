"""Words for numbers: nothing that is nearly all is written as all."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.share import MeasuredShare
from glassformer.core.words import (
    format_count,
    format_decimals,
    format_exponent,
    format_interval,
    format_large_count,
    format_percent,
    format_share,
    format_significant,
    format_stored_share,
    join_words,
)


def test_shares_never_round_to_nothing_or_all() -> None:
    assert [format_percent(share) for share in (0.0, 1.0, 0.5)] == ["0%", "100%", "50.0%"]
    assert format_percent(1e-6) == "0.00010%" and format_percent(1 - 1e-6) == "99.99990%"
    assert (format_percent(-0.1), format_percent(1e-9), format_percent(1 - 1e-9)) == (
        "0%",
        "<0.00001%",
        ">99.99999%",
    )


def test_what_was_not_measured_is_no_share():
    assert format_percent(float("nan")) == "no share"
    assert format_interval(MeasuredShare(0.9999, 0.9996, 0.99999, 4_000)) == ">99.9 to >99.9%"
    assert format_interval(MeasuredShare(1.0, 0.9991, 1.0, 4_000)) == "99.9 to 100.0%"


def test_powers_of_ten_are_short():
    counts = (10**20, 469070940, 100_000)
    assert [format_large_count(n) for n in counts] == ["10^20", "469,070,940", "100,000"]


@given(st.floats(0, 1), st.integers(0, 4))
def test_only_all_is_100_percent_and_only_none_0_percent(share, decimals):
    text = format_percent(share, decimals)
    assert text == format_percent(np.float64(share), decimals)
    assert (text == "100%") == (share == 1) and (text == "0%") == (share == 0)
    assert re.fullmatch(r"[<>]?\d+(\.\d+)?%", text)
    assert share in (0, 1) or float(text.strip("<>%")) not in (0, 100)


@given(st.lists(st.text("abc", min_size=1)))
def test_a_list_names_every_word_once_and_in_order(words):
    assert re.split(", | or ", join_words(words, "or", "none")) == (words or ["none"])


def test_counts_have_their_nouns():
    counts = (0, 1, 2, 12_345)
    assert [format_count(n, "unit") for n in counts] == ["0 units", "1 unit", "2 units", "12,345 units"]
    assert format_count(3, "matrix", "matrices") == "3 matrices"


def test_a_stored_share_says_of_how_many():
    share = MeasuredShare(0.9999987, 0.99, 1.0, 4_000)
    assert format_share(share) == "99.99987% (95% interval 99.0% to 100%)"
    assert format_stored_share(vars(share)) == "99.99987% (95% interval 99.000% to 100%, n = 4,000)"
    assert format_stored_share(vars(MeasuredShare.of(0, 0))) == "no such positions"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_has_a_hyphen_for_its_minus(value):
    assert not any("-" in text(value) for text in (format_significant, format_exponent, format_decimals))
