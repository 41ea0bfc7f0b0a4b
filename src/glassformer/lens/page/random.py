"""Spectra of random weights of the same shapes, at norm 1: a page's dashed lines."""

from typing import Any

import numpy as np

from glassformer.lens.curve_points import choose_curve_components
from glassformer.lens.page.curves import DetailLevel, StoredSpectra
from glassformer.lens.page.folder import Table
from glassformer.pages.pack import pack_array

_WIDEST = 4_000_000  # entries of a random head; a larger one has no line


def make_random_spectra(
    heads: Table, weights: Table, width: int | None, spectra: StoredSpectra, level: DetailLevel
) -> dict[str, Any]:
    """The spectrum by size of a head and by shape of a weight, for those that the page has."""
    return {
        "heads": _make_random_heads(heads, width) if any(spectra.heads) else {},
        "weights": _make_random_weights(weights, level) if any(spectra.weights) and level.points != 0 else {},
    }


def _make_random_heads(table: Table, width: int | None) -> dict[str, Any]:
    from glassformer.lens.figures.random_spectra import average_random_heads

    sizes = {int(size) for size in table.get("size", ())}
    if not width:
        return {}
    found = {}
    for size in sorted(size for size in sizes if 0 < size * width <= _WIDEST):
        values, _ = average_random_heads(size, width)
        found[str(size)] = pack_array(values)
    return found


def _make_random_weights(table: Table, level: DetailLevel) -> dict[str, Any]:
    """Quantiles of the Marchenko-Pastur law, at the components that the page has."""
    from glassformer.lens.figures.random_spectra import compute_random_values

    found = {}
    for shape in sorted({str(shape) for shape in table.get("shape", ())}):
        rows, columns = (int(side) for side in shape.split("x"))
        values = compute_random_values((rows, columns))
        if level.points and len(values) > level.points:
            values = values[choose_curve_components(len(values), level.points)]
        found[shape] = pack_array(np.asarray(values, level.dtype))
    return found
