"""A second layer of attention: which one is followed, and what is decided of the other."""

import json

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.models.adding import write_sum
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.projection import FullProjection
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.columns import find_allowed_tokens
from glassformer.proofs.mixing import tabulate_best_mix
from glassformer.runs.load import load_model
from glassformer.tasks import Addition
from tests.proofs.small import nanogpt, run_all
from tests.proofs.stacked import stack_layer


@pytest.mark.parametrize("behind", [True, False])
def test_a_layer_that_writes_nothing_changes_nothing(behind):
    model = load_model("glass-29")
    alone, proof = (prove_adder(one, model.task) for one in (model, stack_layer(model, 0.0, behind)))
    assert proof.verdict == "proved" and not proof.tables.is_enclosed
    assert proof.tables.mixing == (0 if behind else 1)
    assert proof.smallest_margin == pytest.approx(alone.smallest_margin, rel=1e-3)


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("real", [True, False])
def test_a_layer_that_writes_little_is_decided(behind, real):
    """The layer that adds is followed, the other enclosed; margins are the model's own."""
    model = load_model("glass-29")
    deep = stack_layer(model, 1e-8, behind)
    proof = prove_adder(deep, model.task, real=real)
    assert (proof.verdict, proof.tables.mixing) == ("proved", 0 if behind else 1)
    assert proof.tables.is_enclosed
    hardest = proof.hardest_step
    found = write_sum(deep, model.task, hardest.a, hardest.b)
    assert found.right and found.margin == pytest.approx(hardest.margin, rel=0.02)
    assert proof.margin_bound <= hardest.margin


@pytest.mark.parametrize("size", [1e-3, 0.1])
@pytest.mark.parametrize("behind", [True, False])
def test_verdicts_are_those_of_a_run_of_every_pair(size, behind):
    model, task = nanogpt(2, base=7)
    deep = stack_layer(model, size, behind)
    is_right = all((gap > 0).all() for gap, *_ in run_all(deep, task))
    assert prove_adder(deep, task, seconds=20).verdict == ("proved" if is_right else "refuted")


def test_a_wide_model_of_two_layers_is_run_and_not_bounded():
    """Bounds of 32 coordinates took minutes, whatever the time limit was."""
    task = Addition(digits=4)
    layer = Layer(Attention(heads=2, head_size=16, out=FullProjection()), None)
    shape = Architecture(vocab=10, context=task.written().length - 1, width=32, layers=(layer, layer))
    random = np.random.default_rng(0)
    params = {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
    model = Model(shape, {name: part.astype("float32") for name, part in params.items()})
    proof = prove_adder(model, task)
    assert (proof.verdict, proof.levels) == ("refuted", ())
    certificate = json.loads(json.dumps(make_adder_certificate(proof, model, task, "wide")))
    assert check_certificate(certificate).valid


def test_the_mix_is_the_layer_that_leaves_logits_best_known():
    model = load_model("glass-29")
    layout = model.addition.written()
    allowed = find_allowed_tokens(layout, 10)
    for behind in (True, False):
        tables = tabulate_best_mix(stack_layer(model, 1e-6, behind), allowed, layout.digits + 1)
        assert tables.mixing == (0 if behind else 1)
        assert np.isfinite(tables.stream.reach).all()
