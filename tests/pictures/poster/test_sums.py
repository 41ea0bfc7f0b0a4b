"""What a poster knows of the sums of its model."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.poster.panels import (
    verdict,
)  # fmt: skip
from glassformer.pictures.poster.sums import find_worst_tried_pair, refute_by_pairs
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import (
    MICRO,
    sums_of,
)


def test_weights_that_overflow_are_refused_in_a_sentence():
    model = load_model("nanogpt-58")
    huge = replace(model, params={key: array * np.float32(1e30) for key, array in model.params.items()})
    with pytest.raises(UserError, match="nanogpt-58 cannot be drawn: its weights are so large"):
        _ = make_subject(huge, "nanogpt-58").sums


def test_a_pair_that_comes_out_wrong_refutes():
    subject = sums_of("nanogpt-58")
    open_ = replace(subject.findings, verdict="undecided", counterexample=None)
    found = refute_by_pairs(open_, subject.model, subject.task, [(1, 1), (0, 9000)])
    assert (found.verdict, found.wrong_pair) == ("refuted", (0, 9000))
    assert refute_by_pairs(open_, subject.model, subject.task, [(1, 1)]) == open_


def test_without_a_proof_the_worst_pair_tried_is_named_as_such():
    subject = sums_of(MICRO)
    tried = find_worst_tried_pair(subject.model, subject.task)
    undecided = replace(subject.findings, verdict="undecided", details={}, reason="no time")
    data = verdict.compute(replace(subject, findings=undecided, tried=tried))
    assert data["pair"] == tried and not data["is_hardest"]
    assert data["margins"].min() >= subject.findings.smallest_margin - 0.02
    assert "Neither proved nor refuted" in verdict.title(data)


def test_a_pair_out_of_range_or_a_step_without_history_is_refused():
    with pytest.raises(UserError, match="between 0 and 9999999999"):
        make_subject(load_model(MICRO), MICRO, pair=(10**10, 1))
    with pytest.raises(UserError, match="no saved steps"):
        make_subject(load_model(MICRO), MICRO, step=100)
