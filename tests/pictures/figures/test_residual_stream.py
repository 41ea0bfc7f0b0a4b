"""The stream adds up."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    residual_stream,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.landscapes import by_hand, chances


@pytest.mark.parametrize("name", NAMES)
def test_the_stream_adds_up(name):
    subject = subject_of(name)
    data, found = residual_stream.compute(subject), by_hand(subject, subject.sequences[0])
    steps = data["steps"]
    for step in "ezh":
        np.testing.assert_allclose(steps[step][-1], found[step], rtol=1e-2, atol=1e-2)
    if data["residual"]:
        np.testing.assert_allclose(steps["e"] + steps["attention"], steps["z"], atol=1e-4)
        np.testing.assert_allclose(steps["z"] + steps["feed-forward"], steps["h"], rtol=1e-4, atol=1e-3)
    else:
        np.testing.assert_array_equal(steps["attention"], steps["z"])
        assert "Nothing is added" in residual_stream.title(data)
    np.testing.assert_array_equal(data["predicted"], chances(subject, steps["h"].astype(float)).argmax(-1))
    assert data["lens"]["z"] == chances(subject, found["z"]).argmax()
