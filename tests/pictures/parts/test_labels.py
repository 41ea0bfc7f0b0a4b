"""Labels keep clear of each other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from glassformer.core.theme import THEMES
from glassformer.pictures.parts.labels import (
    flag_outside_boxes,
    measure_axes_box,
    place_labels,
    push_boxes_inside,
)
from tests.pictures.faults import faults
from tests.pictures.sheets import square

LIGHT = THEMES["light"]


@settings(max_examples=25)
@given(st.integers(1, 22), st.floats(0.02, 0.9), st.integers(0, 10_000))
def test_crowded_labels_do_not_collide(count, spread, seed):
    axes = square()
    points = np.random.default_rng(seed).normal(scale=spread, size=(count, 2)).clip(-1, 1)
    place_labels(axes, points, [str(i) for i in range(count)], LIGHT)
    assert faults(axes.figure) == []


def test_a_label_with_no_room_is_pushed_inside():
    axes = Figure(figsize=(2, 2)).add_axes((0.25, 0.25, 0.5, 0.5))
    frame = measure_axes_box(axes)
    boxes = push_boxes_inside(np.array([[0.0, 0, 20, 8], [120, 120, 150, 128]]), frame)
    assert not flag_outside_boxes(boxes, frame).any()
    np.testing.assert_allclose(boxes[:, 2:] - boxes[:, :2], [[20, 8], [30, 8]])
