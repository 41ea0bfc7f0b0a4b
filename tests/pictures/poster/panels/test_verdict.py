"""What a poster says is proved: of these very weights and this task, or not at all."""

import numpy as np
import pytest

from glassformer.pictures.poster.panels import (
    bottleneck,
    digits,
    norms,
    one_addition,
    positions,
    routing,
    verdict,
)  # fmt: skip
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import (
    MICRO,
    changed,
    sums_of,
)


def test_the_verdict_shows_the_hardest_pair_with_its_margin():
    subject = sums_of(MICRO)
    data = verdict.compute(subject)
    worst = subject.findings.hardest_step
    assert data["pair"] == (worst.a, worst.b) == subject.pair
    assert data["margins"].min() == pytest.approx(worst.margin, abs=2 * subject.findings.rounding_bound)
    assert data["margins"].min() <= data["random"][:, 0].min()
    assert verdict.title(data).startswith("Right on all 10²⁰ pairs")


def test_a_refuted_model_shows_where_it_fails():
    data = verdict.compute(sums_of("nanogpt-58"))
    a, b = data["pair"]
    assert load_model("nanogpt-58").add(a, b) == int(data["got"]) != a + b == data["expected"]
    assert (data["margins"] < 0).tolist() == (data["written"] != data["z"]).tolist()
    assert "Wrong" in verdict.title(data)
    assert "come out wrong" in one_addition.title(one_addition.compute(sums_of("nanogpt-58")))


@pytest.mark.parametrize(
    ("panel", "parameter", "key"),
    [
        (digits, "token.amplitude", "table"),
        (digits, "head.weight", "messages"),
        (positions, "position.equals", "table"),
        (norms, "attn_norm.gain", "after"),
        (routing, "attn.k.weight", "weights"),
        (bottleneck, "attn.out.read", "score"),
        (bottleneck, "ff.up.weight", "map"),
        (one_addition, "head.weight", "logits"),
        (verdict, "ff.up.weight", "margins"),
    ],
)
def test_another_weight_is_another_picture(panel, parameter, key):
    subject = sums_of(MICRO)
    before, after = panel.compute(subject)[key], panel.compute(changed(subject, parameter))[key]
    assert not np.allclose(before, after)


def test_titles_follow_the_weights():
    before, after = sums_of(MICRO), changed(sums_of(MICRO), "token.stride", 2.0)
    assert digits.title(digits.compute(before)) != digits.title(digits.compute(after))
    assert routing.title(routing.compute(before)) != routing.title(
        routing.compute(changed(before, "attn.k.weight", 0.3))
    )
