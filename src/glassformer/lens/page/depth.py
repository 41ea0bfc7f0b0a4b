"""Every weight type over depth, for every measure that a page can show: phases, trend, jump and drop.

The course of the effective rank is that of `weights` in `--json`; the other measures are described alike.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from glassformer.core.atomic import replace_nonfinite
from glassformer.lens.depth import measure_depth_course
from glassformer.lens.page.folder import Table, zip_table_rows
from glassformer.lens.results import DepthCourse
from glassformer.lens.summary import summarise_course
from glassformer.lens.tables import TYPES, order_name
from glassformer.lens.words import describe_course

SHOWN = (
    *("eff_rank", "eff_rank_relative", "eff_rank_energy", "eff_rank_energy_relative"),
    *("stable_rank", "stable_rank_relative", "participation_ratio", "participation_ratio_relative"),
    *("top_share", "n90", "frobenius", "largest", "condition", "alpha"),
)

_Kind = tuple[str, str, str]  # type, shape, treatment
_Rows = dict[int, list[int]]  # layer to rows of the table: several where there are experts


def list_weight_courses(table: Table) -> list[dict[str, Any]]:
    """One per type, shape and treatment, in the order of the tables."""
    kinds = _group_table_rows(table)
    shapes: dict[str, set[str]] = {}
    for type, shape, _ in kinds:
        shapes.setdefault(type, set()).add(shape)
    order = sorted(kinds, key=lambda kind: (kind[2], *order_name(TYPES, kind[0]), kind[1]))
    return [_make_weight_course(table, kind, kinds[kind], len(shapes[kind[0]])) for kind in order]


def _group_table_rows(table: Table) -> dict[_Kind, _Rows]:
    """Rows of layers; embeddings belong to none."""
    found: dict[_Kind, _Rows] = {}
    names = ("layer_idx", "weight_type", "shape", "treatment")
    for row, (layer, *kind) in enumerate(zip_table_rows(table, names) if table else ()):
        if layer >= 0:
            found.setdefault((kind[0], kind[1], kind[2]), {}).setdefault(int(layer), []).append(row)
    return found


def _make_weight_course(table: Table, kind: _Kind, rows: _Rows, shapes: int) -> dict[str, Any]:
    type, shape, treatment = kind
    layers = sorted(rows)
    known = [name for name in SHOWN if not np.isnan(np.asarray(table[name], np.float64)).all()]
    numbers = {name: _average_table_column(table, name, [rows[layer] for layer in layers]) for name in known}
    return {
        "name": type if shapes == 1 else f"{type} {shape}",
        "type": type,
        "shape": shape,
        "treatment": treatment,
        "layers": layers,
        "rows": [rows[layer] for layer in layers],
        "series": replace_nonfinite({name: series.tolist() for name, series in numbers.items()}),
        "said": replace_nonfinite(
            {
                name: _describe_page_course(layers, series)
                for name, series in numbers.items()
                if _is_finite_series(series)
            }
        ),
    }


def _average_table_column(table: Table, name: str, groups: Iterable[list[int]]) -> np.ndarray:
    """The mean over the experts of each layer."""
    column = np.asarray(table[name], np.float64)
    return np.array([column[group].mean() for group in groups])


def _is_finite_series(series: np.ndarray) -> bool:
    return bool(np.isfinite(series).all())


def _describe_page_course(layers: list[int], series: np.ndarray) -> dict[str, Any]:
    """The course in words, as the command prints it, and in numbers."""
    found: DepthCourse = measure_depth_course(layers, series, 1.0)
    numbers = summarise_course(found)
    del numbers["relative_to_random"]  # not known for every measure
    return numbers | {"words": describe_course(found.trend)}
