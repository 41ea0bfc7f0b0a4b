"""Rounding: what is kept stays proved, no parameter alone goes further, and time that ran out is said."""

import time
from math import inf

import numpy as np
import pytest

from glassformer.models.architecture import FixedEntry
from glassformer.models.mantissa import count_mantissa_bits, round_mantissa
from glassformer.models.model import Model
from glassformer.proofs.rounding import Rounding
from glassformer.runs.load import load_model

START = {"token.amplitude": 20.3, "token.stride": 0.12}
MOST = {"token.amplitude": 0.25, "token.stride": 0.001}  # how far each may move


def is_near(model):
    """In place of a proof: every parameter in its own interval."""
    return all(abs(float(model.params[name]) - START[name]) <= most for name, most in MOST.items())


def make_small_model():
    loaded = load_model("glass-8")
    params = {name: np.float64(value) for name, value in START.items()}
    held = {name: np.zeros_like(array) for name, array in loaded.params.items() if name not in params}
    return Model(loaded.architecture, params | held)


def test_it_ends_where_no_parameter_alone_can_be_rounded_further():
    search = Rounding(make_small_model(), is_near, inf)
    search.search()
    assert search.is_settled
    assert is_near(search.make_model(search.values))
    for entry, value in search.values.items():
        for bits in range(count_mantissa_bits(value)):
            other = search.values | {entry: round_mantissa(search.original[entry], bits)}
            assert not is_near(search.make_model(other))
    assert search.values["token.amplitude", ()] == 20.5  # six bits: 20.3 with fewer would be 20, 16 or 24


def test_entries_that_are_fixed_are_left_alone():
    loaded = load_model("any-6")
    search = Rounding(loaded, lambda model: True, inf)
    search.search()
    assert search.bits == 0
    rounded = search.make_model(search.values)
    assert {entry.name for entry in loaded.architecture.fixed} == {"attn.relation.sharpness", "ff.up.p"}
    for entry in loaded.architecture.fixed:
        assert isinstance(entry, FixedEntry)
        assert rounded.params[entry.name][entry.place] == entry.value


def test_without_time_nothing_is_tried_and_nothing_is_settled():
    search = Rounding(make_small_model(), is_near, time.monotonic() - 1)
    search.search()
    assert (search.proofs, search.is_settled, search.values) == (0, False, search.original)


def test_time_that_ends_after_the_last_try_takes_nothing_back():
    """The search was complete, whatever the clock says when it is looked at."""
    search = Rounding(make_small_model(), is_near, inf)
    search.search()
    search.until = 0.0
    assert search.is_out_of_time
    assert search.is_settled


@pytest.mark.parametrize("bits", [0, 1, 5])
def test_a_proof_that_never_comes_changes_nothing(bits):
    search = Rounding(make_small_model(), lambda model: False, inf)
    search.search()
    assert search.values == search.original
