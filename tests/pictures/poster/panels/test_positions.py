"""Positions that share a point, and rotations."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.poster.panels import positions
from glassformer.pictures.poster.projection import VIEW, project_points
from glassformer.pictures.poster.relations import Biases, Rotations, draw_relation
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation, with_relation
from tests.pictures.poster.adders import MICRO, sums_of


def test_positions_share_points_and_the_view_is_orthonormal():
    data = positions.compute(sums_of(MICRO))
    assert len(data["groups"]) == 12
    assert data["shared"] == "xₖ, yₖ and zₖ"
    assert np.allclose(VIEW @ VIEW.T, np.eye(2))
    upward = project_points(np.array([[0.0, 0.0, 1.0]]))[0]
    assert upward[0] == 0 and upward[1] > 0.5
    rope = positions.compute(sums_of("hand-6"))
    assert rope["distances"] == {"xₖ": 22, "yₖ": 10, "xₖ₋₁": 23, "yₖ₋₁": 11}
    assert "30.0°" in positions.title(rope)


def test_places_that_differ_by_rounding_are_one():
    table = np.array([[100.0, 0.0], [100.0 + 1e-5, -1e-6], [99.0, 0.0]])
    assert [name for name, _ in positions.group_same_rows(table, ("x0", "y0", "x1"))] == ["xy₀", "x₁"]


@pytest.mark.parametrize("relation", [WindowRelation(20), BowlRelation()], ids=repr)
def test_a_bias_of_ones_own_is_drawn_as_it_is(relation):
    sums = sums_of("hand-6")
    data = positions.compute(replace(sums, model=with_relation(sums.model, relation)))
    (found,) = data["relations"]
    assert isinstance(found, Biases) and found.kind == relation.kind
    far = found.distances
    wanted = -3.0 * (far > 20) if relation.kind == "window" else -0.5 * (far - 1.5) ** 2
    np.testing.assert_array_equal(found.added[0], wanted)
    assert (
        positions.title(data) == f"No position table: {relation.kind} adds a bias by distance to every score"
    )
    frame = make_sheet(THEMES["light"], 8.0)
    draw_relation(frame, found, {}, 34, 7.0)
    (axes,) = frame.figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), wanted)
    assert (axes.get_xlabel(), axes.texts[0].get_text()) == ("positions back", "head 0")


def test_a_rotation_of_ones_own_has_its_own_angle():
    sums = sums_of("hand-6")
    data = positions.compute(replace(sums, model=with_relation(sums.model, SpinRelation())))
    (found,) = data["relations"]
    assert isinstance(found, Rotations) and found.kind == "spin"
    assert "rotated by 17.2° per position" in positions.title(data)
    assert "Inside attention: spin. " in positions.caption(data)
