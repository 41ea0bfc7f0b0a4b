"""Groups of one type and one shape."""

from dataclasses import replace

import numpy as np

from glassformer.lens.figures.groups import compute_cumulative_energy, group_by_type
from tests.lens.figures.synthetic import made


def test_shapes_of_a_type_are_never_mixed():
    analysis = made("tiny")
    odd = replace(analysis.matrices[0], shape=(4, 6))
    groups = group_by_type(replace(analysis, matrices=(odd, *analysis.matrices[1:])))
    assert [name for name in groups if name.startswith("W_Q")] == ["W_Q 4x4", "W_Q 4x6"]
    assert all(len({one.shape for one in group}) == 1 for group in groups.values())


def test_the_energy_of_nothing_is_no_division():
    assert compute_cumulative_energy(np.zeros(3)).tolist() == [0, 0, 0]
