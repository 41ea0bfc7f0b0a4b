"""Questions decided on every prompt, compared with running the model on each of them."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.proofs import question as proving
from glassformer.proofs.enumeration import measure_answer_margins
from glassformer.proofs.question import prove_question
from glassformer.proofs.question_bound import (
    list_walk_edges,
    make_walk,
    prove_classes,
    prove_classes_alike,
    tabulate_prompts,
)
from glassformer.tasks import Prompts, make_task, tabulate_automaton
from tests.proofs.questions import largest_model
from tests.proofs.stacked import stack_layer

TASK = make_task("max_of", numbers=6, k=3)
PROMPTS = Prompts(tabulate_automaton(TASK))
TOKENS = PROMPTS.between(0, PROMPTS.count)
ANSWERS = PROMPTS.answers(TOKENS)
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)


@pytest.fixture
def bounding(monkeypatch):
    """Bounds are used even where all prompts could be run at once."""
    monkeypatch.setattr(proving, "FEW", 0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hidden", [0, 5])
def test_the_verdict_is_that_of_every_prompt(bounding, noise, seed, hidden):
    model = largest_model(noise=noise, seed=seed, hidden=hidden)
    margin = measure_answer_margins(model, TOKENS, ANSWERS)
    proof = prove_question(model, TASK)
    assert int(proof.inputs) == len(margin) == 216
    assert proof.exact_error["count_low"] == proof.exact_error["count_high"] == (margin <= 0).sum()
    assert proof.verdict == ("refuted" if (margin <= 0).any() else "proved")
    assert proof.smallest_margin == pytest.approx(margin.min(), abs=1e-6)
    assert proof.margin_bound <= proof.smallest_margin
    assert sum(proof.classes[name] for name in ("proved", "refuted", "undecided")) == proof.classes["total"]
    wrong = {*zip(TOKENS[-1, margin <= 0].tolist(), ANSWERS[margin <= 0].tolist(), strict=True)}
    assert proof.classes["refuted"] == len(wrong)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("hidden", [0, 5])
def test_a_class_is_proved_only_where_all_its_prompts_are_right(noise, hidden):
    model = largest_model(noise=noise, seed=7, hidden=hidden)
    margin = measure_answer_margins(model, TOKENS, ANSWERS)
    for least in (0.0, 0.5 * abs(margin.min()), 5.0):
        proved = prove_classes(tabulate_prompts(model, PROMPTS), PROMPTS, least)
        inside = margin[proved[TOKENS[-1], ANSWERS]]
        assert (inside > max(0.0, least - 1e-3)).all()


def test_bounds_alone_prove_a_right_model():
    """Otherwise the tests above would pass without any bound; noise makes the values span their space."""
    model = largest_model(noise=0.01)
    assert (measure_answer_margins(model, TOKENS, ANSWERS) > 0).all()
    proved = prove_classes(tabulate_prompts(model, PROMPTS), PROMPTS)
    assert proved.sum() == 6 * 7 // 2


def test_edges_are_the_prompts_of_a_class():
    walk = make_walk(PROMPTS)
    for token, answer in ((2, 2), (2, 5), (0, 3)):
        ways = np.ones(1)
        for level in list_walk_edges(walk, token, answer):
            ways = np.add.reduceat(ways[level.source], level.begins)
        assert ways.sum() == ((TOKENS[-1] == token) & (answer == ANSWERS)).sum()


def test_time_that_runs_out_leaves_prompts(bounding):
    random = np.random.default_rng(0)
    shape = make_reference_architecture(vocab=64, width=4, context=4, head_size=4)
    model = Model(
        shape, {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
    )
    proof = prove_question(model, make_task("max_of"), seconds=1e-9)
    assert proof.verdict == "refuted"
    assert proof.exact_error["count_high"] > proof.exact_error["count_low"]
    assert "were not reached in time" in proof.reason


def test_a_counterexample_is_a_prompt_that_the_model_gets_wrong(bounding):
    model = largest_model(noise=0.5, seed=1)
    wrong = prove_question(model, TASK).counterexample
    tokens = np.array([[TASK.tokens().index(word)] for word in wrong["context"].split()])
    assert model.logits(tokens, 1)[:, 0, 0].argmax() == TASK.tokens().index(wrong["got"])
    assert wrong["expected"] == [str(tokens.max())]


@pytest.mark.parametrize("size", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("behind", [False, True])
def test_two_layers_have_the_verdict_of_every_prompt(bounding, size, behind):
    for noise in (0.02, 0.2):
        model = stack_layer(largest_model(noise=noise, seed=1), size, behind)
        assert_is_verdict_of_every_prompt(model)


def test_two_layers_that_mix_are_run_on_every_prompt(bounding):
    layers = (make_reference_architecture().layers[0],) * 2
    assert_is_verdict_of_every_prompt(draw_layers(layers))


def test_no_attention_has_the_verdict_of_every_prompt(bounding):
    layers = (replace(make_reference_architecture().layers[0], attention=None),)
    assert_is_verdict_of_every_prompt(draw_layers(layers))


def test_no_attention_answers_by_the_last_number_alone():
    """The largest of one number is that number: proved without a bound; of two it is not."""
    layers = (replace(make_reference_architecture().layers[0], attention=None, feedforward=None),)
    model = draw_layers(layers)
    turn = 2 * np.pi * np.arange(6) / 6
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    params = {name: np.zeros_like(part) for name, part in model.params.items()}
    model = Model(model.architecture, params | {"token.weight": circle, "head.weight": circle})
    proved = prove_classes_alike(model, PROMPTS)
    assert (proved == np.eye(6, dtype=bool)).all()
    assert prove_question(model, TASK).verdict == "refuted"
    assert not prove_classes_alike(model, PROMPTS, margin=1.0).any()


def assert_is_verdict_of_every_prompt(model):
    proof = prove_question(model, TASK)
    margin = measure_answer_margins(model, TOKENS, ANSWERS)
    wrong = (~(margin > 0)).sum()
    assert proof.exact_error["count_low"] == proof.exact_error["count_high"] == wrong
    assert proof.verdict == ("refuted" if wrong else "proved")
    assert proof.smallest_margin == pytest.approx(margin.min(), abs=1e-6)


def draw_layers(layers):
    """A random model with these layers."""
    shape = replace(make_reference_architecture(vocab=6, width=2, context=3), layers=layers)
    random = np.random.default_rng(3)
    return Model(shape, {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()})
