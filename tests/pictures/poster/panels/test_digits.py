"""Digits lie on an arc, and only then are said to."""

import math

import numpy as np
import pytest

from glassformer.pictures.poster.panels import (
    digits,
)  # fmt: skip
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import MICRO, asked, changed, micro_pass, sums_of


def test_digits_lie_on_the_arc_and_attention_carries_them_in_a_line():
    data = digits.compute(sums_of(MICRO))
    params = load_model(MICRO).params
    assert np.allclose(data["table"], micro_pass(sums_of(MICRO), asked(0, 0))["table"], atol=1e-5)
    assert data["lengths"] == pytest.approx(abs(float(params["token.amplitude"])))
    assert data["turns"] == pytest.approx(math.degrees(float(params["token.stride"])), rel=1e-4)
    assert 0.99 < data["straight"] <= 1
    assert "on an arc of radius 10.6" in digits.title(data)
    assert "straight line" in digits.title(digits.compute(sums_of("nanogpt-58")))


def test_digits_on_one_point_are_not_called_a_line():
    data = digits.compute(changed(sums_of("glass-29"), "token.amplitude", 0.0))
    assert "all on one point" in digits.title(data)
