"""The GPU's operations, row by row, agree with NumPy's; so do their gradients with those of the CPU's."""

from functools import partial

import jax
import numpy as np
import pytest

from glassformer.models.blocks import Blocks
from glassformer.models.forward import forward, list_parameters
from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.ops_rows import MOST, RowOps, split_dimensions
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import Rule, add_digits
from glassformer.zoo import ZOO
from tests.selection import chosen

NAMES = ["glass-29", "plus_last_even", "microadder-57", "rope-62", "even_repeat_last_odd"]


def example(name: str):
    run = CONFIGURATIONS[name]
    random = np.random.default_rng(1)
    model = run.architecture
    params = {key: random.normal(size=p.shape) / 2 for key, p in list_parameters(model).items()}
    places = model.context if isinstance(run.task, Rule) else run.task.written().length - 1
    return model, params, random.integers(0, run.vocab, (places, 3)), 3


def quickly_compiled(job):
    """One program, little optimised: operation by operation, the rows take five times as long."""
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(job, compiler_options=options)


@pytest.mark.parametrize("name", chosen(NAMES, NAMES[:2]))
def test_logits_and_gradients(name):
    model, params, tokens, last = example(name)
    expected = forward(model, NumpyOps(), params, tokens, last)

    def total(ops, params):
        logits = forward(model, ops, params, tokens, last)
        return (logits**2).sum(), logits

    with jax.enable_x64(True):
        (slopes, _), (rows_slopes, found) = (
            quickly_compiled(jax.grad(partial(total, ops), has_aux=True))(params)
            for ops in (JaxOps("float64"), RowOps("float64"))
        )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    for key, slope in slopes.items():
        np.testing.assert_allclose(
            rows_slopes[key], slope, rtol=1e-6, atol=1e-9 * np.abs(slope).max() + 1e-12
        )


@pytest.mark.parametrize("name", ["nanogpt-58", "tinyadder-95", "hand-4"])
def test_hand_built_adders(name):
    entry = ZOO[name]
    x, y = np.random.default_rng(2).integers(0, 10, (2, 10, 5))
    tokens = entry.task.written().encode(x, y, add_digits(x, y, 10))[:-1]
    expected = forward(entry.architecture, NumpyOps(), entry.build(), tokens, 11)
    with jax.enable_x64(True):
        found = quickly_compiled(
            lambda params: forward(entry.architecture, RowOps("float64"), params, tokens, 11)
        )(entry.build())
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12 * np.abs(expected).max())


def test_thin_weights_give_rows_and_wide_ones_do_not():
    ops, x = RowOps(), np.ones((4, 2, 3), np.float32)
    thin = ops.linear(np.ones((5, 4), np.float32), x, np.ones(5, np.float32))
    assert isinstance(thin, Blocks) and [row.shape for row in split_dimensions(thin)] == [(2, 3)] * 5
    np.testing.assert_array_equal(split_dimensions(thin)[0], 5.0)
    assert not isinstance(ops.linear(np.ones((MOST, 4), np.float32), x), Blocks)
