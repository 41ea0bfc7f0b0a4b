"""Lines of equal score."""

import numpy as np

from glassformer.pictures.figures import (
    query_gradients,
)
from glassformer.pictures.parts.slopes import list_score_levels, make_iso_lines
from tests.pictures.conftest import subject_of


def test_iso_lines_join_equal_scores():
    data = query_gradients.compute(subject_of("step_back"))
    slope, limits = data["slopes"][0][3], data["planes"][0].limits(data["keys"][0])
    values = list_score_levels(slope, limits, 5.0)
    lines = make_iso_lines(slope, limits, values)
    assert len(values) > 3
    np.testing.assert_allclose(slope(lines), np.repeat(values[:, None], 2, 1), atol=1e-6)
    assert (np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) > np.ptp(limits, axis=1).max()).all()
