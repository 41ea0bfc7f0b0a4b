"""Fixed entries: in the arrays, not in the vector, not among the learned; and counted as what they are."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture, Fixed, reference
from glassformer.model.count import count
from glassformer.model.forward import parameters
from glassformer.model.model import Model, in_float64
from glassformer.runs.tree import from_tree, to_tree
from glassformer.train.flat import first_values, flat_of
from glassformer.train.streams import stream

FREE = reference(vocab=5, context=3)
FIXED = (
    Fixed("attn.q.weight", (0, 1), 0.0),
    Fixed("head.bias", (2,), 1.5),
    Fixed("attn.q.weight", (1, 0), 0.25),
)
MODEL = replace(FREE, fixed=FIXED)


@cache
def start():
    """The first free numbers of a seed; not at import: every worker collects this file."""
    return np.asarray(jax.jit(first_values, static_argnums=0)(MODEL, stream(0, "start")))


def test_the_vector_holds_the_free_numbers_alone():
    whole = np.asarray(jax.jit(first_values, static_argnums=0)(FREE, stream(0, "start")))
    assert len(start()) == flat_of(MODEL).size == len(whole) - 3
    named, all_free = flat_of(MODEL).unpack(start()), flat_of(FREE).unpack(whole.copy())
    assert named["attn.q.weight"][0, 1] == 0 and named["attn.q.weight"][1, 0] == 0.25
    assert named["head.bias"][2] == 1.5
    for entry in FIXED:
        all_free[entry.name][entry.place] = entry.value
    assert all(np.array_equal(named[name], all_free[name]) for name in named)  # the others start as ever
    np.testing.assert_array_equal(flat_of(MODEL).pack(named), start())


def test_rows_and_gradients_go_through():
    rows = np.stack([start(), start() + 1])
    assert (flat_of(MODEL).unpack(rows)["head.bias"][:, 2] == 1.5).all()
    slope = jax.grad(lambda v: flat_of(MODEL).unpack(v)["attn.q.weight"].sum())(start())
    assert slope.sum() == 2  # of four entries two are free


def test_counts_say_what_is_fixed():
    tokens = np.array([[0, 1, 2, 3], [4, 3, 2, 1], [1, 1, 0, 2]])
    params = {name: np.asarray(array) for name, array in flat_of(MODEL).unpack(start() + 0.5).items()}
    free, fixed = (count(model, params, tokens, 3) for model in (FREE, MODEL))
    assert (free.learned, free.unique) == (fixed.learned + 3, fixed.unique + 3)
    assert fixed.constants == free.constants + 2  # a zero is no constant
    assert fixed.rank <= fixed.learned and fixed.stored == free.stored
    assert sum(fixed.parts.values()) == fixed.unique


def test_weights_must_agree_with_what_is_fixed():
    params = {name: np.array(array) for name, array in flat_of(MODEL).unpack(start()).items()}
    Model(MODEL, params)
    params["head.bias"][2] = 1.0
    with pytest.raises(
        UserError, match=r"head\.bias holds 1\.0 at \(2,\), where the architecture fixes 1\.5"
    ):
        Model(MODEL, params)


def test_in_double_precision_a_fixed_entry_stays_what_it_was_rounded_to():
    """-1.3 is no number of float32: the same model in float64 has the float32 number next to it."""
    model = replace(FREE, fixed=(Fixed("head.bias", (2,), -1.3),))
    params = {
        name: np.asarray(array)
        for name, array in flat_of(model).unpack(np.ones(flat_of(model).size, np.float32)).items()
    }
    double = in_float64(Model(model, params))
    assert double.params["head.bias"][2] == float(np.float32(-1.3)) != -1.3


def test_free_places_are_counted_row_by_row():
    assert parameters(MODEL)["attn.q.weight"].free_places == [0, 3]
    assert parameters(MODEL)["head.bias"].free_places == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (Fixed("head.bia", (0,)), "no stored parameter to fix called 'head.bia'"),
        (Fixed("head.bias", (5,)), "inside its shape"),
        (Fixed("head.bias"), "inside its shape"),
        (FIXED[1], "fixed once"),
    ],
)
def test_what_cannot_be_fixed(entry, says):
    with pytest.raises(UserError, match=says):
        parameters(replace(MODEL, fixed=(*FIXED, entry)))


def test_a_file_says_what_is_fixed():
    assert from_tree(Architecture, to_tree(MODEL), "model") == MODEL
