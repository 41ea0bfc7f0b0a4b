"""The prover against every pair of short numbers: verdicts, margins and failing classes agree."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.proofs.adder import prove_adder
from glassformer.runs.load import load_model
from glassformer.tasks import Addition
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation, with_relation
from tests.proofs.small import (
    drawn,
    drawn_for,
    failing_classes,
    hand,
    nanogpt,
    nudged,
    refuted_classes,
    run_all,
    tinyadder,
)
from tests.selection import each

RIGHT = {"nanogpt": nanogpt, "tinyadder": tinyadder}


@pytest.mark.parametrize("name", RIGHT)
def test_right_models_are_proved_with_the_margin_that_all_pairs_have(name):
    model, task = RIGHT[name](2)
    proof = prove_adder(model, task, close=1e-9)
    gaps = [gap.min() for gap, _, _ in run_all(model, task)]
    assert proof.verdict == "proved"
    assert proof.inputs == str(10**4)
    assert proof.smallest_margin == pytest.approx(min(gaps), rel=1e-6)
    assert [one.margin for one in proof.steps] == pytest.approx(gaps, rel=1e-6)
    assert all(one.bound <= gap * (1 + 1e-9) for one, gap in zip(proof.steps, gaps, strict=True))


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", range(12))
def test_nudged_models(name, seed):
    """One number changed at random, by little or by much: the same classes fail as when every pair is run."""
    model, task = RIGHT[name](2)
    random = np.random.default_rng(seed)
    key = random.choice(sorted(model.params))
    nudged = np.array(model.params[key])
    place = tuple(random.integers(0, size) for size in nudged.shape)
    nudged[place] += (
        random.choice([1e-3, 1e-2, 0.1, 0.5]) * random.choice([-1, 1]) * (abs(nudged[place]) + 0.01)
    )
    changed = Model(model.architecture, {**model.params, key: nudged})
    agrees(changed, task)


@pytest.mark.parametrize(
    "name", ["glass-39", "glass-29", "microadder-57", "microadder-67", "rope-62", "rope-36", "hand-10"]
)
@pytest.mark.parametrize("seed", range(3))
def test_random_models(name, seed):
    agrees(*drawn(name, 2, seed, scale=0.5 if name == "rope-62" else 1.0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("base", [3, 10])
@pytest.mark.parametrize("operation", ["subtract", "times 2", "times 3"])
def test_random_models_of_other_operations(operation, base, seed):
    agrees(*drawn_for(operation, 2, seed, base))


def agrees(model, task):
    proof = prove_adder(model, task, margins=False)
    failing = failing_classes(model, task)
    assert proof.verdict == ("refuted" if failing else "proved")
    assert proof.classes["undecided"] == 0
    assert refuted_classes(proof) == failing


@pytest.mark.slow
def test_three_digits():
    """All million pairs."""
    agrees(*drawn("glass-39", 3, 0))


@pytest.mark.slow
def test_three_digits_of_a_model_that_is_right():
    model, task = tinyadder(3)
    proof = prove_adder(model, task, close=1e-9)
    assert proof.verdict == "proved"
    gaps = [gap.min() for gap, _, _ in run_all(model, task)]
    assert proof.smallest_margin == pytest.approx(min(gaps), rel=1e-6)


@pytest.mark.parametrize("relation", [WindowRelation(4), BowlRelation(), SpinRelation()], ids=repr)
def test_relations_that_the_prover_does_not_know_are_not_left_out(relation):
    """The same classes fail as when every pair is run."""
    model, task = drawn("glass-39", 2, 1)
    agrees(with_relation(model, relation), task)


def test_rare_failures():
    """The lift over an edge taken away bit by bit: few pairs fail, then more; never one is missed."""
    model, task = tinyadder(2)
    shares = []
    for lift in (1.0, 0.2, 0.05, 0.0, -1.0):
        numbers = {**model.params, "layer1.attn.v.bias": np.array([lift])}
        changed = Model(model.architecture, numbers)
        agrees(changed, task)
        wrong = np.any([wrong for _, wrong, _ in run_all(changed, task)], axis=0)
        shares.append(float(wrong.mean()))
    assert shares[0] == 0
    assert any(0 < share < 0.05 for share in shares)


@pytest.mark.parametrize("name", ["nanogpt-58", "tinyadder-95"])
def test_the_counterexample_is_wrong_when_run(name):
    model = load_model(name)
    proof = prove_adder(model, model.addition)
    wrong = proof.counterexample
    assert proof.verdict == "refuted"
    assert model.add(wrong["a"], wrong["b"]) == wrong["got"] != wrong["a"] + wrong["b"] == wrong["expected"]


@pytest.mark.parametrize(
    "name", each(3, ["nanogpt-58-repaired", "hand-4", "microadder-67", "glass-29", "glass-39"])
)
def test_real_numbers(name):
    """The real-number model is proved too, with nearly the same margin."""
    model = load_model(name)
    real, deployed = (prove_adder(model, model.addition, real=is_real) for is_real in (True, False))
    assert real.verdict == deployed.verdict == "proved"
    assert real.rounding_bound == 0
    assert real.arithmetic == "real"
    assert real.smallest_margin == pytest.approx(deployed.smallest_margin, rel=1e-2)


@pytest.mark.slow
def test_no_time():
    model = load_model("rope-62")
    proof = prove_adder(model, model.addition, seconds=1e-9)
    assert proof.verdict == "undecided"
    assert proof.classes["undecided"] > 0


def test_a_layout_that_does_not_fit():
    model = load_model("glass-39")
    with pytest.raises(UserError, match="14 tokens, but the model has a vocabulary of 10"):
        prove_adder(model, Addition(layout="msb"))
    with pytest.raises(UserError, match="35 tokens long"):
        prove_adder(model, Addition(digits=11))


def test_huge_weights():
    model = load_model("glass-39")
    weight = np.full_like(model.params["attn.q.weight"], 3e38)
    huge = Model(model.architecture, {**model.params, "attn.q.weight": weight})
    with pytest.raises(UserError, match=r"overflows float32: the weights are too large \(attn.q.weight"):
        prove_adder(huge, model.addition)


@pytest.mark.parametrize("base", [2, 7])
@pytest.mark.parametrize(("make", "size"), [(nanogpt, 0.02), (tinyadder, 0.02), (hand, 1e-6)])
def test_nudged_models_in_other_bases(make, size, base):
    """Every pair is run: none fails where a model is proved, one does where it is refuted."""
    random, (plain, task) = np.random.default_rng(base), make(2, base=base)
    for model in (plain, *(nudged(plain, random, size) for _ in range(4))):
        proof = prove_adder(model, task, margins=False)
        assert proof.inputs == str(base**4)
        assert proof.verdict == ("refuted" if failing_classes(model, task) else "proved")


def test_sixty_digits():
    model, task = nanogpt(60)
    proof = prove_adder(model, task, margins=False)
    assert (proof.verdict, proof.inputs, proof.classes["total"]) == ("proved", str(10**120), 22_440)
