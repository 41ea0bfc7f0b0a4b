"""Matrices with their numbers in their cells."""

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.pictures.figures import (
    qkv_maps,
)
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.parts.matrices import draw_heatmap, format_short_number
from tests.pictures.faults import faults

LIGHT = THEMES["light"]


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (12, 12), (3, 2)])
def test_matrices_print_their_numbers(shape):
    axes = make_sheet(LIGHT, 10, "").axes(1, 1, 9, 8)
    values = np.random.default_rng(0).normal(size=shape)
    draw_heatmap(axes, values, LIGHT, [str(i) for i in range(shape[0])], [str(i) for i in range(shape[1])])
    assert len(axes.texts) == values.size
    assert faults(axes.figure) == []
    shown = [float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in axes.texts]
    np.testing.assert_allclose(shown, values.ravel(), atol=0.051)


def test_masked_numbers_are_blank():
    axes = make_sheet(LIGHT, 5, "").axes(1, 1, 4, 4)
    draw_heatmap(axes, np.array([[1.0, np.nan], [2.0, 3.0]]), LIGHT)
    assert [text.get_text() for text in axes.texts] == ["1.00", "2.00", "3.00"]


def test_numbers_and_factors_are_short():
    assert format_short_number(123_456.0) == "123k"
    assert qkv_maps.format_factor(0.0) == "0\N{MULTIPLICATION SIGN}"
