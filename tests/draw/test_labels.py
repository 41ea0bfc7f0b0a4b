"""Labels keep clear of each other, and the inspector of figures sees what is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.draw.parts.frame import sheet, text_width, wrapped
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.matrices import matrix
from glassformer.draw.theme import THEMES
from tests.draw.faults import faults

LIGHT = THEMES["light"]


def square(side=5.0):
    axes = sheet(LIGHT, side + 2, "a title").axes(1, 0.6, side, side)
    axes.set(xlim=(-1, 1), ylim=(-1, 1))
    return axes


@settings(max_examples=25)
@given(st.integers(1, 22), st.floats(0.02, 0.9), st.integers(0, 10_000))
def test_crowded_labels_do_not_collide(count, spread, seed):
    axes = square()
    points = np.random.default_rng(seed).normal(scale=spread, size=(count, 2)).clip(-1, 1)
    place_labels(axes, points, [str(i) for i in range(count)], LIGHT)
    assert faults(axes.figure) == []


def test_the_inspector_sees_collisions():
    axes = square()
    for shift in (0.0, 0.02):
        axes.text(shift, shift, "long words")
    assert faults(axes.figure) == ["'long words' and 'long words' overlap"]


def test_the_inspector_sees_points_outside():
    axes = square()
    axes.scatter([0, 1.5], [0, 0])
    assert len(faults(axes.figure)) == 1
    assert "outside" in faults(axes.figure)[0]


def test_the_inspector_sees_small_and_lost_texts():
    axes = square()
    axes.figure.text(0.5, 0.05, "tiny", fontsize=5)
    axes.figure.text(0.99, 0.5, "cut off")
    found = faults(axes.figure)
    assert any("5.0 points" in fault for fault in found)
    assert any("leaves the figure" in fault for fault in found)


def test_the_inspector_sees_texts_in_another_panel():
    axes = square()
    axes.figure.add_axes((0.7, 0.1, 0.2, 0.2))
    axes.figure.text(0.72, 0.15, "stray")
    assert any("another panel" in fault for fault in faults(axes.figure))


@pytest.mark.parametrize("width", [2.0, 5.0, 12.0])
def test_wrapped_lines_fit(width):
    text = "after a plus sign comes the most recent even number that was seen before it"
    lines = wrapped(text, width, 8)
    assert " ".join(lines) == text
    assert all(text_width(line, 8) <= width for line in lines)


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (12, 12), (3, 2)])
def test_matrices_print_their_numbers(shape):
    axes = sheet(LIGHT, 10, "").axes(1, 1, 9, 8)
    values = np.random.default_rng(0).normal(size=shape)
    matrix(axes, values, LIGHT, [str(i) for i in range(shape[0])], [str(i) for i in range(shape[1])])
    assert len(axes.texts) == values.size
    assert faults(axes.figure) == []
    shown = [float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in axes.texts]
    np.testing.assert_allclose(shown, values.ravel(), atol=0.051)


def test_masked_numbers_are_blank():
    axes = sheet(LIGHT, 5, "").axes(1, 1, 4, 4)
    matrix(axes, np.array([[1.0, np.nan], [2.0, 3.0]]), LIGHT)
    assert [text.get_text() for text in axes.texts] == ["1.00", "2.00", "3.00"]
