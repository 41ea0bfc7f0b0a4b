"""A landscape is the rest of the model at every point."""

import numpy as np
import pytest

from glassformer.pictures.measure.landscape import (
    compute_final_states,
    compute_state_logits,
    make_landscape,
    make_slice,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.landscapes import CLOSE, chances, fold, nudged


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("from_mid", [False, True])
def test_a_landscape_is_the_rest_of_the_model_at_every_point(name, from_mid):
    subject = subject_of(name)
    plane = make_slice(subject.embedded, "stream", "embeddings")
    limits = np.array([[-3.0, 2.0], [-1.0, 4.0]])
    land = make_landscape(subject.model, plane, limits, from_mid, grid=20)
    random = np.random.default_rng(1)
    for row, column in random.integers(0, 20, (30, 2)):
        x, y = -3 + (column + 0.5) * 0.25, -1 + (row + 0.5) * 0.25
        state = x * plane.directions[0] + y * plane.directions[1]
        state = state + plane.through - plane.directions.T @ (plane.directions @ plane.through)
        expected = chances(subject, fold(subject, state) if from_mid else state)
        np.testing.assert_allclose(land.probability[row, column], expected, **CLOSE)
    logs = np.log(np.maximum(land.probability, 1e-30))
    np.testing.assert_allclose(land.entropy, -(land.probability * logs).sum(-1), atol=1e-4)
    assert (land.entropy >= -1e-6).all() and (land.entropy <= np.log(len(subject.tokens)) + 1e-6).all()


@pytest.mark.parametrize("weight", ["head.bias", "ff.up.weight"])
def test_a_landscape_follows_the_weights(weight):
    subject = subject_of("lucky7")
    states = np.random.default_rng(0).normal(size=(50, 2)) * 3
    before, after = (
        compute_state_logits(one.model, states, from_mid=True) for one in (subject, nudged(subject, weight))
    )
    assert np.abs(before - after).max() > 1e-3
    np.testing.assert_allclose(
        compute_final_states(subject.model, states), fold(subject, states), rtol=1e-3, atol=1e-3
    )


def test_a_slice_holds_its_centre_and_where_states_differ():
    random = np.random.default_rng(0)
    spanned = random.normal(size=(2, 5))
    states = random.normal(size=(40, 2)) @ spanned + np.arange(5)
    plane = make_slice(states, "x", "their mean")
    np.testing.assert_allclose(plane.lift(plane(states)), states, atol=1e-9)  # they lie in one plane
    assert "100%" in plane.note and "5 dimensions" in plane.note
    other = make_slice(states, "x", "the first", centre=states[0] + 1)
    np.testing.assert_allclose(other.lift(other(states[0] + 1)), states[0] + 1, atol=1e-9)
