"""Certificates of models that read strings: every count found again by running everything, and tampering refused."""

import copy
import hashlib
import json

import numpy as np
import pytest

from glassformer.checker import rule as checker_rule
from glassformer.checker.certificate import check_certificate, set_check_precision
from glassformer.checker.rule import check_strings_certificate
from glassformer.core.errors import UserError
from glassformer.proofs.lawful import LawfulContexts
from glassformer.proofs.lawful_words import count_all_errors
from glassformer.proofs.prove import prove_model
from glassformer.proofs.rule_certificate import make_rule_certificate
from glassformer.runs.load import load_model
from glassformer.tasks import Sequences, make_rule, tabulate_automaton
from tests.pictures.conftest import RUNS
from tests.proofs.every_context import TINY, drawn, margins
from tests.proofs.questions import QUESTIONS, largest_model
from tests.proofs.questions import drawn as drawn_question

DATA = Sequences(min_length=20, max_length=30)


def certificate_of(model, task, data, path, real=False):
    proof = prove_model(model, task, data, "a test", real, 20.0, path)
    return proof, json.loads(path.read_text())


@pytest.fixture(scope="module")
def proved_lucky(tmp_path_factory):
    model = load_model(RUNS / "lucky7")
    return certificate_of(model, model.task, model.data, tmp_path_factory.mktemp("lucky") / "c.json")


@pytest.fixture
def lucky(proved_lucky):
    return proved_lucky[1]


