"""The margin's goal on real models, and what it does to one that is nearly right."""

from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.mining import mine_problems
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import load_model
from glassformer.runs.training import train_into_folder
from glassformer.training.flat import make_flat_layout
from glassformer.training.margin import (
    measure_leads,
    measure_relative_margin,
    measure_worst_shortfall,
    raise_margin,
)
from glassformer.training.population import Population, TrainingState
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key

RUN, SHIPPED = CONFIGURATIONS["glass-23"], load_model("glass-23")
MODEL, FLAT = SHIPPED.architecture, make_flat_layout(SHIPPED.architecture)
SOURCE = RUN.task.sampler(RUN.data, RUN.model.context)
VECTOR = FLAT.pack(dict(SHIPPED.params))


@cache
def windows(count=64):
    return SOURCE.held_out(make_stream_key(0, "polish"), count).tokens


def logits_and_targets():
    tokens = np.asarray(windows())
    return SHIPPED.logits(tokens[:-1], SOURCE.outputs), tokens[-SOURCE.outputs :]


def of(goal, **more):
    return jax.jit(partial(goal, MODEL, FLAT, tokens=windows(), outputs=SOURCE.outputs, **more))


@pytest.mark.slow
def test_the_smooth_worst_is_the_worst_and_a_little_more():
    lead = np.asarray(measure_leads(*logits_and_targets()))
    assert np.isneginf(lead).sum() == lead[0].size  # one right digit a place
    goal = of(measure_worst_shortfall)
    for sharpness in (10.0, 1000.0):
        smooth = float(goal(VECTOR, sharpness=sharpness))
        assert lead.max() <= smooth <= lead.max() + np.log(lead.size) / sharpness + 1e-6


def test_the_margin_is_the_scores_own_in_units_of_the_logits():
    logits, _ = logits_and_targets()
    top = np.sort(logits, 0)
    spread = np.sqrt(np.mean((logits - logits.mean(0)) ** 2))
    assert float(of(measure_relative_margin)(VECTOR)) == pytest.approx(
        (top[-1] - top[-2]).min() / spread, rel=1e-3
    )


def test_larger_logits_are_no_larger_margin():
    logits, targets = map(jnp.asarray, logits_and_targets())
    np.testing.assert_allclose(measure_leads(32 * logits, targets), measure_leads(logits, targets), rtol=1e-6)
    assert measure_leads(logits, targets).max() < 0 < measure_leads(-logits, targets).max()


def test_a_step_never_lowers_the_margin():
    margin, better = of(measure_relative_margin), of(raise_margin, steps=6)
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
    train = TrainSettings(
        seeds=1, polish_steps=40, margin_steps=12, polish_batch=256, held_out=256, threads=1
    )
    population = Population(MODEL, SOURCE, train, np.array([0]))
    state = TrainingState(nearly_right(0.002)[None], population.start().optimiser)
    assert prove_adder(Model(MODEL, named(state.vectors[0])), RUN.task, margins=False).verdict == "refuted"
    for _ in range(2):
        mined = mine_problems(RUN, FLAT.unpack(np.asarray(state.vectors)))
        state = population.polished(state, np.array([0]), mined).state
    assert prove_adder(Model(MODEL, named(state.vectors[0])), RUN.task, margins=False).verdict == "proved"


def test_a_rule_has_no_margin_to_raise(tmp_path):
    rule = CONFIGURATIONS["plus_last_even"]
    with pytest.raises(UserError, match=r"train\.margin_steps is for adders"):
        train_into_folder(tmp_path, replace(rule, train=replace(rule.train, margin_steps=1)), lambda *_: None)
