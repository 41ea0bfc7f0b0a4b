"""What a poster says is proved: of these very weights and this task, or not at all."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.poster.panels import (
    bottleneck,
    digits,
    norms,
    one_addition,
    places,
    routing,
    verdict,
)  # fmt: skip
from glassformer.draw.poster.sums import worst_tried
from glassformer.draw.registry import PANELS
from glassformer.draw.theme import THEMES
from glassformer.errors import UserError
from glassformer.runs.load import load
from tests.draw.faults import faults
from tests.draw.test_poster import (
    CAPTIONS,
    MICRO,
    changed,
    shown_parameters,
    subject_of,
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
    assert load("nanogpt-58").add(a, b) == int(data["got"]) != a + b == data["expected"]
    assert (data["margins"] < 0).tolist() == (data["written"] != data["z"]).tolist()
    assert "Wrong" in verdict.title(data)
    assert "come out wrong" in one_addition.title(one_addition.compute(sums_of("nanogpt-58")))


@pytest.mark.parametrize(
    ("panel", "parameter", "key"),
    [
        (digits, "token.amplitude", "table"),
        (digits, "head.weight", "messages"),
        (places, "position.equals", "table"),
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


def test_without_a_proof_the_worst_pair_tried_is_named_as_such():
    subject = sums_of(MICRO)
    tried = worst_tried(subject.model, subject.task)
    undecided = replace(subject.findings, verdict="undecided", details={}, reason="no time")
    data = verdict.compute(replace(subject, findings=undecided, tried=tried))
    assert data["pair"] == tried and not data["is_hardest"]
    assert data["margins"].min() >= subject.findings.smallest_margin - 0.02
    assert "Neither proved nor refuted" in verdict.title(data)


def test_a_pair_out_of_range_or_a_step_without_history_is_refused():
    with pytest.raises(UserError, match="between 0 and 9999999999"):
        make_subject(load(MICRO), MICRO, pair=(10**10, 1))
    with pytest.raises(UserError, match="no saved steps"):
        make_subject(load(MICRO), MICRO, step=100)


def test_the_whole_poster_is_clean_in_the_dark():
    poster = PANELS[0]
    data = poster.compute(subject_of(MICRO))
    figure = poster.draw(data, THEMES["dark"])
    assert faults(figure, page=54.0) == []
    assert sum(array.size for array in shown_parameters(figure).values()) == 57
    for number, start in enumerate(CAPTIONS, 1):
        assert f"({number}) {start}" in poster.caption(data)


def test_drawing_imports_no_jax():
    code = (
        "import sys; from glassformer.draw.measure.prepare import make_subject as make;"
        "from glassformer.draw.registry import PANELS; from glassformer.draw.theme import THEMES;"
        "from glassformer.runs.load import load; s = make(load('glass-29'), 'glass-29');"
        "PANELS[1].draw(PANELS[1].compute(s), THEMES['light']); print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
