"""Figures of queries, keys, values and scores, against plain NumPy on the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    score_blocks,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import PLAIN, changed, raw_scores


@pytest.mark.parametrize("name", PLAIN)
def test_scores_are_those_of_the_raw_weights(name):
    subject = subject_of(name)
    data = score_blocks.compute(subject)
    for head in range(subject.heads):
        expected = raw_scores(subject, head)
        np.testing.assert_allclose(data["scores"][head], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(data["by_token"][head], np.nanmean(expected, (1, 3)), atol=1e-4)
        np.testing.assert_allclose(data["by_place"][head], expected.mean((0, 2)), atol=1e-4)


def test_scores_follow_a_weight():
    subject = subject_of("plus_last_even")
    before = score_blocks.compute(subject)["scores"][0]
    after = score_blocks.compute(changed(subject, "attn.k.weight", 3.0))["scores"][0]
    np.testing.assert_allclose(after, 3 * before, rtol=1e-4)


def test_block_shares_are_between_group_variances():
    subject = subject_of("step_back")
    data, expected = score_blocks.compute(subject), raw_scores(subject)
    seen = np.isfinite(expected)
    token, key, place, at = np.nonzero(seen)[0], np.nonzero(seen)[2], np.nonzero(seen)[1], np.nonzero(seen)[3]
    for name, groups in (("token_share", token * 100 + key), ("place_share", place * 100 + at)):
        values = expected[seen]
        sizes = np.bincount(groups)
        means = np.bincount(groups, values)[sizes > 0] / sizes[sizes > 0]
        between = (sizes[sizes > 0] * (means - values.mean()) ** 2).sum() / (
            (values - values.mean()) ** 2
        ).sum()
        assert data[name][0] == pytest.approx(between, abs=1e-4)


def test_scores_of_all_heads_are_counted():
    subject = subject_of("even_repeat_last_odd")
    tokens, context = len(subject.tokens), subject.context
    count = subject.heads * tokens**2 * context * (context + 1) // 2
    assert f"All {count:,} scores" in score_blocks.title(score_blocks.compute(subject))
