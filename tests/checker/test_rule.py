"""Certificates of models that read strings: the failure that they name is run and judged anew."""

import hashlib
import json

import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.checker.rule import count_inputs
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import load_model
from glassformer.tasks import Sequences, make_task, tabulate_automaton
from tests.pictures.conftest import RUNS
from tests.proofs.questions import QUESTIONS, drawn


def certificate_of(model, task, data, path):
    assert prove_model(model, task, data, "a test", False, 20.0, path).verdict == "refuted"
    return json.loads(path.read_text())


@pytest.fixture
def refuted_rule(tmp_path):
    model = load_model(RUNS / "lucky7")
    return certificate_of(model, model.task, model.data, tmp_path / "c.json")


def sealed(tree, **changes):
    """The certificate with other claims, and a digest that fits them."""
    rest = {key: value for key, value in (tree | changes).items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return rest | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def test_a_refuted_rule(refuted_rule):
    assert check_certificate(refuted_rule).reason == "every claim holds: refuted"


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
def test_a_refuted_question(task, tmp_path):
    tree = certificate_of(drawn(task, 0), task, Sequences(), tmp_path / "c.json")
    assert check_certificate(tree).reason == "every claim holds: refuted"
    every = task.count_inputs(task.length - 1)
    found = check_certificate(sealed(tree, inputs=str(every + 1)))
    assert found.reason == f"there are {every} prompts, not {every + 1}"
    wrong = tree["counterexample"] | {"got": tree["counterexample"]["expected"][0]}
    assert not check_certificate(sealed(tree, counterexample=wrong)).valid


def test_claims_that_do_not_hold(refuted_rule):
    wrong = refuted_rule["counterexample"]
    assert (
        "the model says"
        in check_certificate(sealed(refuted_rule, counterexample=wrong | {"got": "0"})).reason
    )
    assert "contexts, not 7" in check_certificate(sealed(refuted_rule, inputs="7")).reason
    assert "only refutations" in check_certificate(sealed(refuted_rule, verdict="proved")).reason
    assert "digest does not match" in check_certificate(refuted_rule | {"inputs": "7"}).reason


@pytest.mark.parametrize("name", ["max_of", "modular", "lucky7"])
def test_inputs_are_counted_as_the_task_counts_them(name):
    task = make_task(name)
    assert count_inputs(tabulate_automaton(task), 4) == task.count_inputs(4)
