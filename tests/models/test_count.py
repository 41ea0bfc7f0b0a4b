"""Counts: each one by hand on small models, and the rank where it is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models import count as module
from glassformer.models.architecture import Architecture, Layer, Tie, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.count import count_parameters, name_chosen_entries
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import LinearHead, TiedHead
from glassformer.models.position import (
    NoPosition,
)
from glassformer.models.projection import FullProjection
from glassformer.models.token import LearnedTable
from tests.models.test_forward import contexts, drawn

# Tokens straight into a head: logits = H E, 5 x 2 times 2 x 5 of rank 2, so 2 x 2 of its 20 numbers are
# choices of coordinates.
BILINEAR = Architecture(
    vocab=5, context=1, position=NoPosition(), layers=(Layer(None, None),), head=LinearHead(FullProjection())
)
EVERY_TOKEN = np.arange(5)[None]


@dataclass(frozen=True)
class FrozenTable(LearnedTable):
    """A table that is stored but not learned."""

    def parameters(self, name, vocab, dims):
        return {key: value.frozen() for key, value in super().parameters(name, vocab, dims).items()}


def test_a_product_of_two_matrices():
    counts = count_parameters(BILINEAR, drawn(BILINEAR), EVERY_TOKEN, outputs=1)
    assert (counts.unique, counts.rank, counts.dead) == (20, 16, ())
    assert counts.parts == {"token": 10, "head": 10}


def test_what_is_frozen_is_not_learned():
    model = replace(BILINEAR, token=FrozenTable())
    counts = count_parameters(model, drawn(model), EVERY_TOKEN, outputs=1)
    assert (counts.unique, counts.learned, counts.rank) == (20, 10, 10)
    nothing = replace(model, head=TiedHead())
    assert count_parameters(nothing, drawn(nothing), EVERY_TOKEN, outputs=1).rank == 0


def test_ties_are_written_out_in_stored_only():
    model = replace(BILINEAR, ties=(Tie("head.weight", "token.weight"),))
    counts = count_parameters(model, drawn(model), EVERY_TOKEN, outputs=1)
    assert (counts.stored, counts.unique) == (20, 10)
    assert counts.rank == 9  # E E^T does not see a turn of the plane


def test_zeros_are_counted():
    params = drawn(BILINEAR)
    params["head.weight"][:2] = 0
    assert count_parameters(BILINEAR, params, EVERY_TOKEN, outputs=1).nonzero == 16


def test_tokens_that_never_occur_are_dead():
    counts = count_parameters(BILINEAR, drawn(BILINEAR), np.array([[0, 1, 2, 4]]), outputs=1)
    assert counts.dead == ("token.weight[3,0]", "token.weight[3,1]")


def test_the_bias_of_a_key_is_dead():
    """It adds the same to all scores of a query, so softmax cancels it; softmax1 does not."""
    attention = Attention(k=FullProjection(bias=True))
    for softmax, dead in (("softmax", ("attn.k.bias",)), ("softmax1", ())):
        layer = Layer(replace(attention, softmax=softmax), FeedForward(hidden=2, bend="gelu"))
        model = Architecture(vocab=5, context=6, layers=(layer,))
        assert count_parameters(model, drawn(model), contexts(batch=32), outputs=6).dead == dead


def test_units_that_never_open_are_dead():
    model = Architecture(vocab=5, context=6, layers=(Layer(feedforward=FeedForward(hidden=2)),))
    params = drawn(model)
    params["ff.up.bias"][1] = -1e6
    dead = count_parameters(model, params, contexts(), outputs=6).dead
    assert dead == (
        "ff.up.weight[1,0]",
        "ff.up.weight[1,1]",
        "ff.up.bias[1]",
        "ff.down.weight[0,1]",
        "ff.down.weight[1,1]",
    )


def test_the_reference_model():
    """Query and key, 2 x 2 each, enter as a product (4 too many); tokens and places share a shift (2)."""
    model = make_reference_architecture(vocab=12, width=2, context=8)
    counts = count_parameters(model, drawn(model), contexts(8, 174, 12), outputs=8)
    assert (counts.stored, counts.unique, counts.learned, counts.constants) == (250, 250, 250, 1)
    assert counts.rank is not None and counts.rank <= 250 - 4 - 2


def test_the_rank_grows_with_the_contexts_until_it_is_saturated():
    params = drawn(BILINEAR)
    ranks = [count_parameters(BILINEAR, params, EVERY_TOKEN[:, :seen], outputs=1).rank for seen in (1, 2, 5)]
    doubled = np.concatenate([EVERY_TOKEN, EVERY_TOKEN], 1)
    assert [*ranks, count_parameters(BILINEAR, params, doubled, outputs=1).rank] == [5, 10, 16, 16]


def test_chunks_do_not_change_the_rank(monkeypatch):
    whole = count_parameters(BILINEAR, drawn(BILINEAR), EVERY_TOKEN, outputs=1)
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    assert count_parameters(BILINEAR, drawn(BILINEAR), EVERY_TOKEN, outputs=1) == whole


def test_a_large_model_has_no_rank():
    model = make_reference_architecture(vocab=21, width=32, context=16, heads=2, head_size=32)
    counts = count_parameters(model, drawn(model), contexts(16, 2, 21), outputs=16)
    assert counts.unique > 40_000
    assert (counts.rank, counts.dead) == (None, None)


def test_names_of_single_entries():
    arrays = {"a": np.zeros(()), "b": np.zeros(3), "c": np.zeros((2, 2))}
    chosen = np.array([True, False, True, False, True, True, True, True])
    assert name_chosen_entries(arrays, chosen) == ("a", "b[1]", "c")


def test_bad_input_gets_one_sentence():
    with pytest.raises(UserError, match="outputs must be between 1 and 1 positions, but it is 2"):
        count_parameters(BILINEAR, drawn(BILINEAR), EVERY_TOKEN, outputs=2)
    with pytest.raises(UserError, match=r"the weights lack head.weight, which should have shape \(5, 2\)"):
        count_parameters(BILINEAR, {"token.weight": np.ones((5, 2))}, EVERY_TOKEN, outputs=1)
