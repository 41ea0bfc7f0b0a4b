"""The proof by two columns: it sees a wrong number and a leak."""

import numpy as np
import pytest

from glassformer.tasks import add_digits, to_digits
from glassformer.verify.addition import write_answers
from glassformer.verify.two_columns import (
    ColumnProof,
    encode_near_cases,
    list_near_cases,
    prove_answer_digit,
    trace_last_position,
)
from glassformer.zoo import ZOO
from tests.zoo.smallest import LAYOUT, MIDDLE, model_of


def test_the_proof_sees_a_wrong_number():
    """With a mix of 5 : 1 for 10 : 1 digits come out wrong, and the proof does not hold."""
    broken = model_of("hand-6", attn_q_angle=-5.4915)
    assert not prove_answer_digit(broken, LAYOUT, MIDDLE).holds
    x, y = to_digits([8_888_888_888], 10, 10), to_digits([0], 10, 10)
    assert (write_answers(broken, ZOO["hand-6"].task, x, y) != add_digits(x, y, 10)).any()


def test_the_proof_sees_a_leak():
    """Heads of a tenth of the sharpness still add, if the far digits are 0."""
    numbers = {name: float(ZOO["hand-10"].build()[f"attn.q.{name}"]) / 10 for name in ("even", "odd")}
    proof = prove_answer_digit(
        model_of("hand-10", attn_q_even=numbers["even"], attn_q_odd=numbers["odd"]), LAYOUT, MIDDLE
    )
    assert proof.leak > 0.1
    assert not proof.holds


def test_proof_holds_only_with_a_gap():
    assert not ColumnProof(gap=0.0, share=0.0, leak=0.0, cases=1).holds


@pytest.mark.parametrize("name", ["hand-10", "hand-4"])
def test_random_digits_elsewhere_stay_inside_the_bound(name):
    """The cases of the proof once more, with far digits that are neither all 0 nor all 9."""
    model, cases = model_of(name), list_near_cases(LAYOUT, MIDDLE)
    proof = prove_answer_digit(model, LAYOUT, MIDDLE)
    zeros, nines = (encode_near_cases(LAYOUT, MIDDLE, cases, fill) for fill in (0, 9))
    tokens = np.where(zeros == nines, zeros, np.random.default_rng(0).integers(0, 10, zeros.shape))
    logits = trace_last_position(model, tokens)["logits"][:, 0]
    best, second = np.sort(logits, axis=0)[[-1, -2]]
    assert (logits.argmax(0) == cases.expected).all()
    assert (best - second).min() >= proof.gap
