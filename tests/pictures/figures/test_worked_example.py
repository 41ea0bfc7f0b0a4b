"""Figures of sequences, recomputed from the raw weights: plain NumPy, none of the code under test."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.words import format_percent
from glassformer.pictures.figures import (
    worked_example,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_the_worked_example_tells_the_model_s_own_numbers(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), worked_example.compute(subject)
    np.testing.assert_allclose(data["scores"], raw["scores"][:, -1], **CLOSE)
    np.testing.assert_allclose(data["probability"], raw["probabilities"][-1], atol=5e-3)
    assert data["probability"].sum() == pytest.approx(1)
    for head, weights in enumerate(data["carry"].weights):
        best = int(np.argmax(raw["weights"][head, -1]))
        told = f"{data['labels'][best]} (p{best}) gets {format_percent(weights[best], 0)} of the attention"
        assert told in data["sentences"]["retrieve"]
    said = data["tokens"][int(np.argmax(raw["probabilities"][-1]))]
    assert said in data["sentences"]["decide"]


def test_a_model_that_fails_is_said_to_fail() -> None:
    subject = subject_of("plus_last_even")
    wrong = dict(subject.model.params)
    wrong["head.bias"] = np.where(np.arange(len(subject.tokens)) == 3, 1e4, 0).astype(np.float32)
    data = worked_example.compute(replace(subject, model=replace(subject.model, params=wrong)))
    asked = subject.tokens[int(np.flatnonzero(data["demanded"])[0])]
    assert "100% to 3, but the rule demands " + asked in data["sentences"]["decide"]
