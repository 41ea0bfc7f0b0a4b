"""Logits and probabilities of every place."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    sequence_output,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import nudged, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_logits_and_probabilities_of_every_place(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), sequence_output.compute(subject)
    scale = np.abs(raw["h"]).max()
    np.testing.assert_allclose(data["final"], raw["h"], atol=3e-3 * max(1.0, scale))
    np.testing.assert_allclose(
        data["logits"], raw["logits"], atol=3e-3 * max(1.0, np.abs(raw["logits"]).max())
    )
    np.testing.assert_allclose(data["probabilities"], raw["probabilities"], atol=5e-3)
    np.testing.assert_array_equal(data["following"], subject.sequences[0][1:])
    changed = sequence_output.compute(nudged(subject, "head.bias"))
    assert np.abs(changed["logits"] - data["logits"]).max() > 1e-3
