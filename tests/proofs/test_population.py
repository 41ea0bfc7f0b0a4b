"""Populations: which seeds are proved; and what the miner finds."""

from dataclasses import replace

import numpy as np

from glassformer.models.model import Model
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.population import prove_seeds
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import load_model
from glassformer.tasks import Sequences
from tests.proofs.questions import QUESTIONS, drawn
from tests.proofs.several import several


def test_verdicts_of_seeds():
    model, everyone = several()
    told = []
    found = prove_seeds(model.architecture, everyone, [7, 8, 9, 10], model.addition, tell=told.append)
    assert [one.seed for one in found] == [7, 8, 9, 10]
    assert [one.verdict for one in found] == ["proved", "proved", "refuted", "not_applicable"]
    assert sum(told) == 4
    assert found[0].margin_bound > 0
    wrong, other = (
        found[2].counterexample,
        Model(model.architecture, {key: part[2] for key, part in everyone.items()}),
    )
    got = load_model("glass-39")  # the shipped one is right where the broken one is not
    assert got.add(wrong["a"], wrong["b"]) == wrong["expected"]
    assert replace(got, params=other.params).add(wrong["a"], wrong["b"]) == wrong["got"] != wrong["expected"]


def test_a_seed_for_every_length_is_refuted_by_a_shortest_pair():
    """With the length that it is written in: a long pair that also fails says less."""
    model, task = load_model("any-8"), load_model("any-8").addition
    wrong = {
        name: array * np.float32(1.2 if name == "ff.up.p" else 1) for name, array in model.params.items()
    }
    everyone = {name: np.stack([model.params[name], wrong[name]]) for name in wrong}
    right, refuted = prove_seeds(model.architecture, everyone, [0, 1], task)
    assert (right.verdict, refuted.verdict) == ("proved", "refuted")
    shortest = prove_every_length(Model(model.architecture, wrong), task).counterexample
    assert refuted.counterexample == shortest and shortest["digits"] < task.digits


def test_seeds_of_a_question():
    task = QUESTIONS[0]
    models = [drawn(task, seed) for seed in range(3)]
    everyone = {name: np.stack([model.params[name] for model in models]) for name in models[0].params}
    everyone["head.weight"][2] = np.nan
    found = prove_seeds(models[0].architecture, everyone, [4, 5, 6], task)
    single = [prove_model(model, task, Sequences(), "", False, 20.0, None) for model in models[:2]]
    assert [one.seed for one in found] == [4, 5, 6]
    assert [one.verdict for one in found] == [*(one.verdict for one in single), "not_applicable"]
    assert [one.counterexample for one in found] == [*(one.counterexample for one in single), None]
