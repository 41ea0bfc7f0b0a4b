"""The sheet of the poster: three panels to a row, and as many rows as there are panels."""

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.pictures.poster.sheet import draw_whole_poster
from glassformer.pictures.registry import PANELS
from tests.pictures.faults import faults
from tests.pictures.poster.adders import MICRO, subject_of


@pytest.mark.parametrize(("count", "height"), [(9, 38.2), (10, 49.8)])
def test_the_sheet_grows_by_a_row(count, height):
    poster, *panels = PANELS
    data = poster.compute(subject_of(MICRO))
    figure = draw_whole_poster([*panels, panels[0]][:count], data, THEMES["light"])
    np.testing.assert_allclose(figure.get_size_inches() * 2.54, (54.0, height))
    assert faults(figure, page=54.0) == []
    assert str(count) in {text.get_text() for text in figure.axes[0].texts}  # its badge
