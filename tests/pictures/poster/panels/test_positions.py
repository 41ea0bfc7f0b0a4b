"""Positions that share a point, and rotations."""

import numpy as np

from glassformer.pictures.poster.panels import positions
from glassformer.pictures.poster.projection import VIEW, project_points
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