def sealed(tree):
    """With a digest that fits whatever was changed."""
    rest = {key: value for key, value in tree.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return rest | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def changed(tree, change):
    found = copy.deepcopy(tree)
    change(found)
    return sealed(found)


def is_refused(tree):
    try:
        return not check_certificate(tree).valid
    except UserError:
        return True


def checked(tree):
    with set_check_precision():
        return check_strings_certificate(tree)


@pytest.mark.parametrize(
    "name", ["lucky7", "plus_last_even", "odd_even_index", "copy_modulo", "parity_based"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_counts_are_those_of_running_every_context(name, seed, tmp_path):
    rule = make_rule(name, **TINY[name])
    model = drawn(rule, seed, context=4)
    _, tree = certificate_of(model, rule, DATA, tmp_path / "c.json")
    found, lawful = checked(tree), LawfulContexts(tabulate_automaton(rule), 4)
    broken = [
        c for length in range(1, 5) for c, margin in margins(model, rule, length).items() if margin <= 0
    ]
    own = [c for c in broken if lawful.contains(np.array([c]))[0]]
    assert (found.errors, found.lawful["errors"]) == ((len(broken),) * 2, (len(own),) * 2)
    assert found.verdict == ("refuted" if broken else "proved")
    assert found.lawful["verdict"] == ("refuted" if own else "proved")


def test_lucky7_is_proved_on_lawful_contexts_and_counted_on_all(proved_lucky):
    proof, lucky = proved_lucky
    found = checked(lucky)
    assert (found.verdict, found.lawful["verdict"], found.inputs) == ("refuted", "proved", "235794768")
    assert (found.errors, found.lawful["errors"]) == (count_all_errors(proof), (0, 0))
    kinds = {row[0] for one in lucky["lengths"] for row in one["rows"]}
    assert kinds == {"box", "run"}
    assert check_certificate(lucky).reason == "every claim holds: refuted"


def flip_last_set(tree):
    tree["lengths"][7]["rows"][0][1][0] = "7ff" if tree["lengths"][7]["rows"][0][1][0] != "7ff" else "7fe"


TAMPERED = {
    "verdict": lambda tree: tree.update(verdict="proved"),
    "inputs": lambda tree: tree.update(inputs="7"),
    "lawful verdict": lambda tree: tree["lawful"].update(verdict="refuted"),
    "lawful inputs": lambda tree: tree["lawful"].update(inputs="7"),
    "lawful constrained": lambda tree: tree["lawful"].update(constrained="7"),
    "lawful errors": lambda tree: tree["lawful"].update(errors=[0, 1]),
    "fewer errors": lambda tree: tree.update(errors=[tree["errors"][0] - 1] * 2),
    "errors of a length": lambda tree: tree["lengths"][7].update(errors=[0, 0]),
    "no counterexample": lambda tree: tree.update(counterexample=None),
    "counterexample": lambda tree: tree["counterexample"].update(got="0"),
    "expected": lambda tree: tree["counterexample"].update(expected=["0"]),
    "tie": lambda tree: tree["counterexample"].update(tie=True),
    "lawful counterexample": lambda tree: tree["lawful"].update(
        counterexample=tree["counterexample"], verdict="refuted"
    ),
    "margin": lambda tree: tree.update(smallest_margin=np.nextafter(tree["smallest_margin"], 0.0)),
    "hardest": lambda tree: tree.update(hardest="0 7"),
    "arithmetic": lambda tree: tree.update(arithmetic="float64"),
    "real": lambda tree: tree.update(arithmetic="real"),
    "a row dropped": lambda tree: tree["lengths"][7]["rows"].pop(),
    "a row twice": lambda tree: tree["lengths"][7]["rows"].append(tree["lengths"][7]["rows"][0]),
    "a set widened": flip_last_set,
    "another leader": lambda tree: tree["lengths"][7]["rows"][0].__setitem__(2, 10),
    "a leader that is no token": lambda tree: tree["lengths"][7]["rows"][0].__setitem__(2, 11),
    "a set empty": lambda tree: tree["lengths"][7]["rows"][0][1].__setitem__(0, "0"),
    "a run called a box": lambda tree: [row.__setitem__(0, "box") for row in tree["lengths"][7]["rows"]],
    "another kind": lambda tree: tree["lengths"][7]["rows"][0].__setitem__(0, "right"),
    "lengths swapped": lambda tree: tree["lengths"].reverse(),
    "a length dropped": lambda tree: tree["lengths"].pop(),
    "lawful rows": lambda tree: tree["lengths"][7].update(lawful_rows=[]),
    "too many listed": lambda tree: tree["lengths"][7].update(lawful_rows="listed", lawful_errors=[0, 1]),
    "axes": lambda tree: tree["axes"][0].update(axes=[[0.0] * len(tree["axes"][0]["centre"])]),
    "no layer of the mix": lambda tree: tree.update(mixing=None),
    "another layer of the mix": lambda tree: tree.update(mixing=1),
    "a layer below all": lambda tree: tree.update(mixing=-1),
    "a layer that is no number": lambda tree: tree.update(mixing="0"),
    "an unknown field": lambda tree: tree.update(slack=1.0),
    "an unknown field within": lambda tree: tree["lengths"][0].update(slack=1.0),
    "an unknown lawful field": lambda tree: tree["lawful"].update(slack=1.0),
    "a field dropped": lambda tree: tree.pop("hardest"),
    "sha256": lambda tree: tree["model"].update(sha256="0" * 64),
    "task": lambda tree: tree["task"].update(high=9),
}  # fmt: skip


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_tampering_is_refused(lucky, change):
    assert is_refused(changed(lucky, change))


def test_numbers_of_every_kind_are_refused(lucky):
    for value in (10**400, -1, 1.5, True, None, "x", [], {}):
        assert is_refused(changed(lucky, lambda tree, value=value: tree.update(errors=[value, value])))
        assert is_refused(changed(lucky, lambda tree, value=value: tree["lengths"][7].update(rows=value)))


def test_open_rows_leave_bounds_and_a_lawful_list_decides(tmp_path):
    rule = make_rule("successor", high=4)
    _, tree = certificate_of(drawn(rule, 0, context=4), rule, DATA, tmp_path / "c.json")
    whole = checked(tree)

    def leave(tree):
        last = tree["lengths"][3]
        contexts = 5**4
        last.update(rows=[], errors=[0, contexts], lawful_rows="listed")
        every = [sum(one["errors"][end] for one in tree["lengths"]) for end in (0, 1)]
        tree.update(errors=every)

    found = checked(changed(tree, leave))
    assert found.errors[0] < whole.errors[0] < found.errors[1]
    assert found.lawful == whole.lawful


def test_real_numbers_have_boxes_alone(tmp_path):
    rule = make_rule("even_to_odd_transition", high=3)
    model = drawn(rule, 0, context=3)
    proof, tree = certificate_of(model, rule, DATA, tmp_path / "c.json", real=True)
    found = checked(tree)
    assert found.arithmetic == "real"
    assert found.errors[0] <= proof.exact_error["count_low"] + sum(
        one["errors_low"] for one in proof.details["shorter"].values()
    )
    assert {row[0] for one in tree["lengths"] for row in one["rows"]} <= {"box"}


@pytest.mark.parametrize("task", QUESTIONS, ids=lambda task: task.name)
def test_a_question_is_run_on_every_prompt(task, tmp_path):
    proof, tree = certificate_of(drawn_question(task, 0), task, Sequences(), tmp_path / "c.json")
    found, every = checked(tree), task.count_inputs(task.length - 1)
    assert (found.inputs, found.errors) == (str(every), (proof.exact_error["count_low"],) * 2)
    assert found.smallest_margin == proof.smallest_margin
    for change in (
        lambda tree: tree.update(inputs=str(every + 1)),
        lambda tree: tree.update(errors=tree["errors"] - 1),
        lambda tree: tree.update(verdict="proved"),
        lambda tree: tree.update(verdict="proved", counterexample=None),
        lambda tree: tree.update(smallest_margin=tree["smallest_margin"] + 1e-6),
        lambda tree: tree["counterexample"].update(got=tree["counterexample"]["expected"][0]),
        lambda tree: tree.update(more=1),
    ):
        assert is_refused(changed(tree, change))


def test_a_proved_question(tmp_path):
    task = QUESTIONS[0]
    proof, tree = certificate_of(largest_model(3, 3), task, Sequences(), tmp_path / "c.json")
    assert proof.verdict == "proved"
    assert (checked(tree).verdict, checked(tree).errors) == ("proved", (0, 0))
    weights = changed(tree, lambda tree: tree["model"]["params"]["attn.k.weight"]["values"].reverse())
    assert is_refused(weights)


def test_the_rows_are_made_for_any_rule(tmp_path):
    rule = make_rule("even_abs_diff", **TINY["even_abs_diff"])
    model = drawn(rule, 3, context=4, width=4, heads=2, head_size=2)
    proof = prove_model(model, rule, DATA, "a test", False, 20.0, None)
    tree = json.loads(json.dumps(make_rule_certificate(proof, model, rule, DATA, "a test")))
    assert check_certificate(tree).valid


def test_a_leader_that_fails_is_refused_by_a_run_before_any_box_is_bounded(lucky, monkeypatch):
    """Every box with another leader took minutes: all of them were bounded."""
    monkeypatch.setattr(checker_rule, "require_leaders", None)  # bounding one would be a TypeError

    def mislead(tree):
        for row in (row for one in tree["lengths"] for row in one["rows"] if row[0] == "box"):
            row[2] = (row[2] + 1) % 11

    said = check_certificate(changed(lucky, mislead)).reason
    assert "does not lead after" in said


def test_what_is_too_much_to_run_is_refused_before_anything_is_run(lucky, monkeypatch):
    monkeypatch.setattr(checker_rule, "_MOST_RUN", 5)
    monkeypatch.setattr(checker_rule, "run_row", None)
    assert "asks for more than 5 contexts" in check_certificate(lucky).reason


def test_errors_that_do_not_fit_the_sizes_of_rows_are_refused_before_anything_is_run(lucky, monkeypatch):
    monkeypatch.setattr(checker_rule, "run_row", None)

    def drop_row(tree):
        tree["lengths"][-1]["rows"].pop()

    assert "but the rows leave" in check_certificate(changed(lucky, drop_row)).reason
