"""Models made to be called right although they are not: overflow, underflow, tokens far below, ties."""

import json
from dataclasses import replace

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.checker.tables import make_premix_tables
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.head import LinearHead, ParabolicHead
from glassformer.models.model import Model
from glassformer.models.position import NoPosition
from glassformer.models.projection import FullProjection
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.columns import find_allowed_tokens
from glassformer.proofs.population import prove_seeds
from glassformer.proofs.rule import prove_rule
from glassformer.proofs.search import ClassStatus
from glassformer.proofs.tables import NotProvableError, tabulate_model
from glassformer.runs.load import load_model
from glassformer.tasks import Addition, Sequences, make_rule
from tests.proofs.every_context import margins
from tests.proofs.small import failing_classes, nanogpt, refuted_classes, tinyadder
from tests.proofs.stacked import stack_layer


def with_one_more_layer(first, third, third_again, bias, head, numbers):
    """nanogpt for two digits in float32; a layer behind it writes first x (y + bias) + both thirds into dim 2."""
    model, task = nanogpt(2, "float32")
    extra = Layer(None, FeedForward(hidden=3, up=FullProjection(bias=True), down=FullProjection()))
    shape = replace(model.architecture, layers=(*model.architecture.layers, extra), head=head)
    params = {
        (f"layer0.{key}" if key.startswith(("attn", "ff")) else key): part
        for key, part in model.params.items()
    }
    up, down = np.zeros((3, 4)), np.zeros((4, 3))
    up[0, 3], down[2] = 1, [first, third, third_again]
    params = {key: part for key, part in params.items() if not key.startswith("head") or key in numbers}
    params |= {
        "layer1.ff.up.weight": up,
        "layer1.ff.up.bias": np.array([bias, 2, 2.0]),
        "layer1.ff.down.weight": down,
    }
    kept = {
        key: part
        for key, part in model.params.items()
        if key.startswith("head") and isinstance(head, ParabolicHead)
    }
    every = params | kept | numbers
    return Model(shape, {key: np.asarray(part, "float32") for key, part in every.items()}), task


def test_a_sum_whose_parts_overflow_although_it_does_not():
    digit, table = np.arange(10.0), np.zeros((10, 4))
    table[:, 2] = 2 * digit / 1e37
    numbers = {"head.weight": table, "head.bias": -digit * digit - 2 * digit}
    model, task = with_one_more_layer(1e37, 3e38, -3e38, 1.0, LinearHead(), numbers)
    with np.errstate(all="ignore"):
        failing = failing_classes(model, task)
        proof = prove_adder(model, task)
    assert failing
    assert proof.verdict == "refuted"
    assert refuted_classes(proof) <= failing
    assert proof.classes["proved"] == 0  # nothing is known of numbers that overflow


def test_tokens_without_a_dimension_that_win_after_all():
    """Scores below the constant of the tokens that a head never writes: then it writes one of these."""
    model, task = tinyadder(2)
    numbers = {**model.params, "layer1.ff.up.bias": model.params["layer1.ff.up.bias"] * 1e20}
    changed = Model(model.architecture, numbers)
    proof = prove_adder(changed, task)
    assert refuted_classes(proof) == failing_classes(changed, task) != set()
    assert isinstance(proof.counterexample["got"], str)


def test_a_hinge_at_exactly_zero():
    """The margin of a pair is the real one, also where rounding leaves the sign of a hinge open."""
    numbers = {"head.slope": np.array(2e-6)}
    model, task = with_one_more_layer(1e6, 0.0, 0.0, 0.0, ParabolicHead(reads=2), numbers)
    proof = prove_adder(model, task)
    assert (proof.verdict, failing_classes(model, task)) == ("proved", set())
    checked = check_certificate(json.loads(json.dumps(make_adder_certificate(proof, model, task, "a hinge"))))
    assert checked.valid, checked.reason


def test_more_tokens_than_the_layout_has_labels():
    """A model that says a token without a label: the counterexample names it by its number."""
    shape = replace(make_reference_architecture(vocab=12, context=8), precision="float64")
    numbers = {key: np.zeros(part.shape) for key, part in list_parameters(shape).items()}
    numbers["head.bias"][11] = 1.0
    proof = prove_adder(Model(shape, numbers), Addition(digits=2))
    assert proof.verdict == "refuted"
    assert proof.counterexample["got"] == "<11>" * 3


