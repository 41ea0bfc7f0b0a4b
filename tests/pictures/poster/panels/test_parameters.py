"""The adder's poster: its numbers, recomputed here from the raw weights in plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.models.architecture import FixedEntry
from glassformer.pictures.poster.panels import (
    big_picture,
    parameters,
)  # fmt: skip
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import MICRO, draw_panel, shown_parameters, subject_of


@pytest.mark.parametrize("name", [MICRO, "nanogpt-58", "tinyadder-95", "hand-6"])
def test_the_parameter_panel_shows_every_stored_number_once(name):
    subject = load_model(name)
    found = shown_parameters(draw_panel("P7", subject_of(name), THEMES["light"]))
    assert set(found) == set(subject.params)
    assert sum(array.size for array in found.values()) == sum(a.size for a in subject.params.values())
    for key, array in subject.params.items():
        assert np.array_equal(found[key], np.asarray(array, np.float64).ravel())


def test_numbers_without_effect_are_crossed_out():
    dead = parameters.compute(subject_of(MICRO))["dead"]
    assert {name for name, mask in dead.items() if mask.any()} == {"position.z_hi"}
    assert dead["position.z_hi"].all()
    assert not any(mask.any() for mask in parameters.compute(subject_of("hand-6"))["dead"].values())


def test_fixed_numbers_are_no_parameters():
    """One at 0 and one at -1.3, which float32 rounds; the nudges leave both alone."""
    subject = subject_of("glass-23")
    entries = (FixedEntry("head.weight", (1, 0)), FixedEntry("attn.q.weight", (2, 2), -1.3))
    params = {name: np.array(array) for name, array in subject.model.params.items()}
    for entry in entries:
        params[entry.name][entry.place] = entry.value
    model = replace(
        subject.model, architecture=replace(subject.model.architecture, fixed=entries), params=params
    )
    fewer = replace(subject, model=model)
    data = parameters.compute(fewer)
    assert parameters.title(data).startswith("All 21 parameters in 8 arrays, 2 more fixed")
    assert not any(mask.any() for mask in data["dead"].values())
    assert big_picture.compute(fewer)["total"] == 21
