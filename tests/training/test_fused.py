"""The kernel: what it computes is the loss and its gradient, whichever model it is made for.

A CPU has no kernels: Pallas interprets them here, which runs the same program. benchmarks/population.py compares
the two on a GPU, where they are compiled.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.models.token import LearnedTable
from glassformer.tasks.sampler import SumSampler
from glassformer.training import fused, fused_position
from glassformer.training.flat import make_flat_layout, sample_first_values
from glassformer.training.fused import compute_fused_loss, fits_kernel, list_read_parameters
from glassformer.training.kernels import choose_loss
from glassformer.training.objective import compute_window_loss
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key
from glassformer.zoo import ZOO
from tests.selection import chosen

BATCH, BLOCK, OUTPUTS, TOKENS = 64, 32, 11, 3
MODELS = [
    "glass-8",
    "glass-23",
    "glass-39",
    "glass-47",
    "microadder-57",
    "microadder-62",
    "microadder-74",
    "rope-36",
    "rope-62",
]
ALWAYS = ["glass-47", "rope-36"]  # glass-47 learns a position and gains; rope-36 has a gate


def short(name):
    """The zoo's model for three tokens, some numbers away from its start.

    A kernel handles tokens one by one: with three of them it is compiled in a third of the time.
    """
    entry = ZOO[name]
    model = replace(entry.architecture, vocab=TOKENS)
    start = sample_first_values(model, make_stream_key(3, "start"))
    vector = start + 0.1 * jax.random.normal(jax.random.key(0), start.shape)
    return model, make_flat_layout(model), vector


def batches(name, *steps):
    drawn = SumSampler(ZOO[name].task).draw((), make_stream_key(0, "steps"), jnp.array(steps), BATCH)
    return drawn % TOKENS


@pytest.fixture(autouse=True)
def two_blocks(monkeypatch):
    """A batch takes two programs, whose sums are added up; each walks through its problems in two parts."""
    monkeypatch.setattr(fused, "LANES", BLOCK)
    monkeypatch.setattr(fused_position, "_AT_ONCE", BLOCK // 2)


@pytest.mark.parametrize("name", chosen(MODELS, ALWAYS))
def test_loss_and_gradient_are_those_of_the_plain_pass(name):
    model, flat, vector = short(name)
    tokens = batches(name, 3)[0]
    value, slope = jax.jit(
        jax.value_and_grad(lambda v: compute_window_loss(model, flat, v, tokens, OUTPUTS))
    )(vector)
    kernel = jax.value_and_grad(lambda v: compute_fused_loss(model, flat, v, tokens, OUTPUTS, interpret=True))
    ours, our_slope = jax.jit(kernel)(vector)
    assert float(ours) == pytest.approx(float(value), rel=1e-5)
    assert (np.abs(slope) > 1e-3 * np.abs(slope).max()).mean() > 0.5  # most numbers have a slope to compare
    np.testing.assert_allclose(our_slope, slope, atol=2e-5 * float(jnp.abs(slope).max()))


def test_models_side_by_side_do_not_mix():
    model, flat, vector = short("glass-8")
    vectors, tokens = jnp.stack([vector, vector * 1.1]), batches("glass-8", 3, 4)

    def one(vector, tokens):
        return jax.value_and_grad(
            lambda v: compute_fused_loss(model, flat, v, tokens, OUTPUTS, interpret=True)
        )(vector)

    both = jax.jit(jax.vmap(one))(vectors, tokens)
    alone = jax.jit(one)
    for row in range(2):
        value, slope = alone(vectors[row], tokens[row])
        np.testing.assert_allclose(both[0][row], value, rtol=1e-6)
        np.testing.assert_allclose(both[1][row], slope, rtol=1e-4, atol=1e-5)


def test_a_tied_array_is_taken_once():
    assert list_read_parameters(ZOO["glass-23"].architecture) == (
        "attn.out.weight",
        "ff.up.weight",
        "head.weight",
    )


def test_which_models_suit_it():
    glass = ZOO["glass-39"].architecture
    assert fits_kernel(glass, 256)
    assert not fits_kernel(glass, 100)  # no power of two
    assert not fits_kernel(replace(glass, precision="float64"), 256)
    assert not fits_kernel(ZOO["tinyadder-95"].architecture, 256)  # two layers
    wide = replace(glass, vocab=100, token=LearnedTable())
    assert not fits_kernel(wide, 256)  # more slopes than registers


def test_a_cpu_takes_the_plain_pass():
    assert (
        choose_loss(ZOO["glass-39"].architecture, TrainSettings(kernel="fused", device="cpu"), 256)
        is compute_window_loss
    )
