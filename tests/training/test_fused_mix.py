"""The mix's kernels: what they compute is the product and its slopes, in one block of lanes or several.

A CPU has no kernels: Pallas interprets them here, which runs the same program.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.models.blocks import Blocks, TokenLookup
from glassformer.models.ops_rows import RowOps
from glassformer.training import fused_mix
from glassformer.training.fused_mix import MixOps, mix_looked_up

QUERIES, KEYS, TOKENS, BATCH = 3, 5, 4, 16


def draw(rows, seed=0):
    """Weights, a table and a window with one token more than there are keys."""
    random = np.random.default_rng(seed)
    window = jnp.asarray(random.integers(0, TOKENS, (KEYS + 1, BATCH)), jnp.int8)
    numbers = (
        jnp.asarray(random.normal(size=shape), jnp.float32) for shape in ((QUERIES, KEYS), (TOKENS, rows))
    )
    return *numbers, window


def multiply(weights, table, window):
    """The same as products of whole arrays."""
    return jnp.einsum("qk,kbd->dqb", weights, table[window[:-1].astype(int)], precision="highest")


@pytest.mark.parametrize("lanes", [BATCH, 4])
@pytest.mark.parametrize("rows", [1, 2])
def test_mix_and_slopes_are_those_of_the_product(rows, lanes, monkeypatch):
    monkeypatch.setattr(fused_mix, "_LANES", lanes)
    weights, table, window = draw(rows)
    given = jnp.asarray(np.random.default_rng(1).normal(size=(rows, QUERIES, BATCH)), jnp.float32)
    ours, our_back = jax.vjp(lambda w, t: mix_looked_up(True, w, t, window), weights, table)
    plain, plain_back = jax.vjp(lambda w, t: multiply(w, t, window), weights, table)
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-5)
    for one, other in zip(our_back(given), plain_back(given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_models_side_by_side_do_not_mix():
    one, other = draw(1, seed=2), draw(1, seed=3)
    both = jax.vmap(lambda *given: mix_looked_up(True, *given))(*map(jnp.stack, zip(one, other, strict=True)))
    for row, given in enumerate((one, other)):
        np.testing.assert_allclose(both[row], multiply(*given), rtol=1e-5, atol=1e-5)


def mixed(weights, window, monkeypatch, rows=1, factor=None):
    """What MixOps makes of a lookup, and whether that took the kernel."""
    taken = []
    kernel = fused_mix.mix_looked_up
    monkeypatch.setattr(fused_mix, "mix_looked_up", lambda *given: taken.append(given) or kernel(*given))
    table, ops = draw(rows)[1], MixOps("float32", window, interpret=True)
    values = Blocks(ops, [TokenLookup(ops, table, window[:-1], factor=factor)])
    return ops.mix(weights, values), RowOps("float32").mix(weights, values), bool(taken)


@pytest.mark.parametrize("has_factor", [False, True])
def test_shared_weights_of_looked_up_values_take_the_kernel(has_factor, monkeypatch):
    weights, _, window = draw(1)
    factor = jnp.arange(1.0, KEYS + 1)[:, None] if has_factor else None
    ours, plain, is_kernel = mixed(weights[:, :, None], window, monkeypatch, factor=factor)
    assert is_kernel
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-5)


def test_weights_of_each_problem_are_left_to_the_compiler(monkeypatch):
    weights, _, window = draw(1)
    each = jnp.broadcast_to(weights[:, :, None], (QUERIES, KEYS, BATCH))
    ours, plain, is_kernel = mixed(each, window, monkeypatch)
    assert not is_kernel
    np.testing.assert_array_equal(ours, plain)


def test_more_sums_than_registers_are_left_to_the_compiler(monkeypatch):
    weights, _, window = draw(1)
    _, _, is_kernel = mixed(weights[:, :, None], window, monkeypatch, rows=5)  # 5 x 4 sums
    assert not is_kernel