def test_numbers_that_overflow_in_a_population_and_in_mining():
    model = load_model("glass-39")
    huge = {**model.params, "attn.v.weight": np.full_like(model.params["attn.v.weight"], 3e38)}
    with pytest.raises(UserError, match="overflows float32"), np.errstate(all="ignore"):
        prove_adder(Model(model.architecture, huge), model.addition)
    everyone = {key: part[None] for key, part in huge.items()}
    with np.errstate(all="ignore"):
        (found,) = prove_seeds(model.architecture, everyone, [3], model.addition)
    assert found.verdict in ("refuted", "not_applicable")


def rule_model(change):
    rule = make_rule("plus_last_even", high=3)
    shape = make_reference_architecture(vocab=5, context=3)
    numbers = {key: np.zeros(part.shape, np.float32) for key, part in list_parameters(shape).items()}
    change(numbers)
    return Model(shape, numbers), rule


def test_a_rule_model_without_an_opinion_breaks_the_rule_by_ties():
    model, rule = rule_model(lambda numbers: None)
    proof = prove_rule(model, rule, Sequences(min_length=8))
    assert proof.verdict == "refuted"
    assert proof.smallest_margin == 0
    wrong = proof.counterexample
    assert not wrong["tie"] and wrong["got"] not in wrong["expected"]  # argmax takes the first of all: 0
    assert all(one["tie"] == (one["got"] in one["expected"]) for one in proof.details["worst"])
    error = proof.exact_error
    assert error["count_low"] == error["count_high"] == error["constrained"] > 0  # not one of them is safe


def test_a_rule_model_whose_logits_overflow():
    def huge(numbers):
        numbers["token.weight"][:] = 1e20
        numbers["head.weight"][:] = 3e38

    model, rule = rule_model(huge)
    with np.errstate(all="ignore"):
        proof = prove_rule(model, rule, Sequences(min_length=8))
    assert proof.verdict == "refuted"
    assert proof.counterexample is not None
    json.dumps(proof.content(), allow_nan=False)


def proved_classes(proof):
    """The classes that bounds, or a run of every pair, have shown right."""
    keys = ("step", "previous", "total", "carry")
    if proof.run:
        rows, first = np.flatnonzero(proof.run.least > 0), proof.run.classes
        return {tuple(int(getattr(first, key)[row]) for key in keys) for row in rows}
    if not proof.levels:
        return set()
    first, final = proof.levels[0].classes, (ClassStatus.PROVED, ClassStatus.SPLIT)
    lost = {int(root) for level in proof.levels for root in level.root[~np.isin(level.status, final)]}
    return {
        tuple(int(getattr(first, key)[row]) for key in keys) for row in range(len(first)) if row not in lost
    }


def require_no_false_class(model, task, real=False):
    """No class that is called right holds a pair that the model, run, gets wrong."""
    with np.errstate(all="ignore"):
        proof, failing = prove_adder(model, task, real=real), failing_classes(model, task)
    assert failing and proof.verdict != "proved"
    assert not proved_classes(proof) & failing


def make_attending_model(attention, width, numbers, layers=1, **parts):
    """Binary digits, one of each number; all parameters 0 but for those given."""
    task = Addition(digits=1, base=2)
    every = [Layer(attention, None)] * (layers - 1) + [Layer(attention, None, residual=False)]
    shape = Architecture(
        vocab=2, context=task.written().length - 1, width=width, layers=tuple(every), **parts
    )
    params = {key: np.zeros(part.shape, shape.precision) for key, part in list_parameters(shape).items()}
    for key, value in numbers.items():
        params[key][:] = value
    return Model(shape, params), task


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("real", [False, True])
def test_a_weight_on_nothing_that_underflows_beside_a_token_that_is_not_there(precision, real):
    """softmax1: a 1 scores 900 and a 0 scores -900, so that 0 + 0 attends to nothing; values are 5 and 6."""
    attention = Attention(
        head_size=1, q=FullProjection(bias=True), out=FullProjection(), softmax="softmax1", scale=1.0
    )
    numbers = {
        "token.weight": [[-900, 5], [900, 6]],
        "attn.q.bias": 1,
        "attn.k.weight": [[1, 0]],
        "attn.v.weight": [[0, 1]],
        "attn.out.weight": [[0], [1]],
        "head.weight": [[0, 0], [0, -1]],
        "head.bias": [0, 3],
    }
    parts = {"position": NoPosition(), "precision": precision}
    require_no_false_class(*make_attending_model(attention, 2, numbers, **parts), real)


