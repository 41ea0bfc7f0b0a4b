"""Labels keep clear of each other, and the inspector of figures sees what is wrong."""

from glassformer.core.theme import THEMES
from tests.pictures.faults import faults
from tests.pictures.sheets import square

LIGHT = THEMES["light"]


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
