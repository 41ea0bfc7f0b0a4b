"""Norms show the gain and the size that follows from it."""

import numpy as np
import pytest

from glassformer.pictures.poster.panels import (
    norms,
)  # fmt: skip
from tests.pictures.poster.adders import MICRO, sums_of


def test_norms_show_the_gain_and_the_size_that_follows_from_it():
    subject = sums_of(MICRO)
    data, gain = norms.compute(subject), np.asarray(subject.model.params["attn_norm.gain"], np.float64)
    assert np.allclose(data["gains"]["head"], gain)
    stream = subject.sample.kept["stream"].astype(np.float64)
    after = stream / np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-5) * gain
    assert data["lengths"]["head"][1][2] == pytest.approx(np.median(np.sqrt((after**2).mean(-1))), rel=1e-4)
    assert norms.title(norms.compute(sums_of("hand-6"))).startswith("No norm")
