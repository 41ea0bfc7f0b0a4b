"""A sheet of maps fits a page."""

import pytest

from glassformer.pictures.parts.map_sheet import choose_map_grid


@pytest.mark.parametrize(("large", "small"), [(1, 1), (1, 2), (1, 8), (1, 22), (2, 11), (2, 22)])
def test_a_sheet_of_maps_fits_a_page(large, small):
    grid = choose_map_grid(large, small)
    cells = list(grid.cells())
    assert len(cells) >= small and grid.height <= 19.0 and grid.side > 1.5
    assert all(row >= 2 or column >= 2 * large for column, row in cells)
