"""No run has a smaller margin than its bound."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.projection import FullProjection
from glassformer.proofs import question as proving
from glassformer.proofs.enumeration import measure_answer_margins
from glassformer.proofs.question import prove_question
from glassformer.proofs.question_rounding import bound_margins
from glassformer.tasks import Prompts, tabulate_automaton
from tests.proofs.random_models import EVERY, NUMBERS, K, draw_case, question_of, run_alone


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("apart", [False, True])
def test_no_run_has_a_smaller_margin_than_its_bound(seed, apart):
    model, question = draw_case(seed)
    few = EVERY[:, ::5]
    answers = Prompts(tabulate_automaton(question)).answers(few)
    bound = bound_margins(model, few, answers, apart)
    finer = Model(replace(model.architecture, precision="float64"), model.params)
    for found in (measure_answer_margins(model, few, answers), run_alone(model, few, answers)):
        assert (bound <= found).all()
    assert (bound <= measure_answer_margins(finer, few, answers)).all()


@pytest.mark.parametrize("few", [0, 1 << 16])
def test_margins_that_rounding_may_undo_are_not_proved(monkeypatch, few):
    """Tokens 0 and 1 have nearly the same logits: right by less than 32 terms may be off in another order."""
    monkeypatch.setattr(proving, "FEW", few)
    layer = Layer(Attention(head_size=4, value_size=4, out=FullProjection()), None)
    shape = Architecture(vocab=NUMBERS, context=K, width=32, layers=(layer,))
    random = np.random.default_rng(0)
    params = {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
    params["head.bias"] = np.array([100.0, 100.0, 0.0, 0.0, 0.0])
    params["head.weight"][1] = params["head.weight"][0] * (1 - 1e-7)
    model = Model(shape, {name: array.astype("float32") for name, array in params.items()})
    question = question_of(model.logits(EVERY, 1)[:, 0].argmax(0))
    proof = prove_question(model, question)
    assert proof.verdict != "proved"
    if proof.verdict == "undecided":
        assert "rounding may undo the margins of" in proof.reason and proof.classes["undecided"] > 0
