"""A model takes weights that agree with its architecture."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import FixedEntry
from glassformer.models.model import Model, to_float64
from glassformer.runs.load import load_model
from glassformer.training.flat import make_flat_layout
from tests.models.fixed import FREE, MODEL, start


def test_weights_must_agree_with_what_is_fixed():
    params = {name: np.array(array) for name, array in make_flat_layout(MODEL).unpack(start()).items()}
    Model(MODEL, params)
    params["head.bias"][2] = 1.0
    with pytest.raises(
        UserError, match=r"head\.bias holds 1\.0 at \(2,\), where the architecture fixes 1\.5"
    ):
        Model(MODEL, params)


def test_in_double_precision_a_fixed_entry_stays_what_it_was_rounded_to():
    """-1.3 is no number of float32: the same model in float64 has the float32 number next to it."""
    model = replace(FREE, fixed=(FixedEntry("head.bias", (2,), -1.3),))
    params = {
        name: np.asarray(array)
        for name, array in make_flat_layout(model)
        .unpack(np.ones(make_flat_layout(model).size, np.float32))
        .items()
    }
    double = to_float64(Model(model, params))
    assert double.params["head.bias"][2] == float(np.float32(-1.3)) != -1.3


def test_double_precision_is_the_same_model():
    loaded = load_model("glass-29")
    double = to_float64(loaded)
    assert double.architecture.precision == "float64"
    for name, array in loaded.params.items():
        np.testing.assert_array_equal(double.params[name], array)
