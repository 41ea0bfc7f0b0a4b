"""One token's margin is that of the mask with this token alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.models.margins import measure_margins, measure_token_margins


@given(st.integers(2, 6), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_one_right_token_is_a_mask_of_one(vocab, batch, seed):
    random = np.random.default_rng(seed)
    logits = random.integers(-2, 3, (vocab, 2, batch)).astype(np.float32)
    right = random.integers(0, vocab, (2, batch))
    before = logits.copy()
    found = measure_token_margins(logits, right)
    np.testing.assert_array_equal(found, measure_margins(logits, np.arange(vocab)[:, None, None] == right))
    np.testing.assert_array_equal(logits, before)
    every = logits.transpose(1, 2, 0).reshape(-1, vocab)
    for row, token, margin in zip(every, right.ravel(), found.ravel(), strict=True):
        assert margin == row[token] - np.delete(row, token).max()


def test_what_overflows_has_no_margin_and_warns_nobody():
    logits = np.array([[np.inf, 1.0], [np.inf, 2.0]])
    is_right = np.array([[True, False], [False, True]])
    np.testing.assert_array_equal(measure_margins(logits, is_right), [np.nan, 1.0])
    np.testing.assert_array_equal(measure_token_margins(logits, np.array([0, 1])), [np.nan, 1.0])


def test_where_every_token_is_right_nothing_can_be_wrong():
    assert measure_margins(np.zeros((3, 1)), np.ones((3, 1), bool)) == np.inf
