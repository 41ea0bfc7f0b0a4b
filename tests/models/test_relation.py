"""A relation that nothing in the package knows acts on all back ends, and is named for what it is."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.forward import forward, list_parameters
from glassformer.models.model import Model
from glassformer.models.ops_bounded import BoundedOps
from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_rows import RowOps
from glassformer.models.program import trace_whole
from glassformer.models.projection import FullProjection
from glassformer.models.relation import BiasRelation
from glassformer.models.relations import AlibiRelation, NoRelation, RopeRelation
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation

OWN = [WindowRelation(), BowlRelation(), SpinRelation()]
TOKENS = np.random.default_rng(1).integers(0, 7, (6, 5))  # pos batch


def made(relation, size=2, precision="float32"):
    """Random weights, the same for every relation; what a relation stores is as it starts."""
    attention = Attention(heads=2, head_size=size, value_size=2, out=FullProjection(), relation=relation)
    shape = Architecture(vocab=7, context=6, width=4, layers=(Layer(attention),), precision=precision)
    random = np.random.default_rng(0)
    stored = list_parameters(shape)
    params = {
        name: random.normal(size=one.shape) for name, one in stored.items() if "relation" not in name
    } | {name: np.array(one.scale) for name, one in stored.items() if "relation" in name}
    return Model(shape, params)


@pytest.mark.parametrize("relation", OWN, ids=lambda one: one.kind)
@pytest.mark.parametrize("size", [2, 6], ids=["narrow", "folded where it may be"])
def test_a_relation_of_ones_own_changes_the_logits_on_all_back_ends(relation, size):
    model, without = made(relation, size), made(NoRelation(), size)
    logits = model.logits(TOKENS)
    assert np.abs(logits - without.logits(TOKENS)).max() > 0.01
    for ops in (JaxOps("float32"), RowOps("float32")):
        compiled = jax.jit(lambda params, ops=ops: forward(model.architecture, ops, params, TOKENS))
        np.testing.assert_allclose(compiled(dict(model.params)), logits, rtol=1e-4, atol=1e-3)
    bounded = BoundedOps("float32")
    params = {name: bounded.array(value) for name, value in model.params.items()}
    low, high = forward(model.architecture, bounded, params, TOKENS).range()
    assert (low - 1e-3 <= logits).all() and (logits <= high + 1e-3).all()


@pytest.mark.parametrize("relation", OWN, ids=lambda one: one.kind)
def test_the_program_of_the_page_and_the_exports_has_it_too(relation):
    nodes = [trace_whole(made(one).architecture, 6)["nodes"] for one in (relation, NoRelation())]
    assert nodes[0] != nodes[1]


def test_scores_by_hand():
    """A window of 2: the key three back loses 3 in head 0 and 6 in head 1; a bowl is -(d - 1.5)^2 / 2."""
    for relation, lost in ((WindowRelation(), [[-3, 0, 0, 0], [-6, 0, 0, 0]]), (BowlRelation(), None)):
        model, without = made(relation, precision="float64"), made(NoRelation(), precision="float64")
        seen, plain = model.trace(TOKENS[:4, 0]), without.trace(TOKENS[:4, 0])
        for head in range(2):
            wanted = lost[head] if lost else [-1.125, -0.125, -0.125, -1.125]
            found = seen[f"attn.scores.{head}"][3] - plain[f"attn.scores.{head}"][3]
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_learned_biases_have_gradients():
    model = made(BowlRelation())

    def total(params):
        return forward(model.architecture, JaxOps("float32"), params, TOKENS)[0].sum()

    slopes = jax.grad(total)({name: np.float32(value) for name, value in model.params.items()})
    assert slopes["attn.relation.c"] != 0 and slopes["attn.relation.mu"] != 0


def test_measured_biases_are_those_of_the_scores():
    params = made(BowlRelation()).params
    assert BowlRelation().measure_bias(params, "attn.relation", 1, 2, [0.0, 1.5, 3.0]) == [-1.125, 0, -1.125]
    assert AlibiRelation((1.0, 0.5)).measure_bias({}, "attn.relation", 1, 2, [0.0, 2.0]) == [0, -1]


def test_a_relation_may_measure_distances_its_own_way():
    class Columns(WindowRelation):
        def distance(self, query, key):
            return abs(query // 3 - key // 3)

    near, far = (made(replace(Columns(), reach=reach)) for reach in (0, 9))
    lost = near.trace(TOKENS[:, 0])["attn.scores.0"] - far.trace(TOKENS[:, 0])["attn.scores.0"]
    np.testing.assert_allclose(lost[5], [-3, -3, -3, 0, 0, 0], atol=1e-5)


def test_a_bias_that_adds_nothing_is_refused():
    with pytest.raises(AssertionError, match="Silent has neither a bias nor a learned_bias"):
        type("Silent", (BiasRelation,), {})


def test_every_relation_has_its_own_words():
    every = [RopeRelation(), AlibiRelation(), *OWN]
    assert [one.score_line for one in every] == [
        "rotated by position (RoPE)",
        "minus slope \N{MULTIPLICATION SIGN} distance (ALiBi)",
        "minus 3 outside the window (window)",
        "minus c (distance - mu)^2 (bowl)",
        "rotated by position (spin)",
    ]
    assert NoRelation().score_line == ""
    assert [one.score_term for one in every] == [
        "",
        "ALiBi subtracts slope times distance from every score",
        "window adds a bias by distance to every score",
        "bowl adds a bias by distance to every score",
        "",
    ]
