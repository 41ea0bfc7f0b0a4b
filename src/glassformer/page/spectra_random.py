"""What spectra would be with random weights of the same shapes, at norm 1: a page's dashed lines."""

from typing import Any

import numpy as np

from glassformer.page.pack import packed
from glassformer.page.spectra_curves import Level, Spectra, thin_places
from glassformer.page.spectra_folder import Table

WIDEST = 4_000_000  # numbers of a random head that is drawn: above it a page has no such line


def random_spectra(
    heads: Table, weights: Table, width: int | None, spectra: Spectra, level: Level
) -> dict[str, Any]:
    """Size of a head, and shape of a weight, to the spectrum; only of those that the page has."""
    return {
        "heads": random_heads(heads, width) if any(spectra.heads) else {},
        "weights": random_weights(weights, level) if any(spectra.weights) and level.points != 0 else {},
    }


def random_heads(table: Table, width: int | None) -> dict[str, Any]:
    from glassformer.draw.spectra.random_spectra import random_head

    sizes = {int(size) for size in table.get("size", ())}
    if not width:
        return {}
    found = {}
    for size in sorted(size for size in sizes if 0 < size * width <= WIDEST):
        values, _ = random_head(size, width)
        found[str(size)] = packed(values)
    return found


def random_weights(table: Table, level: Level) -> dict[str, Any]:
    """Quantiles of the law of Marchenko and Pastur, at the places at which the page has the spectra."""
    from glassformer.draw.spectra.random_spectra import random_values

    found = {}
    for shape in sorted({str(shape) for shape in table.get("shape", ())}):
        rows, columns = (int(side) for side in shape.split("x"))
        values = random_values((rows, columns))
        if level.points and len(values) > level.points:
            values = values[thin_places(len(values), level.points)]
        found[shape] = packed(np.asarray(values, level.dtype))
    return found
