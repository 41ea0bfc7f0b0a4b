"""Certificates whose pairs were run hold, and no other margin, pair, setting or length does."""

import json

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.checker.every_pair import measure_all_classes
from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from tests.checker.conftest import altered
from tests.checker.leaf_changes import fit_bounds
from tests.proofs.small import nanogpt, run_all
from tests.proofs.stacked import stack_layer


@pytest.fixture(scope="module", params=[10, 7], ids=["base 10", "base 7"])
def run(request):
    """A model of two layers, which bounds do not decide, its task and its certificate."""
    model, task = nanogpt(1, base=request.param)
    model = stack_layer(model, 1e-3)
    tree = make_adder_certificate(prove_adder(model, task), model, task, "run")
    assert {row[4][0] for row in tree["rows"]} == {"run"} and tree["mixing"] is None and tree["axes"] == []
    return model, task, json.loads(json.dumps(tree))


def test_a_certificate_of_runs_holds(run):
    found = check_certificate(run[2])
    assert (found.valid, found.verdict) == (True, "proved")


def find_least_margins(model, task):
    """By class, from a run of every pair."""
    found = {}
    for gaps, _, classes in run_all(model, task):
        for gap, name in zip(gaps.tolist(), map(tuple, classes.tolist()), strict=True):
            found[name] = min(gap, found.get(name, np.inf))
    return found


def name_measured(model, task):
    found = measure_all_classes(model, task)
    return {(one.step, one.previous, one.sum, one.carry): least for one, least in found.items()}


def test_margins_of_classes_are_those_of_every_pair(run):
    model, task, _ = run
    assert name_measured(model, task) == find_least_margins(model, task)


def set_margin(change):
    def lie(tree):
        leaf = tree["rows"][3][4]
        leaf[1] = change(leaf[1])
        fit_bounds(tree)

    return lie


def swap_leaf(leaf):
    return lambda tree: tree["rows"][3].__setitem__(4, leaf)


def move_hardest(tree):
    tree["hardest"][0]["a"] += tree["task"].get("base", 10)  # its last digit is the same


LIES = {
    "a larger margin": (set_margin(lambda margin: 2 * margin), "smallest margin"),
    "one unit more": (set_margin(lambda margin: float(np.nextafter(margin, np.inf))), "smallest margin"),
    "one unit less": (set_margin(lambda margin: float(np.nextafter(margin, 0.0))), "smallest margin"),
    "no margin": (set_margin(lambda _: 0.0), "does not prove"),
    "a bound": (swap_leaf(["proved", [0.0], [1.0], 1e-3, 1, 0]), ""),
    "real numbers": (lambda tree: tree.update(arithmetic="real"), "real numbers"),
    "any backend": (lambda tree: tree.update(backend="any"), "other backends"),
    "rounding": (lambda tree: tree.update(rounding_bound=1e-300), "rounding"),
    "a layer": (lambda tree: tree.update(mixing=0), "no class is bounded"),
    "axes": (lambda tree: tree.update(axes=[{"centre": [0.0], "axes": [[1.0]]}]), "no class is bounded"),
    "a hardest pair with more digits": (move_hardest, "is no step of the task"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_a_run_is_found(run, lie):
    change, words = LIES[lie]
    found = check_certificate(altered(run[2], change))
    assert not found.valid and words in found.reason


def test_another_pair_of_the_class_has_another_margin(run):
    """Sums of 1 are 0 + 1 and 1 + 0; they do not have the same margin."""
    row = next(i for i, row in enumerate(run[2]["rows"]) if row[0] == 0 and row[2] == 1)
    swapped = altered(run[2], lambda tree: tree["rows"][row].__setitem__(4, turn_pair(tree["rows"][row][4])))
    assert "does not have the margin" in check_certificate(swapped).reason


def turn_pair(leaf):
    return [*leaf[:2], leaf[3], leaf[2]]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_too_many_pairs_are_not_run(run, is_hidden):
    """Neither at the top of a row nor inside of a split."""
    leaf = ["run", 1.0, 0, 0]

    def lengthen(tree):
        tree["task"]["digits"] = 4
        tree["rows"][0][4] = ["split", 0, [["1", leaf]]] if is_hidden else leaf

    with pytest.raises(UserError, match="too many to be run"):
        check_certificate(altered(run[2], lengthen))


@pytest.mark.parametrize("leaf", [7, None, {}, "run", [], ["run"], ["run", 1.0, 0], ["run", 1, 0, 0]])
def test_a_leaf_that_is_none_is_an_error(run, leaf):
    with pytest.raises(UserError):
        check_certificate(altered(run[2], swap_leaf(leaf)))


def test_margins_are_those_of_answers_as_they_are_written():
    """Scores beyond the mask's see later tokens, so one pass over a whole sum has other margins."""
    model, task = nanogpt(2)
    model = stack_layer(model, 1e-6, behind=False, seed=5)
    large = {
        name: part * (1e18 if name.startswith(("layer0.attn.q", "layer0.attn.k")) else 1.0)
        for name, part in model.params.items()
    }
    wild = Model(model.architecture, large)
    assert name_measured(wild, task) == find_least_margins(wild, task)
