"""What the page of `glassformer spectra` holds: one model, or two side by side."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.theme import KINDS, THEMES, list_line_colours
from glassformer.lens.page.columns import TEXTS, find_page_column
from glassformer.lens.page.curves import (
    DetailLevel,
    StoredSpectra,
    choose_detail_level,
    describe_detail_level,
    pack_spectra,
    read_stored_spectra,
)
from glassformer.lens.page.depth import list_weight_courses
from glassformer.lens.page.folder import SpectraFolder, Table, read_csv_columns
from glassformer.lens.page.random import make_random_spectra
from glassformer.lens.store import SUMMARY
from glassformer.pages.common_part import NAMES, make_common_part
from glassformer.pages.pack import pack_array
from glassformer.pages.table_file import read_table

LARGEST = 7_600_000  # characters of data: the rest of 8 MB is the page's own code
_COUNTS = ("layers", "heads", "kv_heads", "head_dim", "width")
_TABLES = 0.6  # of them for tables, at most
_Payload = dict[str, Any]


@dataclass(frozen=True)
class _PageModel:
    """One model of a page."""

    name: str
    folder: SpectraFolder
    weights: Table
    heads: Table
    spectra: StoredSpectra
    left_out: str | None = None  # of the tables
    has_courses: bool = True  # over depth: the comparison has those of a change


def make_model_payload(path: Path) -> _Payload:
    folder = SpectraFolder(path)
    name = str(folder.manifest.get("model", path.stem))
    return _make_spectra_payload([_read_page_model(name, folder, LARGEST)], None, [])


def make_comparison_payload(path: Path) -> _Payload:
    """For a folder with first/ and second/, and change/ where the weights could be subtracted."""
    said, _ = read_table(path / SUMMARY)
    folders = [SpectraFolder(path / name) for name in ("first", "second")]
    names = [
        str(said.get(key, folder.manifest.get("model", key)))
        for key, folder in zip(("first", "second"), folders, strict=True)
    ]
    parts = [_read_page_model(name, folder, LARGEST / 3) for name, folder in zip(names, folders, strict=True)]
    tables = {name: read_csv_columns(path / f"{name}.csv") for name in ("comparison", "comparison_heads")}
    if (path / "change").is_dir():
        changed = _read_page_model(
            f"{names[1]} \N{MINUS SIGN} {names[0]}", SpectraFolder(path / "change"), LARGEST / 4
        )
        parts.append(replace(changed, has_courses=False))
    return _make_spectra_payload(parts, tables, [str(note) for note in said.get("notes", [])])


def _make_spectra_payload(
    parts: Sequence[_PageModel], comparison: dict[str, Table] | None, notes: list[str]
) -> _Payload:
    tables = sum(_estimate_table_size(table) for part in parts for table in (part.weights, part.heads))
    level = choose_detail_level([part.spectra for part in parts], LARGEST - tables)
    models = [_pack_page_model(part, level) for part in parts]
    return {
        "kind": "comparison" if comparison is not None else "spectra",
        **make_common_part(),
        "name": "-and-".join(part.name for part in parts[:2]),
        "lines": {name: list_line_colours(len(KINDS), THEMES[name]) for name in NAMES},
        "models": models[:2],
        "change": models[2] if len(models) == 3 else None,
        "comparison": {name: _pack_table(table) for name, table in (comparison or {}).items() if table},
        "notes": notes,
    }


def _read_page_model(name: str, folder: SpectraFolder, room: float) -> _PageModel:
    """With the derived column, without columns that do not fit."""
    heads, weights = _add_top_share(folder.heads), _add_top_share(folder.weights)
    left = _TABLES * room - _estimate_table_size(heads)
    fitting, dropped = fit_table(weights, left)
    said = (
        f"the page leaves out the columns {', '.join(dropped)} of the weights to stay small"
        if dropped
        else None
    )
    return _PageModel(name, folder, fitting, heads, read_stored_spectra(folder), said)


def _add_top_share(table: Table) -> Table:
    """The share of the energy that the largest singular value holds, beside what is stored."""
    if not table:
        return table
    largest, norm = (np.asarray(table[name], np.float64) for name in ("largest", "frobenius"))
    share = np.divide(largest, norm, out=np.full(len(norm), np.nan), where=norm > 0) ** 2
    return table | {"top_share": share}


def fit_table(table: Table, room: float) -> tuple[Table, list[str]]:
    """Columns are dropped, last first, until the table fits; those that others need stay."""
    from glassformer.lens.page.depth import SHOWN

    needed = {"layer_idx", "weight_type", "shape", "treatment", "expert", *SHOWN}
    dropped: list[str] = []
    for name in [name for name in reversed(table) if name not in needed]:
        if _estimate_table_size(table) <= room:
            break
        table = {key: column for key, column in table.items() if key != name}
        dropped.append(name)
    return table, dropped


def _estimate_table_size(table: Table) -> float:
    """Characters in a file, about."""
    return sum(
        4 / 3 * (8 if isinstance(column, np.ndarray) else 4) * len(column) for column in table.values()
    )


def _pack_page_model(part: _PageModel, level: DetailLevel) -> _Payload:
    said, manifest = part.folder.summary, part.folder.manifest
    notes = [*said.get("notes", []), part.left_out, describe_detail_level(level)]
    return {
        "name": part.name,
        "architecture": str(manifest.get("architecture", "")),
        **_count_model_sizes(part) | {name: said[name] for name in _COUNTS if said.get(name) is not None},
        "numbers": _count_matrix_parameters(part.weights),
        "notes": [str(note) for note in notes if note],
        "headTable": _pack_table(part.heads),
        "weightTable": _pack_table(part.weights),
        "courses": list_weight_courses(part.weights) if part.has_courses else [],
        "spectra": pack_spectra(part.spectra, level),
        "random": make_random_spectra(part.heads, part.weights, said.get("width"), part.spectra, level),
    }


def _count_model_sizes(part: _PageModel) -> dict[str, int | None]:
    """As far as the tables tell, where the folder has no summary."""
    layers = {int(layer) for table in (part.heads, part.weights) for layer in table.get("layer_idx", ())}

    def most(name: str, more: int) -> int:
        return int(max(map(float, part.heads.get(name, ())), default=-more)) + more

    counts = {"heads": most("head_idx", 1), "kv_heads": most("kv_head_idx", 1), "head_dim": most("size", 0)}
    return {"layers": len(layers - {-1}), **counts, "width": None}


def _count_matrix_parameters(table: Table) -> int | None:
    """Parameters in all matrices that were read; None where none were read."""
    if not table:
        return None
    shapes = [
        shape
        for shape, treatment in zip(table["shape"], table["treatment"], strict=True)
        if treatment == "raw"
    ]
    return sum(
        int(np.prod([int(side) for side in str(shape).split("x")], dtype=np.int64)) for shape in shapes
    )


def _pack_table(table: Table) -> list[_Payload]:
    """Columns with their names for people; columns without a single cell are left out."""
    return [_pack_column(name, column) for name, column in table.items() if _is_filled(column)]


def _is_filled(column: list[str] | np.ndarray) -> bool:
    """Whether a single cell says something."""
    return not np.isnan(column).all() if isinstance(column, np.ndarray) else any(column)


def _pack_column(name: str, column: list[str] | np.ndarray) -> _Payload:
    number = asdict(replace(find_page_column(name), name=name))
    if name in TEXTS:
        names = [*dict.fromkeys(column)]
        places = {text: place for place, text in enumerate(names)}
        codes = np.array([places[text] for text in column], np.int32)
        return number | {"texts": names, "codes": pack_array(codes)}
    numbers = np.asarray(column, np.float64)
    whole = numbers.astype(np.int32) if np.isfinite(numbers).all() and abs(numbers).max() < 2**31 else None
    is_whole = whole is not None and bool((whole == numbers).all())
    return number | {"numbers": pack_array(whole if is_whole and whole is not None else numbers)}
