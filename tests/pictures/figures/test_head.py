"""The head against the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    head,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.feedforward import raw


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_the_heads_directions_are_its_weights(name):
    subject = subject_of(name)
    data = head.compute(subject)
    np.testing.assert_allclose(data["bias"], raw(subject, "head.bias"), atol=1e-6)
    expected = raw(subject, "head.weight") @ data["plane"].directions.T
    np.testing.assert_allclose(data["ends"], expected, atol=1e-5)


def test_answers_are_counted_over_all_trials(monkeypatch):
    subject = subject_of("plus_last_even")
    answers = subject.model.forward(subject.trials.contexts, last=1)[:, 0].argmax(1)
    monkeypatch.setattr(head, "SHOWN", 1)
    count = len(np.unique(answers))
    assert count > 1
    assert f", {count} on {len(subject.trials):,} trials" in head.title(head.compute(subject))
