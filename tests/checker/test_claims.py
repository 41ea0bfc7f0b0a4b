"""A model has one hash."""

from dataclasses import replace

import numpy as np

from glassformer.checker.claims import hash_model
from glassformer.runs.load import load_model


def test_a_model_has_one_hash():
    model = load_model("glass-23")
    found = hash_model(model.architecture, model.params)
    changed = {name: array * np.float32(1.01) for name, array in model.params.items()}
    assert len(found) == 64
    assert hash_model(model.architecture, changed) != found
    assert hash_model(replace(model.architecture, context=40), model.params) != found
