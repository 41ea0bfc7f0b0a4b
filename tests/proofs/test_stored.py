"""What is stored counts for these very weights and this task, in its form and as the model answers now; or not at all."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.proofs.certificate import hash_model
from glassformer.proofs.prove import prove_model
from glassformer.proofs.stored import (
    find_stored_verdict,
    find_verdict,
    read_certificate_verdict,
    read_result_verdict,
    read_zoo_verdict,
)
from glassformer.runs.load import load_model
from glassformer.tasks import make_rule

ROOT = Path(__file__).parents[2]
MICRO = "microadder-57"
RULE_RUN, ADDER_RUN = ROOT / "tests/pictures/runs/plus_last_even", ROOT / "fuzz/runs/adder"


def hash_of(model):
    return hash_model(model.architecture, model.params)


def copied(run, folder):
    return Path(shutil.copytree(run, folder / "run"))


def change_json(path, change):
    content = json.loads(path.read_text())
    path.write_text(json.dumps(change(content)))


def test_a_certificate_counts_only_for_its_own_weights(tmp_path):
    model = load_model(MICRO)
    path = tmp_path / "certificate.json"
    prove_model(model, model.task, model.data, MICRO, False, 20.0, path)
    found = find_verdict(model, tmp_path, 1.0, "a test")
    assert "certificate" in found.source and found.verdict == "proved" and len(found.steps) == 11
    other = replace(model, params=dict(model.params) | {"attn.q.angle": model.params["attn.q.angle"] * 3})
    assert read_certificate_verdict(other, tmp_path, hash_of(other)) is None
    shorter = replace(model, task=replace(model.addition, digits=9))
    assert read_certificate_verdict(shorter, tmp_path, hash_of(model)) is None
    lower = replace(model, task=replace(model.addition, base=9))
    assert read_certificate_verdict(lower, tmp_path, hash_of(model)) is None
    path.write_text(json.dumps({"verdict": "proved"}))
    assert read_certificate_verdict(model, tmp_path, hash_of(model)) is None


def test_the_zoos_verdict_counts_only_for_its_own_weights_and_task():
    model = load_model("hand-6")
    assert read_zoo_verdict(model, hash_of(model)).verdict == "proved"
    for changes in ({"digits": 3}, {"layout": "lsb"}):
        assert (
            read_zoo_verdict(replace(model, task=replace(model.addition, **changes)), hash_of(model)) is None
        )
    last = np.nextafter(np.asarray(model.params["token.c1"]), 1.0)  # by one bit
    moved = replace(model, params=dict(model.params) | {"token.c1": last})
    assert read_zoo_verdict(moved, hash_of(moved)) is None


@pytest.mark.parametrize(
    ("name", "changes"),
    [("pure-6", {"operation": "subtract"}), ("double-5", {"operation": "times 3"}), ("any-8", {"base": 9})],
)
def test_weights_that_are_proved_for_one_operation_are_not_for_another(name, changes):
    """A stranger's file may say that the weights of an adder subtract."""
    model = load_model(name)
    other = replace(model, task=replace(model.addition, **changes))
    assert read_zoo_verdict(model, hash_of(model)).verdict == "proved"
    assert read_zoo_verdict(other, hash_of(model)) is None


def test_the_zoo_says_what_a_refuted_model_answers():
    found = find_stored_verdict(load_model("nanogpt-58"), None)
    assert found.counterexample == {"a": 0, "b": 9000, "expected": 9000, "got": 15000}


def test_a_runs_result_adds_the_seconds_to_its_certificate():
    said = json.loads((ADDER_RUN / "result.json").read_text())["proof"]
    found = find_stored_verdict(load_model(ADDER_RUN), ADDER_RUN)
    assert (found.source, found.seconds) == ("certificate certificate.json of the run", said["seconds"])
    assert found.counterexample == said["counterexample"]


def test_without_a_certificate_the_result_counts(tmp_path):
    folder = copied(ADDER_RUN, tmp_path)
    (folder / "certificate.json").unlink()
    assert find_stored_verdict(load_model(folder), folder).source == "result.json of the run"


def test_a_rules_result_is_read_back():
    said = json.loads((RULE_RUN / "result.json").read_text())["proof"]
    found = find_stored_verdict(load_model(RULE_RUN), RULE_RUN)
    kept = (
        "verdict",
        "inputs",
        "arithmetic",
        "smallest_margin",
        "hardest",
        "classes",
        "exact_error",
        "sha256",
    )
    assert {name: getattr(found, name) for name in kept} == {name: said[name] for name in kept}
    assert found.lawful_verdict == said["details"]["lawful"]


