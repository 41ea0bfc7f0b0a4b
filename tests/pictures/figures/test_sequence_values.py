"""Messages of a sequence, recomputed from the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    sequence_values,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_weighted_messages_end_at_the_attention_output(name: str) -> None:
    subject = subject_of(name)
    raw, data = raw_pass(subject, subject.sequences[0]), sequence_values.compute(subject)
    np.testing.assert_allclose(data["messages"], raw["messages"], **CLOSE)
    np.testing.assert_allclose(data["output"], raw["output"], atol=3e-3)
    np.testing.assert_allclose(data["weighted"].sum(0), raw["output"][-1], atol=3e-3)
    np.testing.assert_allclose(data["chain"][-1], data["end"], atol=1e-5)
    drawn = raw["output"][-1] @ data["plane"].directions.T
    axes = 1 if data["plane"].is_line else 2
    np.testing.assert_allclose(data["end"][:axes], drawn[:axes], atol=3e-3)
    np.testing.assert_allclose(data["chain"][0, :axes], 0, atol=1e-12)
