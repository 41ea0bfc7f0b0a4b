"""A certificate for every length: true ones hold, and a claim that is nearly true is found."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.core.errors import UserError
from glassformer.models.architecture import Tie
from glassformer.models.model import Model
from glassformer.models.relations import LowColumnRelation
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.runs.load import load_model
from tests.checker.conftest import altered
from tests.checker.sealing import hash_stored
from tests.proofs.test_every_length import spoil


def certify(model, task, real=False):
    return make_every_length_certificate(prove_every_length(model, task, real), model, task, "mine")


@pytest.fixture(scope="module")
def model():
    return load_model("any-8")


@pytest.fixture(scope="module")
def certificate(model):
    return certify(model, model.addition)


@pytest.fixture(scope="module")
def refuted(model):
    return certify(spoil(model, ff__up__p=0.2), model.addition)


def reject(tree, change):
    """Why the changed certificate does not hold."""
    try:
        found = check_certificate(altered(tree, change))
    except UserError as error:
        return str(error)
    assert not found.valid
    return found.reason


def test_the_certificate_holds(certificate):
    found = check_certificate(certificate)
    assert found.valid and found.verdict == "proved" and found.inputs == "all"
    assert found.smallest_margin == certificate["smallest_margin"]
    assert "every length" in found.task


def test_in_real_numbers_it_holds(model):
    assert check_certificate(certify(model, model.addition, real=True)).valid


def test_a_refutation_holds(refuted):
    found = check_certificate(refuted)
    assert found.valid and found.verdict == "refuted"
    assert found.counterexample["digits"] == len(refuted["lengths"])


def drop_last(tree):
    """One length fewer than the window needs."""
    del tree["lengths"][sum(tree["window"]) + 1 :]


def narrow(tree):
    tree["window"] = [tree["window"][0], tree["window"][1] - 1]


def narrow_below(tree):
    tree["window"] = [tree["window"][0] - 1, tree["window"][1]]


def swap_lengths(tree):
    tree["lengths"][3], tree["lengths"][4] = tree["lengths"][4], tree["lengths"][3]


def repeat_length(tree):
    tree["lengths"][4] = tree["lengths"][3]


def flatten_scores(tree):
    """Weights further away than the window says."""
    tree["model"]["params"]["attn.relation.sharpness"]["values"] = [(0.25).hex()]


def say_undecided(tree):
    tree["verdict"], tree["smallest_margin"], tree["margin_bound"] = "undecided", None, None


def raise_margin(tree):
    tree["smallest_margin"] = tree["smallest_margin"] * 1.5


def raise_one_margin(tree):
    tree["lengths"][0]["smallest_margin"] *= 1.001


def lose_window(tree):
    tree["window"] = None


def say_fewer_inputs(tree):
    tree["inputs"] = str(10**20)


def say_model_again(tree):
    tree["lengths"][2]["model"] = tree["model"]


def add_field(tree):
    tree["lengths"][2]["note"] = 1


def change_layout(tree):
    tree["task"]["layout"] = "lsb"


def huge_window(tree):
    tree["window"] = [10**30, 10**30]


@pytest.mark.parametrize(
    "change",
    [
        drop_last, narrow, narrow_below, swap_lengths, repeat_length, flatten_scores, say_undecided, raise_margin,
        raise_one_margin, lose_window, say_fewer_inputs, say_model_again, add_field, change_layout, huge_window,
    ],
)  # fmt: skip
def test_what_is_changed_is_found(certificate, change):
    assert reject(certificate, change)


def test_a_model_without_room_for_its_own_task_is_found(certificate):
    """The lengths are checked with a context of their own, but the claim is about the model that is shown."""

    def change(tree):
        tree["model"]["architecture"]["context"] = 3
        tree["model"]["sha256"] = hash_stored(tree["model"])

    assert "sees 3 tokens, but the task needs 35" in reject(certificate, change)


def test_a_refutation_is_no_proof(refuted):
    def claim(tree):
        tree["verdict"], tree["counterexample"] = "proved", None
        tree["smallest_margin"] = tree["margin_bound"] = 1.0
        tree["lengths"] = tree["lengths"][:-1]

    assert reject(refuted, claim)


def test_another_counterexample_is_found(refuted):
    def claim(tree):
        tree["counterexample"]["digits"] += 1

    assert "not that of the last length" in reject(refuted, claim)


def test_the_share_of_a_vast_sharpness_is_no_work(model):
    """2^-(1.44 c) as a fraction would fill the memory."""
    vast = {**model.params, "attn.relation.sharpness": np.array([1e30], np.float32)}
    found = check_certificate(certify(Model(model.architecture, vast), model.addition))
    assert found.valid and found.verdict == "refuted"


def test_a_tied_parameter_is_read_where_it_is_stored(model):
    name = "attn.relation"
    ties = (*model.architecture.ties, Tie(f"{name}.peak", f"{name}.sharpness"))
    params = {key: value for key, value in model.params.items() if key != f"{name}.peak"}
    found = check_certificate(certify(Model(replace(model.architecture, ties=ties), params), model.addition))
    assert found.valid and found.verdict == "refuted"


def test_masked_nearest_columns_are_refused(model):
    """A certificate of a refuted model, which claims no window; with one it is no certificate at all."""
    layer = model.architecture.layers[0]
    low = replace(layer.attention, relation=LowColumnRelation(columns=12, highest=0))
    masked = replace(model.architecture, layers=(replace(layer, attention=low),))
    tree = certify(Model(masked, model.params), model.addition)
    assert tree["window"] is None and check_certificate(tree).valid
    assert "are masked" in reject(tree, lambda tree: tree.update(window=[3, 5]))
