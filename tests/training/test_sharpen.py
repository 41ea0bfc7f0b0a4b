"""The factor of the logits is the loss's alone."""

import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.models.forward import forward
from glassformer.models.ops_jax import JaxOps
from glassformer.training.flat import make_flat_layout, sample_first_values
from glassformer.training.kernels import choose_loss
from glassformer.training.objective import compute_window_loss, cross_entropy
from glassformer.training.settings import TrainSettings
from glassformer.training.sharpen import sharpen_loss
from glassformer.training.streams import make_stream_key
from glassformer.zoo import ZOO

ENTRY = ZOO["pure-5"]
FLAT = make_flat_layout(ENTRY.architecture)
OUTPUTS = ENTRY.task.digits + 1


@pytest.fixture(scope="module")
def vector():
    return sample_first_values(ENTRY.architecture, make_stream_key(3, "start"))


@pytest.fixture(scope="module")
def tokens():
    x, y = np.random.default_rng(0).integers(0, 10, (2, 10, 32))
    return jnp.asarray(ENTRY.task.written().encode(x, y, ENTRY.task.solve_digits(x, y)))


@pytest.mark.parametrize("factor", [1.0, 7.5])
def test_the_loss_is_that_of_multiplied_logits(vector, tokens, factor):
    logits = forward(ENTRY.architecture, JaxOps(), FLAT.unpack(vector), tokens[:-1], last=OUTPUTS)
    expected = jnp.mean(cross_entropy(logits * factor, tokens[-OUTPUTS:]))
    found = sharpen_loss(compute_window_loss, factor)(ENTRY.architecture, FLAT, vector, tokens, OUTPUTS)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_without_a_factor_nothing_is_wrapped():
    assert choose_loss(ENTRY.architecture, TrainSettings(), 256) is compute_window_loss
