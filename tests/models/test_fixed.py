"""Fixed entries: in the arrays, not in the vector, not among the learned; and counted as what they are."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, FixedEntry
from glassformer.models.count import count_parameters
from glassformer.models.forward import list_parameters
from glassformer.runs.tree import from_tree, to_tree
from glassformer.training.flat import make_flat_layout, sample_first_values
from glassformer.training.streams import make_stream_key
from tests.models.fixed import FIXED, FREE, MODEL, start


def test_the_vector_holds_the_free_numbers_alone():
    whole = np.asarray(jax.jit(sample_first_values, static_argnums=0)(FREE, make_stream_key(0, "start")))
    assert len(start()) == make_flat_layout(MODEL).size == len(whole) - 3
    named, all_free = make_flat_layout(MODEL).unpack(start()), make_flat_layout(FREE).unpack(whole.copy())
    assert named["attn.q.weight"][0, 1] == 0 and named["attn.q.weight"][1, 0] == 0.25
    assert named["head.bias"][2] == 1.5
    for entry in FIXED:
        all_free[entry.name][entry.place] = entry.value
    assert all(np.array_equal(named[name], all_free[name]) for name in named)  # the others start as ever
    np.testing.assert_array_equal(make_flat_layout(MODEL).pack(named), start())


def test_rows_and_gradients_go_through():
    rows = np.stack([start(), start() + 1])
    assert (make_flat_layout(MODEL).unpack(rows)["head.bias"][:, 2] == 1.5).all()
    slope = jax.grad(lambda v: make_flat_layout(MODEL).unpack(v)["attn.q.weight"].sum())(start())
    assert slope.sum() == 2  # of four entries two are free


def test_counts_say_what_is_fixed():
    tokens = np.array([[0, 1, 2, 3], [4, 3, 2, 1], [1, 1, 0, 2]])
    params = {
        name: np.asarray(array) for name, array in make_flat_layout(MODEL).unpack(start() + 0.5).items()
    }
    free, fixed = (count_parameters(model, params, tokens, 3) for model in (FREE, MODEL))
    assert (free.learned, free.unique) == (fixed.learned + 3, fixed.unique + 3)
    assert fixed.constants == free.constants + 2  # a zero is no constant
    assert fixed.rank <= fixed.learned and fixed.stored == free.stored
    assert sum(fixed.parts.values()) == fixed.unique


def test_free_places_are_counted_row_by_row():
    assert list_parameters(MODEL)["attn.q.weight"].free_places == [0, 3]
    assert list_parameters(MODEL)["head.bias"].free_places == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (FixedEntry("head.bia", (0,)), "no stored parameter to fix called 'head.bia'"),
        (FixedEntry("head.bias", (5,)), "inside its shape"),
        (FixedEntry("head.bias"), "inside its shape"),
        (FIXED[1], "fixed once"),
    ],
)
def test_what_cannot_be_fixed(entry, says):
    with pytest.raises(UserError, match=says):
        list_parameters(replace(MODEL, fixed=(*FIXED, entry)))


def test_a_file_says_what_is_fixed():
    assert from_tree(Architecture, to_tree(MODEL), "model") == MODEL
