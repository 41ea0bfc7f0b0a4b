"""Hidden units: every stored number is drawn once."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.norm import RMSNorm
from glassformer.models.projection import FullProjection
from glassformer.pictures.figures import folded_plane, head, hinges, units
from glassformer.pictures.measure.hidden_units import measure_hidden_units
from glassformer.pictures.parts.matrices import PARAMETER
from tests.pictures.conftest import subject_of

THEME = THEMES["light"]


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
        feedforward=FeedForward(hidden=2, bend=bend, gate=FullProjection()),  # as many units as dimensions
        feedforward_norm=norm,
    )
    shape = replace(subject.model.architecture, layers=(layer,), final_norm=norm)
    random = np.random.default_rng(3)
    params = {
        key: random.normal(size=one.shape).astype(np.float32) for key, one in list_parameters(shape).items()
    }
    subject = replace(subject, model=Model(shape, params))
    assert_all_drawn(subject, units, ("ff", "ff_norm"))
    assert_all_drawn(subject, head, ("head", "final_norm"))
    read = subject.trial_traces["ff.input"][:, -1].astype(float)
    gate = read @ params["ff.gate.weight"].T.astype(float)
    np.testing.assert_allclose(measure_hidden_units(subject).active, (gate > 0).mean(0), atol=2e-3)
    data = hinges.compute(subject)
    assert "linear" not in hinges.title(data)
    hinges.draw(data, THEME)
    folded_plane.draw(folded_plane.compute(subject), THEME)
