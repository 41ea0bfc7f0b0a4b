"""One way in for every family: its verdict, its JSON, and no more imported than it needs."""

import json
import subprocess
import sys

import pytest

from glassformer.proofs.prove import make_unprovable_verdict, prove_model
from glassformer.proofs.verdict import Verdict
from glassformer.runs.load import load_model
from glassformer.tasks import Addition, Prompts, Sequences, make_task, tabulate_automaton
from tests.pictures.conftest import RUNS
from tests.proofs.questions import QUESTIONS, drawn

FIELDS = [
    *("target", "lawful", "verdict", "inputs", "arithmetic", "backend", "smallest_margin"),
    *("rounding_bound", "hardest"),
    *("counterexample", "classes", "exact_error", "seconds", "certificate", "margin_bound", "reason"),
    *("details", "sha256"),
]  # as users' scripts and result.json have them, in this order


def test_the_json_is_the_contract():
    assert [*Verdict(source="somewhere").content()] == FIELDS
    assert Verdict(**Verdict(target="x").content()) == Verdict(target="x")


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
@pytest.mark.parametrize("seed", range(3))
def test_a_question_is_judged_on_its_prompts(task, seed):
    """The proof says what running every prompt says; strings that are no prompts count nowhere."""
    model, prompts = drawn(task, seed), Prompts(tabulate_automaton(task))
    found = prove_model(model, task, Sequences(), "drawn", False, 20.0, None)
    tokens = prompts.between(0, prompts.count)
    wrong = int((model.logits(tokens, last=1)[:, 0].argmax(0) != prompts.answers(tokens)).sum())
    error = found.exact_error
    assert found.inputs == str(prompts.count)
    assert (error["count_low"], error["count_high"], error["contexts"]) == (wrong, wrong, prompts.count)
    assert error["low"] == error["high"] == wrong / prompts.count
    assert found.verdict == ("refuted" if wrong else "proved")
    assert found.lawful_verdict == found.verdict
    json.dumps(found.content(), allow_nan=False)


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
def test_a_questions_counterexample_fails_when_it_is_run(task, tmp_path):
    model, path = drawn(task, 0), tmp_path / "certificate.json"
    found = prove_model(model, task, Sequences(), "drawn", False, 20.0, path)
    wrong = found.counterexample
    context = tabulate_automaton(task).ids(wrong["context"])
    got = int(model.logits(context[:, None], last=1)[:, 0, 0].argmax())
    assert task.tokens()[got] == wrong["got"] not in wrong["expected"]
    assert found.certificate == str(path) and json.loads(path.read_text())["counterexample"] == wrong


def test_what_is_not_provable_has_its_inputs_counted():
    model = load_model("glass-39")
    assert make_unprovable_verdict("", model, Addition(digits=3), "why").inputs == "1000000"
    assert make_unprovable_verdict("", model, QUESTIONS[0], "why").inputs == "27"
    rule = make_unprovable_verdict("", model, make_task("successor", high=2), "why")
    every = sum(3**length for length in range(1, model.architecture.context + 1))
    assert (rule.verdict, rule.inputs) == ("not_applicable", str(every))


@pytest.mark.parametrize(
    ("target", "unwanted"),
    [
        (
            "glass-23",
            ("glassformer.proofs.rule", "glassformer.proofs.rule_search", "glassformer.proofs.contexts"),
        ),
        (str(RUNS / "plus_last_even"), ("glassformer.proofs.adder", "glassformer.proofs.search")),
    ],
)
def test_a_proof_imports_no_other_familys_prover(target, unwanted):
    code = (
        "import sys; from glassformer.runs.load import load_model; from glassformer.proofs.prove import prove_model\n"
        f"model = load_model({target!r}); prove_model(model, model.task, model.data, '', False, 5.0, None)\n"
        f"print([name for name in {unwanted!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
