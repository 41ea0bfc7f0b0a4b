"""The learning curve: every saved step, measured here in plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import rc_context

from glassformer.core.theme import THEMES
from glassformer.pictures.figures import (
    learning_curve,
)
from glassformer.pictures.parts.frame import make_theme_settings
from tests.pictures.conftest import subject_of
from tests.pictures.figures.beginnings import plain_logits

LIGHT = THEMES["light"]


def test_learning_curve_measures_every_saved_step() -> None:
    subject = subject_of("plus_last_even")
    data, history = learning_curve.compute(subject), subject.past.history
    contexts, allowed = subject.trials.contexts[:1000], subject.trials.allowed[:1000]
    assert data["steps"].tolist() == history.steps.tolist()
    for index, share in enumerate(data["shares"]):
        best = plain_logits(history.at(index), contexts).argmax(1)
        errors = int((~allowed[np.arange(len(best)), best]).sum())
        assert abs(share.value * share.positions - errors) <= 1  # float32 may turn a near tie
    assert data["shares"][0].value > 0.8 > 0.01 > data["shares"][-1].value
    assert data["chance"] == pytest.approx(11 / 12)
    last = data["shares"][-1]
    assert (last.value, last.positions) == (0, 1000)
    assert last.high == pytest.approx(1 - 0.025 ** (1 / 1000))


def test_learning_curve_counts_the_seeds_that_learn() -> None:
    subject = subject_of("plus_last_even")
    rows = subject.past.rows
    last = max(row["step"] for row in rows)
    good = sum(row["argmax_accuracy"] >= 0.999 for row in rows if row["step"] == last)
    seeds = len({row["seed"] for row in rows})
    assert learning_curve.title(learning_curve.compute(subject)).startswith(f"{good} of {seeds} seeds ")
    spoilt = [row | {"argmax_accuracy": 0.5} for row in rows]
    worse = replace(subject, past=replace(subject.past, rows=spoilt))
    assert learning_curve.compute(worse)["reached"] == 0


def test_learning_curve_draws_zero_the_floor_and_the_step() -> None:
    subject = subject_of("plus_last_even")
    step = int(subject.past.history.steps[3])
    data = learning_curve.compute(replace(subject, step=step))
    with rc_context(make_theme_settings(LIGHT)):
        losses, errors = learning_curve.draw(data, LIGHT).axes
    assert errors.get_ylim()[0] < 0 and 0 in errors.get_yticks()
    assert any(set(line.get_ydata()) == {data["floor"]} for line in losses.lines)
    for axes in (losses, errors):
        assert any(set(line.get_xdata()) == {step} for line in axes.lines)
    assert data["floor"] == pytest.approx(1.8379, abs=1e-4)
