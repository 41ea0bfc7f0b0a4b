"""Every weight type over depth, for every number that a page can show: phases, trend, jump and drop.

The course of the effective rank is what `weights` of `--json` says; the others are told the same way.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from glassformer.page.spectra_folder import Table, rows_of
from glassformer.runs.atomic import plain
from glassformer.spectra.depth import depth_of
from glassformer.spectra.results import Depth
from glassformer.spectra.summary import course_summary
from glassformer.spectra.tables import TYPES, position
from glassformer.spectra.words import course_text

SHOWN = (
    *("eff_rank", "eff_rank_relative", "eff_rank_energy", "eff_rank_energy_relative"),
    *("stable_rank", "stable_rank_relative", "participation_ratio", "participation_ratio_relative"),
    *("top_share", "n90", "frobenius", "largest", "condition", "alpha"),
)

Kind = tuple[str, str, str]  # type, shape, treatment
Rows = dict[int, list[int]]  # layer to rows of the table: several where there are experts


def weight_courses(table: Table) -> list[dict[str, Any]]:
    """One a type, shape and treatment, in the order of the tables."""
    kinds = rows_by_kind(table)
    shapes: dict[str, set[str]] = {}
    for type, shape, _ in kinds:
        shapes.setdefault(type, set()).add(shape)
    order = sorted(kinds, key=lambda kind: (kind[2], *position(TYPES, kind[0]), kind[1]))
    return [course(table, kind, kinds[kind], len(shapes[kind[0]])) for kind in order]


def rows_by_kind(table: Table) -> dict[Kind, Rows]:
    """Rows of layers; embeddings belong to none."""
    found: dict[Kind, Rows] = {}
    names = ("layer_idx", "weight_type", "shape", "treatment")
    for row, (layer, *kind) in enumerate(rows_of(table, names) if table else ()):
        if layer >= 0:
            found.setdefault((kind[0], kind[1], kind[2]), {}).setdefault(int(layer), []).append(row)
    return found


def course(table: Table, kind: Kind, rows: Rows, shapes: int) -> dict[str, Any]:
    type, shape, treatment = kind
    layers = sorted(rows)
    known = [name for name in SHOWN if not np.isnan(np.asarray(table[name], np.float64)).all()]
    numbers = {name: over_layers(table, name, [rows[layer] for layer in layers]) for name in known}
    return {
        "name": type if shapes == 1 else f"{type} {shape}",
        "type": type,
        "shape": shape,
        "treatment": treatment,
        "layers": layers,
        "rows": [rows[layer] for layer in layers],
        "series": plain({name: series.tolist() for name, series in numbers.items()}),
        "said": plain({name: said(layers, series) for name, series in numbers.items() if is_whole(series)}),
    }


def over_layers(table: Table, name: str, groups: Iterable[list[int]]) -> np.ndarray:
    """The mean over the experts of each layer."""
    column = np.asarray(table[name], np.float64)
    return np.array([column[group].mean() for group in groups])


def is_whole(series: np.ndarray) -> bool:
    return bool(np.isfinite(series).all())


def said(layers: list[int], series: np.ndarray) -> dict[str, Any]:
    """What the words of the command say, and in numbers."""
    found: Depth = depth_of(layers, series, 1.0)
    numbers = course_summary(found)
    del numbers["relative_to_random"]  # not of every number
    return numbers | {"words": course_text(found.trend)}
