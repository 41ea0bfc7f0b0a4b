"""What figures are about, against the raw weights."""

import numpy as np
import pytest

from tests.pictures.conftest import NAMES, subject_of


def weights(name):
    return {key: np.asarray(value, np.float64) for key, value in subject_of(name).model.params.items()}


@pytest.mark.parametrize("name", NAMES)
def test_pairs_come_from_the_weights(name):
    subject, w = subject_of(name), weights(name)
    embedded = w["token.weight"][:, None] + w["position.weight"][None]
    np.testing.assert_allclose(subject.embedded, embedded, atol=1e-5)
    np.testing.assert_allclose(subject.token_table, w["token.weight"], atol=1e-6)
    np.testing.assert_allclose(subject.position_table, w["position.weight"], atol=1e-5)
    size = subject.attention.head_size
    for head in range(subject.heads):
        rows = slice(head * size, (head + 1) * size)
        query, key = embedded @ w["attn.q.weight"][rows].T, embedded @ w["attn.k.weight"][rows].T
        scores = np.einsum("tpd,uqd->tpuq", query, key) / np.sqrt(size)
        np.testing.assert_allclose(subject.scores(head), scores, atol=1e-3 + 1e-5 * np.abs(scores).max())


@pytest.mark.parametrize("name", NAMES)
def test_messages_add_up_to_what_attention_writes(name):
    subject = subject_of(name)
    contexts = subject.trials.contexts[:20]
    trace = subject.model.trace(contexts)
    places = np.arange(subject.context)
    total = sum(
        np.einsum("bqk,bkd->bqd", trace[f"attn.weights.{head}"], subject.messages[head][contexts, places])
        for head in range(subject.heads)
    )
    np.testing.assert_allclose(total, trace["attn.output"], atol=1e-4)
