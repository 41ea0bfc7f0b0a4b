"""Gradients of scores, against plain NumPy on the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    query_gradients,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.queries import PLAIN, raw_scores


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_name_the_keys_with_the_highest_scores(name):
    subject = subject_of(name)
    data = query_gradients.compute(subject)
    for head in range(subject.heads):
        last = raw_scores(subject, head)[:, -1]  # tok tok pos
        for token, scores in enumerate(last):
            top = scores[tuple(data["top"][head][token].T)]
            np.testing.assert_allclose(top, np.sort(scores, axis=None)[::-1][:3], rtol=1e-3, atol=1e-3)
            ends = [scores.min(), scores.max()]
            np.testing.assert_allclose(data["ends"][head][token], ends, rtol=1e-3, atol=1e-3)
