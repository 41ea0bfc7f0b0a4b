"""Hinges against the raw weights."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.model import Model
from glassformer.pictures.figures import head, hinges
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.feedforward import raw
from tests.pictures.measure.by_hand import copy_of


@pytest.mark.parametrize("name", NAMES)
def test_hinges_are_where_units_are_zero_and_end_at_the_edges(name):
    subject = subject_of(name)
    data = hinges.compute(subject)
    weight, bias, limits = raw(subject, "ff.up.weight"), raw(subject, "ff.up.bias"), data["limits"]
    lines = [(unit, ends) for unit, ends in enumerate(data["segments"]) if ends is not None]
    assert lines
    for unit, ends in lines:
        states = data["plane"].lift(ends)
        size = np.abs(weight[unit]) @ np.abs(states).max(0) + abs(bias[unit])
        np.testing.assert_allclose(states @ weight[unit] + bias[unit], 0, atol=1e-5 * size)
        on_edge = np.isclose(ends[:, :, None], limits[None], rtol=1e-9, atol=1e-9 * np.ptp(limits)).any(
            (1, 2)
        )
        assert on_edge.all()
        assert (ends >= limits[:, 0] - 1e-9).all() and (ends <= limits[:, 1] + 1e-9).all()


def test_ticks_point_to_the_active_side():
    subject = subject_of("plus_last_even")
    data = hinges.compute(subject)
    inside = [unit for unit, ends in enumerate(data["segments"]) if ends is not None]
    tips = hinges.make_hinge_ticks(data, inside, np.stack([data["segments"][unit] for unit in inside]))[:, 1]
    for unit, tip in zip(inside, tips, strict=True):
        assert raw(subject, "ff.up.weight")[unit] @ tip + raw(subject, "ff.up.bias")[unit] > 0


def test_counts_of_active_units_at_some_points():
    subject = subject_of("step_back")
    data = hinges.compute(subject)
    grid = data["active"].shape[0]
    low, high = data["limits"].T
    for row, column in ((0, 0), (17, 301), (399, 5), (200, 200)):
        point = low + (np.array([column, row]) + 0.5) / grid * (high - low)
        state = data["plane"].lift(point)
        bent = raw(subject, "ff.up.weight") @ state + raw(subject, "ff.up.bias")
        assert data["active"][row, column] == (bent > 0).sum()


def test_figures_change_with_a_weight():
    params = {key: array.copy() for key, array in subject_of("plus_last_even").model.params.items()}
    params["ff.up.bias"][3] += 0.5
    params["head.bias"][2] += 0.5
    changed = copy_of("plus_last_even", params)
    old, new = (hinges.compute(one)["segments"] for one in (subject_of("plus_last_even"), changed))
    assert not np.allclose(old[3], new[3])
    assert head.compute(changed)["bias"][2] == pytest.approx(
        raw(subject_of("plus_last_even"), "head.bias")[2] + 0.5
    )


def test_a_model_without_a_feedforward_layer_says_so():
    subject = subject_of("plus_last_even")
    shape = replace(
        subject.model.architecture, layers=(replace(subject.model.architecture.layers[0], feedforward=None),)
    )
    assert isinstance(shape, Architecture) and isinstance(shape.layers[0], Layer)
    params = {key: array for key, array in subject.model.params.items() if not key.startswith("ff")}
    with pytest.raises(UserError, match="has no feed-forward layer"):
        hinges.compute(replace(subject, model=Model(shape, params)))
