"""Names at the ends of lines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lens.figures.lines import spread_labels


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_names_at_the_ends_are_apart_and_inside(wanted):
    places = spread_labels(np.sort(wanted), 8.0, 100.0)
    assert (np.diff(places) > 8.0 - 1e-9).all()
    assert places.min() >= 0
    assert places.max() <= 100 + 1e-9
