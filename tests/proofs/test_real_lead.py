"""In real numbers a pair refutes only if a wrong digit leads without rounding, in the prover and in the check."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.models.adding import write_sum
from glassformer.models.forward import untie_parameters
from glassformer.models.head import LinearHead
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.real_lead import is_wrong_in_real
from glassformer.runs.load import load_model
from tests.checker.conftest import altered

BIAS = 2.0**60  # of all logits alike: it changes no digit, and float64 loses what tells them apart


@cache
def lift_logits(name: str, bias: float) -> Model:
    """The same model with a head of its own, whose biases are all the same."""
    model = load_model(name).with_digits(2)
    ops, shape = NumpyOps("float64"), model.architecture
    params = untie_parameters(shape, {key: np.asarray(one, np.float64) for key, one in model.params.items()})
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    weight = table @ shape.head.weight.weight(ops, params, "head", shape.token_dims, shape.width)
    kept = {key: one for key, one in params.items() if not key.startswith("head.")}
    head = {"head.weight": weight, "head.bias": np.full(shape.vocab, bias)}
    return Model(replace(shape, head=LinearHead(), ties=(), fixed=()), kept | head)


@pytest.mark.parametrize(("bias", "right"), [(0.0, True), (BIAS, False)])
def test_rounding_alone_does_not_refute_in_real_numbers(bias, right):
    model, task = lift_logits("any-8", bias), load_model("any-8").with_digits(2).addition
    assert write_sum(model, task, 0, 1).right == right
    deployed, real = (prove_adder(model, task, real=is_real, seconds=5.0) for is_real in (False, True))
    assert deployed.verdict == ("proved" if right else "refuted")
    assert real.verdict == ("proved" if right else "undecided")
    assert not real.classes["refuted"]


def test_a_check_in_real_numbers_refuses_a_pair_that_only_rounding_makes_wrong():
    model, task = lift_logits("any-8", BIAS), load_model("any-8").with_digits(2).addition
    certificate = json.loads(
        json.dumps(make_adder_certificate(prove_adder(model, task), model, task, "here"))
    )
    assert check_certificate(certificate).valid
    found = check_certificate(altered(certificate, lambda tree: tree.update(arithmetic="real")))
    assert not found.valid and "certain to lead" in found.reason, found.reason


@pytest.mark.parametrize("name", ["nanogpt-58", "tinyadder-95"])
def test_what_is_wrong_in_real_numbers_is_refuted_and_checked(name):
    model = load_model(name)
    proof = prove_adder(model, model.addition, real=True)
    assert proof.verdict == "refuted"
    wrong = proof.counterexample
    assert not write_sum(model, model.addition, wrong["a"], wrong["b"]).right
    certificate = make_adder_certificate(proof, model, model.addition, name)
    found = check_certificate(json.loads(json.dumps(certificate)))
    assert found.valid, found.reason


def test_rows_are_judged_one_by_one():
    model, task = load_model("any-8").with_digits(1), load_model("any-8").with_digits(1).addition
    x, y = np.array([[4, 7]]), np.array([[5, 8]])
    tokens = task.written().encode(x, y, task.solve_digits(x, y))[:-1]
    right = np.array([9, 5])
    assert is_wrong_in_real(model, tokens[:-1], right).tolist() == [False, False]
    assert is_wrong_in_real(model, tokens[:-1], np.array([9, 4])).tolist() == [False, True]
