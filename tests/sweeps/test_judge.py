"""Verdicts on seeds whose truth is known: a proved adder, the same with one number changed, one that diverged."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.forward import list_parameters
from glassformer.runs.config import ProveSettings
from glassformer.runs.configurations import find_configuration
from glassformer.runs.load import load_model
from glassformer.sweeps.judge import judge_seeds

from .small import row


@pytest.fixture(scope="module")
def rows():
    run, good = find_configuration("glass-29"), load_model("glass-29").params
    wrong = {name: array * 1.5 for name, array in good.items()}
    lost = {name: array * np.nan for name, array in good.items()}
    params = {name: np.stack([good[name], wrong[name], wrong[name], lost[name]]) for name in good}
    seeds = [row(0, True), row(1, True), row(2), row(3) | {"loss": np.nan}]
    return judge_seeds(run, seeds, params)


def test_verdicts(rows):
    assert [one["verdict"] for one in rows] == ["proved", "refuted", "missed", "diverged"]
    assert [one["proved"] for one in rows] == [True, False, False, False]
    assert [one["reached"] for one in rows] == [True, True, False, False]


def test_a_proved_seed_has_a_margin_and_a_refuted_one_a_counterexample(rows):
    assert rows[0]["margin_bound"] > 0
    example = rows[1]["counterexample"]
    assert example["a"] + example["b"] == example["expected"] != example["got"]


def test_of_a_rule_the_best_seed_alone_is_tried():
    run = replace(find_configuration("even_to_odd_transition"), prove=ProveSettings(seconds=0.2))
    params = {
        name: np.zeros((3, *one.shape), np.float32) for name, one in list_parameters(run.architecture).items()
    }
    seeds = [row(0, True), row(1, True) | {"right_probability": 0.9}, row(2)]
    verdicts = [one["verdict"] for one in judge_seeds(run, seeds, params)]
    assert verdicts == ["untried", "refuted", "missed"]
