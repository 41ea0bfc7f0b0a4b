"""Ties: what is tied is not stored, and learns from every use."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Tie, make_reference_architecture
from glassformer.models.forward import forward, list_all_parameters, list_parameters, untie_parameters
from glassformer.models.ops_jax import JaxOps
from glassformer.models.ops_numpy import NumpyOps
from tests.models.test_forward import contexts, drawn

FREE = make_reference_architecture(vocab=5)


def tied(name: str, to: str) -> Architecture:
    return replace(FREE, ties=(Tie(name, to),))


@pytest.mark.parametrize("to", ["attn.q.weight", "attn.q.weight.T"])
def test_a_tied_weight_is_the_other_one(to):
    model = tied("attn.k.weight", to)
    assert set(list_all_parameters(model)) - set(list_parameters(model)) == {"attn.k.weight"}
    params = drawn(model)
    query = params["attn.q.weight"]
    written_out = params | {"attn.k.weight": query.T if to.endswith(".T") else query}
    assert all(
        np.array_equal(array, written_out[name]) for name, array in untie_parameters(model, params).items()
    )
    logits = forward(model, NumpyOps(), params, contexts())
    np.testing.assert_array_equal(logits, forward(FREE, NumpyOps(), written_out, contexts()))


@pytest.mark.parametrize("to", ["attn.q.weight", "attn.q.weight.T"])
def test_a_tied_weight_learns_from_both_uses(to):
    model = tied("attn.k.weight", to)
    params = drawn(model)
    tokens = contexts()

    with jax.enable_x64(True):

        def loss(params, model):
            return jnp.sum(jnp.sin(forward(model, JaxOps("float64"), params, jnp.asarray(tokens))))

        slope = jax.jit(jax.grad(loss), static_argnums=1)
        together = slope(params, model)["attn.q.weight"]
        apart = slope(dict(untie_parameters(model, params)), FREE)
    by_key = apart["attn.k.weight"].T if to.endswith(".T") else apart["attn.k.weight"]
    np.testing.assert_allclose(together, apart["attn.q.weight"] + by_key, atol=1e-12)


@pytest.mark.parametrize(
    ("ties", "sentence"),
    [
        (
            [("attn.k.wight", "attn.q.weight")],
            "no parameter to tie called 'attn.k.wight'; did you mean 'attn.k.weight'?",
        ),
        (
            [("attn.k.weight", "attn.q.wight.T")],
            "no stored parameter called 'attn.q.wight'; did you mean 'attn.q.weight'?",
        ),
        (
            [("attn.k.weight", "attn.q.weight"), ("attn.v.weight", "attn.k.weight")],
            "no stored parameter called 'attn.k.weight'; did you mean 'attn.q.weight'?",
        ),
        (
            [("head.weight", "token.weight.T")],
            "token.weight.T must be of shape (5, 2), as head.weight, but it is (2, 5)",
        ),
    ],
)
def test_bad_ties_get_one_sentence(ties, sentence):
    with pytest.raises(UserError) as error:
        list_parameters(replace(FREE, ties=tuple(Tie(*pair) for pair in ties)))
    assert str(error.value) == sentence
