"""Attention over a sequence, recomputed from the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    sequence_attention,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE, nudged, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_attention_are_those_of_the_weights_and_stop_at_the_diagonal(name: str) -> None:
    subject = subject_of(name)
    size, data = subject.attention.head_size, sequence_attention.compute(subject)
    assert len(data["sequences"]) == 3
    for one, tokens in zip(data["sequences"], subject.sequences, strict=True):
        raw, later = raw_pass(subject, tokens), np.triu_indices(len(tokens), 1)
        seen = np.tril_indices(len(tokens))
        for head, parts in enumerate(one["heads"]):
            assert np.isnan(parts["scores"][later]).all()
            assert np.isnan(parts["weights"][later]).all()
            np.testing.assert_allclose(parts["scores"][seen], raw["scores"][head][seen], **CLOSE)
            np.testing.assert_allclose(parts["weights"][seen], raw["weights"][head][seen], atol=1e-3)
            np.testing.assert_allclose(parts["qk"][0], raw["q"][:, head * size : (head + 1) * size], **CLOSE)
            np.testing.assert_allclose(parts["qk"][1], raw["k"][:, head * size : (head + 1) * size], **CLOSE)
    changed = sequence_attention.compute(nudged(subject, "attn.q.weight"))["sequences"][0]["heads"][0][
        "scores"
    ]
    assert np.nanmax(np.abs(changed - data["sequences"][0]["heads"][0]["scores"])) > 1e-2
