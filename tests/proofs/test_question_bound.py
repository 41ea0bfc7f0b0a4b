"""Random models of many architectures: what is called proved is right on every prompt, however it is run.

The question is made for the model: its answers are what the model says, so that many classes are right and
margins come as close to 0 as chance has it; some answers are then made wrong.
"""

import numpy as np
import pytest

from glassformer.proofs import question as proving
from glassformer.proofs.enumeration import measure_answer_margins
from glassformer.proofs.question import prove_question
from glassformer.proofs.question_bound import prove_classes, tabulate_prompts
from glassformer.proofs.question_rounding import bound_class_rounding
from glassformer.proofs.tables import NotProvableError
from glassformer.tasks import Prompts, tabulate_automaton
from tests.proofs.random_models import EVERY, NUMBERS, draw_case, question_of, run_alone
from tests.proofs.stacked import stack_layer


@pytest.fixture
def bounding(monkeypatch):
    """Bounds are used even where all prompts could be run at once."""
    monkeypatch.setattr(proving, "FEW", 0)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proved_is_right_on_every_prompt(bounding, seed):
    model, question = draw_case(seed)
    answers = Prompts(tabulate_automaton(question)).answers(EVERY)
    together, alone = measure_answer_margins(model, EVERY, answers), run_alone(model, EVERY, answers)
    least = np.minimum(together, alone)
    proof = prove_question(model, question)
    low, high = proof.exact_error["count_low"], proof.exact_error["count_high"]
    assert low <= (alone <= 0).sum() <= high or low <= (together <= 0).sum() <= high
    if proof.verdict == "proved":
        assert (least > 0).all() and low == high == 0
        assert proof.margin_bound <= least.min() + 1e-4
        assert proof.smallest_margin == pytest.approx(least.min(), rel=1e-3, abs=1e-3)
    if proof.verdict == "refuted":
        assert (least <= 0).any() and proof.counterexample


@pytest.mark.parametrize("seed", range(60))
def test_a_class_is_proved_only_where_all_its_prompts_are_right(seed):
    model, question = draw_case(seed)
    assert_classes_are_right(model, question)


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_with_a_second_layer(seed, behind):
    """Of the tables' centres nothing may be claimed; enough is proved for this to say something."""
    for size in (0.0, 1e-3, 0.1):
        model = stack_layer(draw_case(seed)[0], size, behind, seed)
        question = question_of(model.logits(EVERY, 1)[:, 0].argmax(0))
        proved = assert_classes_are_right(model, question)
        guards = bound_class_rounding(
            tabulate_prompts(model, Prompts(tabulate_automaton(question))), NUMBERS, proved
        )
        assert np.isinf(guards).all()


def test_a_second_layer_leaves_classes_to_bounds():
    proved = 0
    for seed in range(4):
        model = stack_layer(draw_case(seed)[0], 1e-4, seed=seed)
        question = question_of(model.logits(EVERY, 1)[:, 0].argmax(0))
        proved += int(assert_classes_are_right(model, question).sum())
    assert proved > 5


def assert_classes_are_right(model, question):
    """Those that bounds prove; returned without a margin asked for."""
    prompts = Prompts(tabulate_automaton(question))
    answers = prompts.answers(EVERY)
    margin = np.minimum(measure_answer_margins(model, EVERY, answers), run_alone(model, EVERY, answers))
    found = dict.fromkeys((0.0, 0.1), np.zeros((NUMBERS, NUMBERS), bool))
    try:
        tables = tabulate_prompts(model, prompts)
    except NotProvableError:  # a score of softmax1 that is too large
        return found[0.0]
    for asked in (0.0, 0.1):
        found[asked] = prove_classes(tables, prompts, asked)
        assert (margin[found[asked][EVERY[-1], answers]] > max(0.0, asked - 1e-3)).all()
    return found[0.0]


def test_random_models_have_proved_classes_and_close_margins():
    """Otherwise the tests above would say nothing."""
    verdicts = {prove_question(*draw_case(seed)).verdict for seed in range(60)}
    proved = 0
    for seed in range(20):
        model, question = draw_case(seed)
        tables = tabulate_prompts(model, Prompts(tabulate_automaton(question)))
        proved += int(prove_classes(tables, Prompts(tabulate_automaton(question))).sum())
    assert {"proved", "refuted"} <= verdicts
    assert proved > 20
