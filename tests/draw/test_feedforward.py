"""Hinges, units, the fold and the head against the raw weights."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.figures import folded_plane, head, hinges, units
from glassformer.draw.measure.hidden_units import clipped, folded, units_of
from glassformer.draw.measure.plane import plane_of
from glassformer.draw.parts.matrices import PARAMETER
from glassformer.draw.theme import THEMES
from glassformer.errors import UserError
from glassformer.model.architecture import Architecture, Layer, reference
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.model.norm import RMSNorm
from glassformer.model.projection import Constant, Full
from glassformer.runs.configurations import configuration
from tests.draw.conftest import NAMES, subject_of
from tests.draw.test_interventions import copy_of

THEME = THEMES["light"]


def raw(subject, name):
    return np.asarray(subject.model.params[name], np.float64)


def last_z(subject):
    return subject.trial_traces["mid"][:, -1].astype(np.float64)


@pytest.mark.parametrize("name", NAMES)
def test_units_by_hand(name):
    subject = subject_of(name)
    bent = last_z(subject) @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias")
    hidden = np.maximum(bent, 0)
    found = units_of(subject)
    np.testing.assert_allclose(found.reads, raw(subject, "ff.up.weight"), atol=1e-6)
    np.testing.assert_allclose(found.active, (bent > 0).mean(0), atol=2e-3)
    lengths = np.linalg.norm(raw(subject, "ff.down.weight"), axis=0)
    np.testing.assert_allclose(found.contribution, hidden.mean(0) * lengths, rtol=1e-3, atol=1e-4)
    never, always = (hidden == 0).all(0), (bent > 0).all(0)
    assert (
        abs(
            np.bincount(found.kinds, minlength=3) - [(~never & ~always).sum(), always.sum(), never.sum()]
        ).max()
        <= 1
    )


def test_units_of_a_layer_that_writes_one_dimension_and_of_one_that_reads_nothing():
    """Projections may come in blocks, and with a batch of 1: the six parameters of modular-11."""
    shape = configuration("modular-11").architecture
    params = {name: np.ones(one.shape, "f4") for name, one in parameters(shape).items()}
    params |= {fixed.name: np.array(fixed.value, "f4") for fixed in shape.fixed}
    params |= {"ff.up.bias": np.array([-10, -11], "f4"), "ff.down.rise": np.array(2, "f4")}
    subject = replace(subject_of("modular11"), model=Model(shape, params))
    found = units_of(subject)
    np.testing.assert_array_equal(found.reads, [[0, 1], [0, 1]])
    np.testing.assert_array_equal(found.bias, [-10, -11])
    np.testing.assert_array_equal(found.writes, [[0, -2], [0, 2]])
    layer = Layer(reference(vocab=12, context=3).layers[0].attention, FeedForward(up=Constant()))
    shape = Architecture(vocab=12, context=3, width=2, layers=(layer,))
    params = {name: np.full(one.shape, 5, "f4") for name, one in parameters(shape).items()}
    found = units_of(replace(subject, model=Model(shape, params)))
    assert not found.reads.any() and (found.bias == 5).all() and len(found) == 32


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
    tips = hinges.ticks(data, inside, np.stack([data["segments"][unit] for unit in inside]))[:, 1]
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


def test_lines_that_miss_the_panel_are_none():
    limits = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert clipped(np.array([1.0, 1.0]), -3.0, limits) is None
    assert clipped(np.array([0.0, 2.0]), 1.0, limits) is None
    assert clipped(np.zeros(2), 1.0, limits) is None
    corner = clipped(np.array([1.0, 1.0]), -0.5, limits)
    assert sorted(map(tuple, corner.round(9).tolist())) == [(0.0, 0.5), (0.5, 0.0)]


def drawn_parameters(figure):
    found = {}
    for axes in figure.axes:
        for image in axes.images:
            if (image.get_gid() or "").startswith(PARAMETER):
                name = image.get_gid().removeprefix(PARAMETER)
                assert name not in found
                found[name] = np.asarray(image.get_array())
    return found


@pytest.mark.parametrize("name", ["plus_last_even", "even_to_odd_transition", "even_repeat_last_odd"])
@pytest.mark.parametrize(("figure", "parts"), [(units, ("ff", "ff_norm")), (head, ("head", "final_norm"))])
def test_every_stored_number_is_drawn_once(name, figure, parts):
    subject = subject_of(name)
    assert_all_drawn(subject, figure, parts)


def assert_all_drawn(subject, figure, parts):
    drawn = drawn_parameters(figure.draw(figure.compute(subject), THEME))
    stored = {key: array for key, array in subject.model.params.items() if key.split(".")[0] in parts}
    assert drawn.keys() == stored.keys()
    for key, array in stored.items():
        np.testing.assert_array_equal(np.sort(drawn[key].ravel()), np.sort(array.astype(np.float64).ravel()))


@pytest.mark.parametrize("bend", ["relu", "silu"])
def test_gated_layers_with_norms_are_drawn_whole(bend):
    subject = subject_of("plus_last_even")
    norm = RMSNorm()
    layer = replace(
        subject.model.architecture.layers[0],
        feedforward=FeedForward(hidden=2, bend=bend, gate=Full()),  # as many units as dimensions
        feedforward_norm=norm,
    )
    shape = replace(subject.model.architecture, layers=(layer,), final_norm=norm)
    random = np.random.default_rng(3)
    params = {key: random.normal(size=one.shape).astype(np.float32) for key, one in parameters(shape).items()}
    subject = replace(subject, model=Model(shape, params))
    assert_all_drawn(subject, units, ("ff", "ff_norm"))
    assert_all_drawn(subject, head, ("head", "final_norm"))
    read = subject.trial_traces["ff.input"][:, -1].astype(float)
    gate = read @ params["ff.gate.weight"].T.astype(float)
    np.testing.assert_allclose(units_of(subject).active, (gate > 0).mean(0), atol=2e-3)
    data = hinges.compute(subject)
    assert "linear" not in hinges.title(data)
    hinges.draw(data, THEME)
    folded_plane.draw(folded_plane.compute(subject), THEME)


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7_no_resid", "even_to_odd_transition"])
def test_the_fold_by_hand(name):
    subject = subject_of(name)
    states = np.random.default_rng(0).normal(size=(50, subject.model.architecture.width))
    hidden = np.maximum(states @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias"), 0)
    written = hidden @ raw(subject, "ff.down.weight").T + raw(subject, "ff.down.bias")
    expected = written if name == "lucky7_no_resid" else states + written
    np.testing.assert_allclose(folded(subject, states), expected, rtol=1e-4, atol=1e-3)


def test_grid_and_image_belong_together():
    subject = subject_of("plus_last_even")
    data = folded_plane.compute(subject)
    grid, image = data["grids"]
    some = grid[::7, ::50].reshape(-1, 2)
    np.testing.assert_allclose(image[::7, ::50].reshape(-1, 2), folded(subject, some), rtol=1e-5, atol=1e-3)
    answers = last_z(subject) @ raw(subject, "head.weight").T + raw(subject, "head.bias")
    right = subject.trials.allowed[np.arange(len(answers)), answers.argmax(1)].mean()
    assert data["right"][0].value == pytest.approx(right, abs=1e-3)


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_the_heads_directions_are_its_weights(name):
    subject = subject_of(name)
    data = head.compute(subject)
    np.testing.assert_allclose(data["bias"], raw(subject, "head.bias"), atol=1e-6)
    expected = raw(subject, "head.weight") @ data["plane"].directions.T
    np.testing.assert_allclose(data["ends"], expected, atol=1e-5)


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


def test_hinges_on_a_plane_of_more_dimensions():
    subject = subject_of("step_back")
    plane = replace(plane_of(last_z(subject), "z"), through=last_z(subject).mean(0))
    slopes, shifts = units_of(subject).on_plane(plane)
    points = np.random.default_rng(1).normal(size=(20, 2))
    bent = plane.lift(points) @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias")
    np.testing.assert_allclose(points @ slopes.T + shifts, bent, atol=1e-5)


def test_a_model_without_a_feedforward_layer_says_so():
    subject = subject_of("plus_last_even")
    shape = replace(
        subject.model.architecture, layers=(replace(subject.model.architecture.layers[0], feedforward=None),)
    )
    assert isinstance(shape, Architecture) and isinstance(shape.layers[0], Layer)
    params = {key: array for key, array in subject.model.params.items() if not key.startswith("ff")}
    with pytest.raises(UserError, match="has no feed-forward layer"):
        hinges.compute(replace(subject, model=Model(shape, params)))
