"""The panel of routing: attention by role."""

import numpy as np

from glassformer.pictures.poster.panels import (
    routing,
    verdict,
)  # fmt: skip
from tests.pictures.poster.adders import sums_of


def test_attention_by_role_adds_up_and_finds_the_columns():
    data = routing.compute(sums_of("nanogpt-58"))
    assert np.allclose(data["shares"].sum(-1), 1, atol=1e-5)
    assert np.allclose(data["mean"][0][:4], [0.5, 0.5, 0, 0], atol=1e-3)
    assert np.allclose(data["mean"][1][:4], [0, 0, 0.5, 0.5], atol=1e-3)
    assert routing.compute(sums_of("tinyadder-95"))["alike"] == [True, True, True, False, True, True]


def test_nearly_all_is_not_written_as_all():
    data = {"mean": np.array([[0.9996, 0.0004]]), "alike": [False], "roles": ("xₖ", "yₖ")}
    assert routing.describe_looks(data, 0) == "xₖ (>99.9%)"
    found = verdict.compute(sums_of("nanogpt-58")) | {"wrong": 2_999, "sums": 3_000}
    assert verdict.format_stamp(found) == "wrong on >99.9% of random pairs"
