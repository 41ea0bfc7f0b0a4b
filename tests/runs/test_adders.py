"""The trained adders as configurations: one architecture an id, and every one of them can be trained."""

import tomllib

import jax
import numpy as np
import pytest
import tomli_w

from glassformer.core.errors import UserError
from glassformer.models.forward import list_parameters
from glassformer.runs.adders import ADDERS
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.resolve import resolve_run
from glassformer.runs.tree import from_tree, to_tree
from glassformer.training.flat import make_flat_layout, sample_first_values
from glassformer.training.population import Population
from glassformer.training.streams import make_stream_key
from glassformer.zoo import ZOO
from tests.selection import chosen

TINY = {"train.seeds": 1, "train.steps": 2, "train.batch": 4, "train.held_out": 8, "train.warm_up": 0}


def test_every_trained_adder_of_the_zoo_has_a_configuration():
    assert list(ADDERS) == [name for name, entry in ZOO.items() if entry.build is None]
    assert ADDERS.items() <= CONFIGURATIONS.items()


def test_a_run_does_not_say_what_is_proved_of_the_weights_that_ship():
    assert all(run.about and "proved" not in run.about for run in ADDERS.values())
    assert ADDERS["any-8"].about == "8 learned parameters"


@pytest.mark.parametrize("name", ADDERS)
def test_a_configuration_is_the_zoos_model(name):
    run = resolve_run(name)
    assert run == ADDERS[name]
    assert run.architecture == ZOO[name].architecture
    assert [(task.digits, task.layout) for task in (run.task, ZOO[name].task)] == [
        (10, ZOO[name].task.layout)
    ] * 2


@pytest.mark.parametrize("name", ADDERS)
def test_a_configuration_survives_a_file(name):
    text = tomli_w.dumps(to_tree(ADDERS[name]))
    assert from_tree(Run, tomllib.loads(text), "") == ADDERS[name]


def test_a_hand_built_adder_cannot_be_trained():
    with pytest.raises(UserError, match="'nanogpt-58' is hand-built, there is nothing to train: glassformer"):
        resolve_run("nanogpt-58")


def test_recipes():
    glass, large, small = (ADDERS[name].train for name in ("glass-39", "rope-62", "rope-36"))
    assert (glass.peak_rate, glass.warm_up, glass.final_rate, glass.weight_decay) == (0.02, 1_000, 0.1, 0.01)
    assert (glass.batch, glass.steps, glass.clip, glass.schedule) == (256, 60_000, 1.0, "cosine")
    assert (small.peak_rate, small.batch, small.grokfast_decay) == (0.01, 128, 0.98)
    assert (large.grokfast_gain, small.grokfast_gain) == (0.0, 2.0)


@pytest.mark.parametrize("name", chosen(["glass-29", "microadder-57", "rope-62"], ["glass-29"]))
def test_two_steps_of_training(name):
    """Gradients reach every array, and leave finite numbers behind."""
    run = resolve_run(name, TINY)
    population = Population(run.architecture, run.task.sampler(run.data, 0), run.train, np.array([5]))
    start = population.start()
    stretch = population.advance(start, 0, 2)
    assert np.isfinite(stretch.train_loss).all()
    before, after = (population.flat.unpack(np.asarray(s.vectors)[0]) for s in (start, stretch.state))
    for key in before:
        assert np.isfinite(after[key]).all()
        assert (before[key] != after[key]).any() or key == "position.z_hi", key


def first(name, seed=0):
    architecture = ZOO[name].architecture
    draw = jax.jit(sample_first_values, static_argnums=0)
    return make_flat_layout(architecture).unpack(
        np.asarray(draw(architecture, make_stream_key(seed, "start")))
    )


def test_first_values_of_microadder():
    start = first("microadder-57")
    arc = [start[f"token.{key}"].item() for key in ("amplitude", "start", "stride")]
    assert arc == pytest.approx([2.5, -1.2, 0.29])
    half_width = np.sqrt(6 / 7)  # xavier: 4 x 3 and 2 x 5 alike
    for name in ("attn.k.weight", "ff.up.weight", "head.weight"):
        assert 0.7 * half_width < np.abs(start[name]).max() <= half_width
    assert 0 < np.abs(start["position.equals"]).max() < 0.1
    assert (start["attn.out.write"] == 0).all()
    assert (start["attn_norm.gain"] == 1).all()
    assert 0.3 < np.abs(start["attn.out.read"]).max() <= 1


def test_the_glass_family_starts_with_a_positive_form():
    """As W' W / 2 of a xavier weight of 4 x 3: its diagonal is 4 x (6/7) / 3 / 2 in the mean."""
    forms = np.stack([first("glass-39", seed)["attn.q.weight"] for seed in range(50)])
    assert np.linalg.eigvalsh(forms).min() > -1e-6
    np.testing.assert_array_equal(forms, forms.swapaxes(1, 2))
    assert np.trace(forms, axis1=1, axis2=2).mean() / 3 == pytest.approx(4 / 7, rel=0.15)
    law = list_parameters(ZOO["glass-39"].architecture)["attn.q.weight"]
    assert (law.law, law.scale) == ("gram", pytest.approx(3 / 7))


def test_the_direction_of_29_starts_anywhere():
    angles = [first("glass-29", seed)["attn.v.angle"].item() for seed in range(30)]
    assert min(angles) < -2
    assert max(angles) > 2
    assert (np.abs(angles) <= np.pi).all()