def test_scores_that_undo_the_mask_of_later_positions():
    """In the first layer position 0 scores -1e31, below the -1e30 of later positions: it then sees these."""
    attention = Attention(
        head_size=1, q=FullProjection(bias=True), k=FullProjection(), out=FullProjection(), scale=1.0
    )
    numbers = {
        "position.weight": [[0, -1, 0]] + [[0, 0, 1]] * 4,
        "layer0.attn.q.bias": 1e15,
        "layer0.attn.k.weight": [[0, 1e16, 0]],
        "layer0.attn.v.weight": [[0, 0, 1]],
        "layer0.attn.out.weight": [[0], [0], [1]],
        "layer1.attn.q.bias": 1,
        "layer1.attn.k.weight": [[0, -100, 0]],
        "layer1.attn.v.weight": [[0, 0, 1]],
        "layer1.attn.out.weight": [[0], [0], [1]],
        "head.weight": [[0, 0, 0], [0, 0, -1]],
        "head.bias": [0, 0.5],
    }
    model, task = make_attending_model(attention, 3, numbers, layers=2)
    require_no_false_class(model, task)
    with pytest.raises(UserError, match="undo the mask"):
        make_premix_tables(model.architecture, model.params, task, "float32")


def test_contexts_whose_tokens_all_score_far_below_another():
    """Weights relative to a token that is not there underflow alike; the model's own do not."""
    rule = make_rule("plus_last_even", high=3)
    attention = Attention(head_size=1, q=FullProjection(bias=True), out=FullProjection(), scale=1.0)
    shape = Architecture(
        vocab=5,
        context=3,
        position=NoPosition(),
        layers=(Layer(attention, None, residual=False),),
    )
    numbers = {key: np.zeros(part.shape, np.float32) for key, part in list_parameters(shape).items()}
    numbers["token.weight"][:] = [[-300, 0], [900, 0], [-310, 8], [-310, 8], [-320, 8]]
    numbers["attn.q.bias"][:], numbers["attn.k.weight"][:] = 1, [[1, 0]]
    numbers["attn.v.weight"][:], numbers["attn.out.weight"][:] = [[0, 1]], [[0], [1]]
    numbers["head.weight"][0], numbers["head.bias"][:] = [0, 1], [-2, 0, -1, -1, -1]
    model = Model(shape, numbers)
    error = sum(not margin > 0 for margin in margins(model, rule, 3).values())
    proof = prove_rule(model, rule, Sequences(min_length=8))
    assert error == 16
    assert (proof.exact_error["count_low"], proof.exact_error["count_high"]) == (error, error)


def test_a_norm_that_divides_by_so_much_that_weights_underflow():
    """The pass multiplies weights, not values, by the factor of a norm: 1e-15 leaves little of a small one."""
    model = load_model("glass-29")
    loud = {**model.params, "token.amplitude": model.params["token.amplitude"] * np.float32(1e15)}
    layout = model.addition.written()
    with pytest.raises(NotProvableError, match="a norm divides by"):
        tabulate_model(Model(model.architecture, loud), find_allowed_tokens(layout, 10), layout.digits + 1)
    with pytest.raises(UserError, match="a norm of the model"):
        make_premix_tables(model.architecture, loud, model.addition, "float32")


def test_bounds_without_a_pair_at_their_ends_refute_nothing():
    """Scores of 1e34 leave no bound; 0 + 0 stands at the ends, and is of another class than most."""
    model, task = nanogpt(2)
    model = stack_layer(model, 1e-3)
    large = {
        name: part * (1e17 if name.startswith(("layer1.attn.q", "layer1.attn.k")) else 1.0)
        for name, part in model.params.items()
    }
    wild = Model(model.architecture, large)
    assert not failing_classes(wild, task)
    proof = prove_adder(wild, task)
    assert proof.verdict == "proved" and proof.counterexample is None
    assert check_certificate(make_adder_certificate(proof, wild, task, "wild")).valid
