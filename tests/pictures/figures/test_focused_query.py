"""One query: it scores and attends as the weights say."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.pictures.figures import (
    focused_query,
)
from tests.pictures.conftest import subject_of
from tests.pictures.faults import faults
from tests.pictures.figures.queries import PLAIN, drawn, raw


@pytest.mark.parametrize("name", PLAIN)
def test_the_focused_query_scores_and_attends_as_the_weights_say(name):
    subject = subject_of(name)
    data, context = focused_query.compute(subject), subject.sequences[0]
    np.testing.assert_array_equal(data["context"], context)
    for head in range(subject.heads):
        q, k, _, scale = raw(subject, head)
        query, keys = q[context[-1], len(context) - 1], k[context, range(len(context))]
        scores = keys @ query * scale
        powers = np.exp(scores - scores.max())
        np.testing.assert_allclose(data["scores"][head], scores, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(data["weights"][head], powers / powers.sum(), atol=1e-3)
        slope, plane = data["slopes"][head], data["planes"][head]
        np.testing.assert_allclose(slope.gradient, plane.directions @ query * scale, atol=1e-4)
        drawn_scores, true = slope(data["keys"][head]), k @ query * scale
        assert drawn_scores.mean() == pytest.approx(true.mean(), abs=1e-3)
        rest = ((true - drawn_scores) ** 2).sum() / ((true - true.mean()) ** 2).sum()
        assert data["kept"][head] == pytest.approx(1 - rest, abs=1e-4)


def test_a_query_of_ones_own_masks_what_is_later():
    subject = replace(subject_of("plus_last_even"), query=(11, 3))
    data, figure = drawn("focused_query", subject)
    assert data["context"].tolist() == [*subject.sequences[0][:3].tolist(), 11]
    assert "4 later positions are masked" in focused_query.caption(data)
    assert faults(figure) == []
    beyond = replace(subject, sequences=(subject.sequences[0][:2],), query=(0, 6))
    again = focused_query.compute(beyond)["context"]
    assert again.tolist() == [*np.tile(subject.sequences[0][:2], 3).tolist(), 0]
