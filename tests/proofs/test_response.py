"""One input as the model answers it, beside the model's own logits."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.proofs.prove import prove_model
from glassformer.proofs.response import parse_pair, respond_input
from glassformer.runs.load import load_model
from glassformer.tasks import Sequences, tabulate_automaton
from tests.pictures.conftest import RUNS
from tests.proofs.questions import QUESTIONS, drawn


def test_a_context():
    model = load_model(RUNS / "plus_last_even")
    found = respond_input(model, model.task, "4 7 +")
    logits = model.forward(np.array([4, 7, 11]), last=1)[0].astype(np.float64)
    assert (found.expected, found.got, found.is_right) == ("4", "4", True)
    assert found.margin == logits[4] - np.delete(logits, 4).max()
    nothing = respond_input(model, model.task, "4 7")
    assert (nothing.expected, nothing.is_right, nothing.record["expected"]) == ("", True, [])


def test_a_sum():
    model = load_model("nanogpt-58")
    found = respond_input(model, model.task, "0+9000")
    assert found.record == {"a": 0, "b": 9000, "expected": 9000, "got": 15000}
    assert found.margin < 0 and not found.is_right
    assert respond_input(model, model.task, "57+68").margin > 0


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
def test_a_prompt_is_answered_as_the_prover_says(task):
    model = drawn(task, 0)
    wrong = prove_model(model, task, Sequences(), "drawn", False, 20.0, None).counterexample
    found = respond_input(model, task, wrong["context"])
    assert found.record == wrong and not found.is_right
    shorter = tabulate_automaton(task).text(tabulate_automaton(task).ids(wrong["context"])[:-1])
    assert respond_input(model, task, shorter).expected == ""  # a prompt that is not whole asks nothing


@pytest.mark.parametrize("text", ["", "57", "+", "57+", "5 7+1", "-1+2", "1+2+3", "1e3+1"])
def test_what_is_no_sum(text):
    with pytest.raises(UserError, match="is no sum such as"):
        parse_pair(text)
