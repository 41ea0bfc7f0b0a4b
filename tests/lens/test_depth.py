import numpy as np
import pytest

from glassformer.lens.compute.statistics import compute_spectrum_statistics
from glassformer.lens.depth import make_depth_courses, measure_depth_course, measure_depth_courses
from glassformer.lens.layout import View, Weight
from glassformer.lens.results import LayerChange, LayerValue, MatrixResult, Ranks


def result(layer, kind="W_Q", shape=(4, 8), values=(1.0, 1.0, 1.0, 1.0), treatment="raw", expert=None):
    spectrum = np.array(values)
    weight = Weight(layer, kind, View("w"), "in", expert)
    random = Ranks(8.0, 8.0, 8.0, 8.0)
    return MatrixResult(
        weight, treatment, shape, "F32", spectrum, compute_spectrum_statistics(spectrum), random, "", None
    )


def test_all_numbers_of_a_course_by_hand():
    course = measure_depth_course([2, 3, 4, 5, 6, 7], [4.0, 2.0, 3.0, 3.0, 6.0, 6.0], [8.0] * 6)
    assert course.mean == 4.0 and course.std == pytest.approx(np.sqrt(14 / 6))
    assert course.smallest == LayerValue(3, 2.0) and course.largest == LayerValue(6, 6.0)
    assert course.jump == LayerChange(6, 3.0) and course.drop == LayerChange(3, -2.0)
    assert course.thirds == (3.0, 3.0, 6.0) and course.relative_to_random == 0.5
    assert course.layers == (2, 3, 4, 5, 6, 7)


def test_segments_belong_to_the_change_points():
    course = measure_depth_course(range(10, 20), [1.0, 1.1, 0.9, 1.0, 1.05, 5.0, 5.1, 4.9, 5.0, 5.05], 1.0)
    assert course.change_points == (15,)
    assert course.segments == pytest.approx((1.01, 5.01))


def test_one_layer_has_no_steps():
    course = measure_depth_course([3], [2.0], 4.0)
    assert course.jump is None and course.drop is None and course.thirds == (2.0,)
    assert course.trend.tested == "too few layers" and course.relative_to_random == 0.5


def test_a_series_that_only_rises_has_no_drop():
    course = measure_depth_course([0, 1, 2], [1.0, 2.0, 4.0], 1.0)
    assert course.drop is None and course.jump == LayerChange(2, 2.0)


def test_layers_are_sorted_and_experts_averaged():
    found = measure_depth_courses(
        [
            result(1, "W_up", values=[1.0], expert=0),
            result(1, "W_up", values=[1.0, 1.0, 1.0], expert=1),
            result(0, "W_up", values=[1.0, 1.0]),
        ]
    )
    assert found["W_up"].layers == (0, 1) and found["W_up"].series.tolist() == pytest.approx([2.0, 2.0])
    assert found["W_up"].relative_to_random == pytest.approx(0.25)


def test_shapes_are_kept_apart():
    found = measure_depth_courses([result(0), result(1, shape=(2, 8)), result(0, "W_K")])
    assert list(found) == ["W_Q 4x8", "W_Q 2x8", "W_K"]


def test_only_raw_matrices_of_layers_count():
    assert list(
        measure_depth_courses([result(None, "W_E"), result(0, "W_O", treatment="folded"), result(0)])
    ) == ["W_Q"]


def test_no_matrices_no_courses():
    assert measure_depth_courses([]) == {} and make_depth_courses([]) == {}
