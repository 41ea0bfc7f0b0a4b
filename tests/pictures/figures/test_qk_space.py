"""The space of queries and keys, against plain NumPy on the raw weights."""

import numpy as np
import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.pictures.figures import (
    qk_space,
    qkv_overview,
    score_blocks,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import changed, raw, raw_scores, with_architecture


def test_queries_and_keys_of_width_2_are_drawn_as_they_are():
    subject = subject_of("plus_last_even")
    q, k, v, scale = raw(subject)
    data = qk_space.compute(subject)
    np.testing.assert_allclose(data["queries"][0], q, atol=1e-4)
    np.testing.assert_allclose(data["keys"][0], k, atol=1e-4)
    assert data["scale"] == pytest.approx(scale)
    assert data["kept"] == [pytest.approx(1.0, abs=1e-9)]
    np.testing.assert_allclose(qkv_overview.compute(subject)["points"][0]["v"], v, atol=1e-4)


@pytest.mark.parametrize("name", ["step_back", "even_repeat_last_odd"])
def test_kept_share_is_r_squared_of_projected_products(name):
    subject = subject_of(name)
    data = qk_space.compute(subject)
    for head in range(subject.heads):
        q, k, _, scale = raw(subject, head)
        true = raw_scores(subject, head)
        _, _, directions = np.linalg.svd(np.concatenate([q, k]).reshape(-1, q.shape[-1]), full_matrices=False)
        for found, count in ((data["kept"], 2), (data["kept_along"], 1)):
            projection = directions[:count].T @ directions[:count]
            guess = np.einsum("tpd,de,uqe->tpuq", q, projection, k) * scale
            seen = np.isfinite(true)
            rest = ((true - guess)[seen] ** 2).sum() / ((true[seen] - true[seen].mean()) ** 2).sum()
            assert found[head] == pytest.approx(1 - rest, abs=1e-4)
            assert found[head] < 0.999


def test_a_wide_head_is_folded_and_balanced_without_changing_a_score():
    subject = with_architecture(make_reference_architecture(vocab=12, width=2, context=8, head_size=16))
    subject = changed(subject, "attn.q.weight", 20.0)
    expected = raw_scores(subject)
    np.testing.assert_allclose(score_blocks.compute(subject)["scores"][0], expected, rtol=1e-3, atol=1e-2)
    data = qk_space.compute(subject)
    products = np.einsum("tpd,uqd->tpuq", data["queries"][0], data["keys"][0]) * data["scale"]
    seen = np.isfinite(expected)
    np.testing.assert_allclose(products[seen], expected[seen], rtol=1e-3, atol=1e-2)
    assert "times smaller" in data["note"]
    assert "16 dimensions" in data["note"]
    lengths = [np.linalg.norm(data[side][0], axis=-1).max() for side in ("queries", "keys")]
    assert max(lengths) / min(lengths) < 3
