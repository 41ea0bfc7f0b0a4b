"""Inputs worth a look, for each family."""

import pytest

from glassformer.pages.worst import find_examples
from glassformer.proofs.prove import prove_model
from glassformer.proofs.verdict import Verdict
from glassformer.runs.load import load_model
from glassformer.tasks import Sequences
from tests.proofs.questions import QUESTIONS, drawn


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
def test_a_questions_examples_are_prompts_that_fail_first(task):
    model = drawn(task, 0)
    verdict = prove_model(model, task, Sequences(), "drawn", False, 20.0, None)
    found = find_examples(model, task, verdict)
    assert found.counterexample["input"] == verdict.wrong_input and found.worst[0] == found.counterexample
    assert {"counterexample", "answered wrongly"} <= {one["about"] for one in found.worst}
    assert all(len(one["input"].split()) == task.length - 1 and one["expected"] for one in found.worst)


def test_where_nothing_is_known_the_worst_of_those_tried_are_shown():
    model = load_model("nanogpt-58")
    found = find_examples(model, model.task, Verdict())
    assert found.hardest is None and not found.counterexample["right"]
    assert {one["about"] for one in found.worst} == {"worst of the hard pairs tried"}
