"""An empty square to draw in."""

from glassformer.core.theme import THEMES
from glassformer.pictures.parts.frame import make_sheet

LIGHT = THEMES["light"]


def square(side=5.0):
    axes = make_sheet(LIGHT, side + 2, "a title").axes(1, 0.6, side, side)
    axes.set(xlim=(-1, 1), ylim=(-1, 1))
    return axes
