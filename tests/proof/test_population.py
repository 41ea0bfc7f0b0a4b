"""Populations: which seeds are proved; and what the miner finds."""

from dataclasses import replace

import numpy as np

from glassformer.model.model import Model
from glassformer.proof.mining import MODELS, PAIRS, hard_digits, mine
from glassformer.proof.population import prove_population
from glassformer.proof.prove import prove_model
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import load
from glassformer.tasks import Sequences, add, numbers_of
from glassformer.tasks.board import BOARD_PAIRS, BOARD_SEED, board_pairs
from glassformer.verify.addition import answers
from tests.proof.questions import QUESTIONS, drawn
from tests.proof.small import run_all, tinyadder


def several():
    """glass-39 as shipped, nudged, broken, and with a number that is no longer finite."""
    model = load("glass-39")
    nudged = {key: part * np.float32(1 + 1e-5) for key, part in model.params.items()}
    broken = {key: part * np.float32(1.3) for key, part in model.params.items()}
    lost = {key: np.full_like(part, np.nan) for key, part in model.params.items()}
    rows = [model.params, nudged, broken, lost]
    return model, {key: np.stack([row[key] for row in rows]) for key in model.params}


def test_verdicts_of_seeds():
    model, everyone = several()
    told = []
    found = prove_population(model.architecture, everyone, [7, 8, 9, 10], model.addition, tell=told.append)
    assert [one.seed for one in found] == [7, 8, 9, 10]
    assert [one.verdict for one in found] == ["proved", "proved", "refuted", "not_applicable"]
    assert sum(told) == 4
    assert found[0].margin_bound > 0
    wrong, other = (
        found[2].counterexample,
        Model(model.architecture, {key: part[2] for key, part in everyone.items()}),
    )
    got = load("glass-39")  # the shipped one is right where the broken one is not
    assert got.add(wrong["a"], wrong["b"]) == wrong["expected"]
    assert replace(got, params=other.params).add(wrong["a"], wrong["b"]) == wrong["got"] != wrong["expected"]


def test_mined_pairs_are_the_ones_that_fail():
    """Of a model that fails on few pairs the first mined are wrong; at random they would hardly come up."""
    model, task = tinyadder(2)
    changed = Model(model.architecture, {**model.params, "layer1.attn.v.bias": np.array([-1.0])})
    share = np.any([wrong for _, wrong, _ in run_all(changed, task)], axis=0).mean()
    digits = hard_digits(changed, task)[:16]
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    wrong = (answers(changed, task, x, y) != add(x, y)).any(0).mean()
    assert wrong > 0.9 > 3 * share


def test_mining_a_population():
    model, everyone = several()
    finite = {key: part[:3] for key, part in everyone.items()}
    run = CONFIGURATIONS["glass-39"]
    tokens = mine(run, finite)
    layout = model.addition.written()
    assert tokens.shape[0] == layout.length
    assert 0 < tokens.shape[1] <= MODELS * PAIRS
    x, y = (tokens[list(places)] for places in (layout.x_places, layout.y_places))
    assert np.array_equal(tokens, layout.encode(x, y, add(x, y)))
    mined = set(zip(numbers_of(x), numbers_of(y), strict=True))
    assert len(mined) > 50
    assert mined.isdisjoint(board_pairs(BOARD_SEED, BOARD_PAIRS))


def test_seeds_of_a_question():
    task = QUESTIONS[0]
    models = [drawn(task, seed) for seed in range(3)]
    everyone = {name: np.stack([model.params[name] for model in models]) for name in models[0].params}
    everyone["head.weight"][2] = np.nan
    found = prove_population(models[0].architecture, everyone, [4, 5, 6], task)
    single = [prove_model(model, task, Sequences(), "", False, 20.0, None) for model in models[:2]]
    assert [one.seed for one in found] == [4, 5, 6]
    assert [one.verdict for one in found] == [*(one.verdict for one in single), "not_applicable"]
    assert [one.counterexample for one in found] == [*(one.counterexample for one in single), None]