def test_a_result_of_another_task_is_not_believed():
    model = load_model(RULE_RUN)
    other = replace(model, task=replace(model.task, p=0.9))  # the same demands: the same margins
    assert read_result_verdict(other, RULE_RUN, hash_of(model)) is not None
    other = replace(model, task=make_rule("plus_max_of_two", high=10))
    assert other.task.tokens() == model.task.tokens()
    assert read_result_verdict(other, RULE_RUN, hash_of(model)) is None


HOSTILE = {
    "verdict": ["sure", 3, None, ["proved"]],
    "inputs": ["7", 7, None, "9" * 999, "x"],
    "arithmetic": ["float16", '"""', None],
    "smallest_margin": [1e301, "2", True, [], float("nan")],
    "rounding_bound": ["x", float("inf")],
    "hardest": ["0 99", "4 " * 9, "", 5, {"a": 1}, ["4", "7"]],
    "counterexample": [{"context": "4 7 +"}, {"a": 1, "b": 2}, {}, "4 7 +", 3],
    "classes": [[1], {"total": -1}, {"proved": "many"}, {"total": 1.5}],
    "exact_error": [
        [],
        {"low": 0.1},
        {"low": 0.5, "high": 0.1, "contexts": 4},
        {"low": 0, "high": 0},
        "none",
    ],
    "seconds": ["<b>", True],
    "reason": [3, "x" * 1001, None],
    "details": [3, {"worst": 3}, {"worst": [None]}, {"worst": [{"context": "x"}]}, {"lawful": "<b>"}],
    "sha256": ["another", None, 3],
}


@pytest.mark.parametrize(("name", "value"), [(name, one) for name, every in HOSTILE.items() for one in every])
def test_a_hostile_result_is_as_if_there_were_none(tmp_path, name, value):
    folder = copied(RULE_RUN, tmp_path)
    change_json(folder / "result.json", lambda tree: tree | {"proof": tree["proof"] | {name: value}})
    assert find_stored_verdict(load_model(folder), folder) is None


@pytest.mark.parametrize(
    "content", ["", "[1]", "{}", '{"proof": []}', '{"proof": {"verdict": 3}}', "\x00", "[" * 5000]
)
def test_a_damaged_result_is_as_if_there_were_none(tmp_path, content):
    folder = copied(RULE_RUN, tmp_path)
    (folder / "result.json").write_text(content)
    assert find_stored_verdict(load_model(folder), folder) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counterexample", {"a": 0, "b": 0}),  # it is right there
        ("counterexample", {"a": 100, "b": 0}),
        ("counterexample", {"a": "1", "b": 0}),
        ("counterexample", None),
        ("verdict", "proved"),
        ("hardest", [{"step": 10**200, "a": 1, "b": 0, "margin": 1.0}]),
        ("hardest", [{"step": 0, "a": -1, "b": 0, "margin": 1.0}]),
        ("hardest", [{"step": 0, "a": 1, "b": 0, "margin": "1"}]),
        ("hardest", None),
        ("task", {"digits": 3, "layout": "lsb24"}),
        ("model", "x"),
    ],
)
def test_a_hostile_certificate_is_as_if_there_were_none(tmp_path, name, value):
    folder = copied(ADDER_RUN, tmp_path)
    model = load_model(folder)
    change_json(folder / "certificate.json", lambda tree: tree | {name: value})
    assert read_certificate_verdict(model, folder, hash_of(model)) is None


def test_a_certificate_that_was_changed_is_named(tmp_path):
    folder = copied(ADDER_RUN, tmp_path)
    change_json(folder / "result.json", lambda tree: tree | {"digests": {"certificate.json": "0" * 64}})
    with pytest.raises(UserError, match="is damaged or was changed"):
        find_stored_verdict(load_model(folder), folder)


def test_a_proof_is_made_where_nothing_is_stored(tmp_path):
    model = load_model("glass-29")
    shorter = replace(model, task=replace(model.addition, digits=2), origin="mine.safetensors")
    found = find_verdict(shorter, None, 10.0, "a test")
    assert (found.inputs, found.source) == ("10000", "a proof made for a test")


def test_what_cannot_be_proved_is_a_result_too():
    model = load_model("glass-39")
    huge = {**model.params, "attn.q.weight": np.full_like(model.params["attn.q.weight"], 3e38)}
    found = find_verdict(replace(model, params=huge), None, 1.0, "a test")
    assert (found.verdict, found.inputs) == ("not_applicable", str(10**20))
    assert "overflows float32" in found.reason
