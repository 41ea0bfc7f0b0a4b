"""The margin's goal on real models, and what it does to one that is nearly right."""

from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.proof.adder import prove_adder
from glassformer.proof.mining import mine
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import load
from glassformer.runs.training import train_into
from glassformer.train.flat import flat_of
from glassformer.train.margin import leads, raise_margin, relative_margin, worst_shortfall
from glassformer.train.population import Population, State
from glassformer.train.settings import Train
from glassformer.train.streams import stream

RUN, SHIPPED = CONFIGURATIONS["glass-23"], load("glass-23")
MODEL, FLAT = SHIPPED.architecture, flat_of(SHIPPED.architecture)
SOURCE = RUN.task.sampler(RUN.data, RUN.model.context)
VECTOR = FLAT.pack(dict(SHIPPED.params))


@cache
def windows(count=64):
    return SOURCE.held_out(stream(0, "polish"), count).tokens


def logits_and_targets():
    tokens = np.asarray(windows())
    return SHIPPED.logits(tokens[:-1], SOURCE.outputs), tokens[-SOURCE.outputs :]


def of(goal, **more):
    return jax.jit(partial(goal, MODEL, FLAT, tokens=windows(), outputs=SOURCE.outputs, **more))


@pytest.mark.slow
def test_the_smooth_worst_is_the_worst_and_a_little_more():
    lead = np.asarray(leads(*logits_and_targets()))
    assert np.isneginf(lead).sum() == lead[0].size  # one right digit a place
    goal = of(worst_shortfall)
    for sharpness in (10.0, 1000.0):
        smooth = float(goal(VECTOR, sharpness=sharpness))
        assert lead.max() <= smooth <= lead.max() + np.log(lead.size) / sharpness + 1e-6


def test_the_margin_is_the_scores_own_in_units_of_the_logits():
    logits, _ = logits_and_targets()
    top = np.sort(logits, 0)
    spread = np.sqrt(np.mean((logits - logits.mean(0)) ** 2))
    assert float(of(relative_margin)(VECTOR)) == pytest.approx((top[-1] - top[-2]).min() / spread, rel=1e-3)


def test_larger_logits_are_no_larger_margin():
    logits, targets = logits_and_targets()
    np.testing.assert_allclose(leads(32 * logits, targets), leads(logits, targets), rtol=1e-6)
    assert leads(logits, targets).max() < 0 < leads(-logits, targets).max()


def test_a_step_never_lowers_the_margin():
    margin, better = of(relative_margin), of(raise_margin, steps=6)
    assert float(margin(better(VECTOR))) > float(margin(VECTOR))
    lost = jnp.full_like(VECTOR, jnp.nan)
    assert np.isnan(better(lost)).all()


def nearly_right(change):
    """The shipped glass-23 with every number moved by about so much of itself."""
    return VECTOR * (1 + change * np.random.default_rng(0).normal(size=VECTOR.shape)).astype(np.float32)


def named(vector):
    return {name: np.asarray(array) for name, array in FLAT.unpack(np.asarray(vector)).items()}


@pytest.mark.slow
def test_mining_and_margin_prove_what_was_refuted():
    train = Train(seeds=1, polish_steps=40, margin_steps=12, polish_batch=256, held_out=256, threads=1)
    population = Population(MODEL, SOURCE, train, np.array([0]))
    state = State(nearly_right(0.002)[None], population.start().optimiser)
    assert prove_adder(Model(MODEL, named(state.vectors[0])), RUN.task, margins=False).verdict == "refuted"
    for _ in range(2):
        mined = mine(RUN, FLAT.unpack(np.asarray(state.vectors)))
        state = population.polished(state, np.array([0]), mined).state
    assert prove_adder(Model(MODEL, named(state.vectors[0])), RUN.task, margins=False).verdict == "proved"


def test_a_rule_has_no_margin_to_raise(tmp_path):
    rule = CONFIGURATIONS["plus_last_even"]
    with pytest.raises(UserError, match=r"train\.margin_steps is for adders"):
        train_into(tmp_path, replace(rule, train=replace(rule.train, margin_steps=1)), lambda *_: None)
