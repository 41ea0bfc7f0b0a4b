"""The bottleneck: one number is attention times the values."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.poster.panels import (
    bottleneck,
    digits,
)  # fmt: skip
from glassformer.runs.load import load_model
from tests.pictures.faults import faults
from tests.pictures.poster.adders import MICRO, asked, draw_panel, micro_pass, sums_of


def test_the_one_number_of_the_bottleneck_is_attention_times_the_values():
    subject = sums_of(MICRO)
    data, sample = bottleneck.compute(subject), subject.sample
    write = np.asarray(subject.model.params["attn.out.write"], np.float64)
    assert data["rank"] == 1
    assert abs(data["main"] @ write) == pytest.approx(np.linalg.norm(write), rel=1e-5)
    step = data["column"]
    for row in range(3):
        a, b = (sum(int(d) * 10**k for k, d in enumerate(part[row])) for part in (sample.x, sample.y))
        number = micro_pass(subject, asked(a, b))["number"][21 + step]
        assert data["score"][row] == pytest.approx(number * (write @ data["main"]), abs=2e-3)
        assert data["total"][row] == (a // 10**step % 10) + (b // 10**step % 10) + carry_into(a, b, step)


def carry_into(a: int, b: int, column: int) -> int:
    return (a % 10**column + b % 10**column) // 10**column


def silenced(name: str, *zeros: str) -> Subject:
    """A model of the zoo with some parameters set to zero."""
    model = load_model(name)
    params = {key: array * (0 if key in zeros else 1) for key, array in model.params.items()}
    return make_subject(replace(model, params=params), name)


def test_attention_that_writes_nothing_is_said_to_hand_on_nothing():
    subject = silenced("glass-39", "attn.out.weight")  # as at the first step of training
    data = bottleneck.compute(subject.sums)
    assert data["rank"] == 0 and "passes nothing on" in bottleneck.title(data)
    assert "passes none of them on" in digits.describe_digit_messages(digits.compute(subject.sums))
    findings = subject.sums.findings
    assert findings.verdict == "refuted" and "made for this poster" in findings.source
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert faults(draw_panel("P6", subject, THEMES["light"])) == []
        assert faults(draw_panel("P9", subject, THEMES["light"])) == []
