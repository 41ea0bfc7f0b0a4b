"""Embeddings of a sequence, recomputed from the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    sequence_embeddings,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE, nudged, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_embeddings_of_a_sequence_are_the_tables_sums(name: str) -> None:
    subject = subject_of(name)
    data, tokens = sequence_embeddings.compute(subject), subject.sequences[0]
    np.testing.assert_allclose(data["vectors"]["sums"], raw_pass(subject, tokens)["e"], **CLOSE)
    np.testing.assert_allclose(
        data["vectors"]["tokens"] + data["vectors"]["positions"], data["vectors"]["sums"], atol=1e-5
    )
    changed = sequence_embeddings.compute(nudged(subject, "position.weight"))
    assert np.abs(changed["vectors"]["positions"] - data["vectors"]["positions"]).max() > 1e-3
    np.testing.assert_array_equal(changed["vectors"]["tokens"], data["vectors"]["tokens"])
