"""Hinges, units, the fold and the head against the raw weights."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.projection import ConstantProjection
from glassformer.pictures.measure.hidden_units import clip_line, fold_states, measure_hidden_units
from glassformer.pictures.measure.plane import fit_plane
from glassformer.runs.configurations import find_configuration
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.feedforward import last_z, raw


@pytest.mark.parametrize("name", NAMES)
def test_units_by_hand(name):
    subject = subject_of(name)
    bent = last_z(subject) @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias")
    hidden = np.maximum(bent, 0)
    found = measure_hidden_units(subject)
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
    shape = find_configuration("modular-11").architecture
    params = {name: np.ones(one.shape, "f4") for name, one in list_parameters(shape).items()}
    params |= {fixed.name: np.array(fixed.value, "f4") for fixed in shape.fixed}
    params |= {"ff.up.bias": np.array([-10, -11], "f4"), "ff.down.rise": np.array(2, "f4")}
    subject = replace(subject_of("modular11"), model=Model(shape, params))
    found = measure_hidden_units(subject)
    np.testing.assert_array_equal(found.reads, [[0, 1], [0, 1]])
    np.testing.assert_array_equal(found.bias, [-10, -11])
    np.testing.assert_array_equal(found.writes, [[0, -2], [0, 2]])
    layer = Layer(
        make_reference_architecture(vocab=12, context=3).layers[0].attention,
        FeedForward(up=ConstantProjection()),
    )
    shape = Architecture(vocab=12, context=3, width=2, layers=(layer,))
    params = {name: np.full(one.shape, 5, "f4") for name, one in list_parameters(shape).items()}
    found = measure_hidden_units(replace(subject, model=Model(shape, params)))
    assert not found.reads.any() and (found.bias == 5).all() and len(found) == 32


def test_lines_that_miss_the_panel_are_none():
    limits = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert clip_line(np.array([1.0, 1.0]), -3.0, limits) is None
    assert clip_line(np.array([0.0, 2.0]), 1.0, limits) is None
    assert clip_line(np.zeros(2), 1.0, limits) is None
    corner = clip_line(np.array([1.0, 1.0]), -0.5, limits)
    assert sorted(map(tuple, corner.round(9).tolist())) == [(0.0, 0.5), (0.5, 0.0)]


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7_no_resid", "even_to_odd_transition"])
def test_the_fold_by_hand(name):
    subject = subject_of(name)
    states = np.random.default_rng(0).normal(size=(50, subject.model.architecture.width))
    hidden = np.maximum(states @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias"), 0)
    written = hidden @ raw(subject, "ff.down.weight").T + raw(subject, "ff.down.bias")
    expected = written if name == "lucky7_no_resid" else states + written
    np.testing.assert_allclose(fold_states(subject, states), expected, rtol=1e-4, atol=1e-3)


def test_hinges_on_a_plane_of_more_dimensions():
    subject = subject_of("step_back")
    plane = replace(fit_plane(last_z(subject), "z"), through=last_z(subject).mean(0))
    slopes, shifts = measure_hidden_units(subject).on_plane(plane)
    points = np.random.default_rng(1).normal(size=(20, 2))
    bent = plane.lift(points) @ raw(subject, "ff.up.weight").T + raw(subject, "ff.up.bias")
    np.testing.assert_allclose(points @ slopes.T + shifts, bent, atol=1e-5)
