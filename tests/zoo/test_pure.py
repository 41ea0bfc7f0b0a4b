"""The pure family as it ships: proved for every length, and the same weights subtract."""

import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.models.adding import write_sum
from glassformer.models.constants import count_constants
from glassformer.models.model import Model
from glassformer.proofs.certificate import digest_certificate
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.runs.load import load_model
from glassformer.zoo import ZOO, pure
from tests.selection import chosen

SHIPPED = [entry.id for entry in pure.ENTRIES if entry.weights]


def certify(model, task):
    """The proof for every length with its certificate."""
    proof = prove_every_length(model, task)
    return proof, make_every_length_certificate(proof, model, task, "pure")


def test_the_smallest_ship():
    assert {"pure-6", "pure-5", "minus-6", "double-5", "binary-5", "hex-6"} <= set(SHIPPED)


@pytest.mark.parametrize("name", chosen(SHIPPED, ["minus-6"]))
def test_proved_for_every_length_and_checked(name):
    model = load_model(name)
    proof, tree = certify(model, model.addition)
    assert (proof.verdict, proof.inputs) == ("proved", "all")
    assert len(proof.lengths) == max(proof.window.longest, 10)
    result = check_certificate(tree)
    assert result.valid, result.reason
    assert result.task.startswith(model.addition.does.noun)
    assert count_constants(model.architecture) == 0


def test_the_weights_of_the_adder_subtract():
    """The mirror of a digit is its complement: the margins of sums and differences are the same."""
    adder, minus = load_model("pure-6"), ZOO["minus-6"]
    proof = prove_every_length(Model(minus.architecture, adder.params), minus.task)
    assert proof.verdict == "proved"
    assert proof.smallest_margin == pytest.approx(
        prove_every_length(adder, adder.addition).smallest_margin, rel=1e-3
    )


@pytest.mark.parametrize(("a", "b", "got"), [(57, 68, 989), (68, 57, 11), (0, 0, 0), (0, 99, 901)])
def test_differences(a, b, got):
    model = load_model("minus-6")
    assert write_sum(model, model.addition, a, b, digits=2).got == got


def test_a_refutation_speaks_of_a_difference_and_a_certificate_of_its_operation():
    """The adder does not subtract; and a certificate that is relabelled does not hold."""
    adder, task = load_model("pure-6"), ZOO["minus-6"].task
    proof, tree = certify(adder, task)
    assert proof.verdict == "refuted"
    assert check_certificate(tree).problem == task.write_problem(
        proof.counterexample["a"], proof.counterexample["b"]
    )
    _, right = certify(adder, adder.addition)
    forged = {key: value for key, value in right.items() if key != "digest"}
    forged["task"] = {**forged["task"], "operation": "subtract"}
    forged["lengths"] = [
        {**one, "task": {**one["task"], "operation": "subtract"}} for one in forged["lengths"]
    ]
    assert not check_certificate(forged | {"digest": digest_certificate(forged)}).valid
