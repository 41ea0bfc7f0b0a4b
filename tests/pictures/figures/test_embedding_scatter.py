"""The scatter of embeddings and its neighbours."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    embedding_scatter,
)
from tests.pictures.conftest import subject_of


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_embedding_scatter_names_the_nearest_and_the_farthest(name: str) -> None:
    subject = subject_of(name)
    table = np.asarray(subject.model.params["token.weight"], float)
    apart = np.linalg.norm(table[:, None] - table[None], axis=-1) + np.diag(np.full(len(table), np.nan))
    data = embedding_scatter.compute(subject)
    near, far = data["token_pairs"]
    assert (near[2], far[2]) == pytest.approx((np.nanmin(apart), np.nanmax(apart)), abs=1e-5)
    one, two = (subject.tokens.index(token) for token in near[:2])
    assert apart[one, two] == pytest.approx(near[2], abs=1e-5)
    places = np.asarray(subject.model.params["position.weight"], float)
    assert data["way"] == pytest.approx(np.linalg.norm(places[-1] - places[0]), abs=1e-5)
