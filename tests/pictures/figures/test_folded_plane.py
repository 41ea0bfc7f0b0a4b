"""The fold of the plane against the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import folded_plane
from glassformer.pictures.measure.hidden_units import fold_states
from tests.pictures.conftest import subject_of
from tests.pictures.figures.feedforward import last_z, raw


def test_grid_and_image_belong_together():
    subject = subject_of("plus_last_even")
    data = folded_plane.compute(subject)
    grid, image = data["grids"]
    some = grid[::7, ::50].reshape(-1, 2)
    np.testing.assert_allclose(
        image[::7, ::50].reshape(-1, 2), fold_states(subject, some), rtol=1e-5, atol=1e-3
    )
    answers = last_z(subject) @ raw(subject, "head.weight").T + raw(subject, "head.bias")
    right = subject.trials.allowed[np.arange(len(answers)), answers.argmax(1)].mean()
    assert data["right"][0].value == pytest.approx(right, abs=1e-3)
