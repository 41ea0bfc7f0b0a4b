"""What a certificate leaves open is said."""

import pytest

from glassformer.checker.rule import check_strings_certificate
from glassformer.proofs import rule_certificate
from glassformer.proofs.prove import prove_model
from glassformer.proofs.rule_certificate import describe_certified, make_rule_certificate
from glassformer.proofs.rule_rows import RowBudget
from glassformer.tasks import Sequences, make_rule
from tests.proofs.every_context import drawn
from tests.proofs.stacked import stack_layer

DATA = Sequences(min_length=20, max_length=30)


def test_a_certificate_without_room_says_what_it_leaves_open(monkeypatch):
    rule = make_rule("lucky7", low=4, high=8)
    model = drawn(rule, 0, context=4)
    proof = prove_model(model, rule, DATA, "a test", False, 20.0, None)
    whole = make_rule_certificate(proof, model, rule, DATA, "a test")
    assert describe_certified(proof, whole) == ""
    monkeypatch.setattr(rule_certificate, "_share_budget", lambda share: RowBudget(1.0, 0))
    less = make_rule_certificate(proof, model, rule, DATA, "a test")
    assert less["errors"][0] <= whole["errors"][0] <= less["errors"][1]
    assert "are left open" in describe_certified(proof, less)


@pytest.mark.parametrize("size", [0.0, 0.3])
def test_two_layers_are_certified_by_running(size):
    rule = make_rule("lucky7", low=4, high=8)
    model = stack_layer(drawn(rule, 0, context=4), size)
    proof = prove_model(model, rule, DATA, "a test", False, 20.0, None)
    content = make_rule_certificate(proof, model, rule, DATA, "a test")
    assert describe_certified(proof, content) == ""
    found = check_strings_certificate(content)
    assert found.verdict == proof.verdict and found.errors[0] == found.errors[1]
    assert {row[0] for one in content["lengths"] for row in one["rows"]} == {"run"}


def test_two_layers_in_real_numbers_have_no_certificate(tmp_path):
    rule = make_rule("lucky7", low=4, high=8)
    model = stack_layer(drawn(rule, 0, context=3), 0.3)
    proof = prove_model(model, rule, DATA, "a test", True, 20.0, tmp_path / "certificate.json")
    assert proof.certificate is None and not (tmp_path / "certificate.json").exists()
    assert "one layer of attention alone" in proof.details["certified"]
