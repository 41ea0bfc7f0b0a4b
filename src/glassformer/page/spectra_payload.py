"""What the page of `glassformer spectra` holds: one model, or two beside each other."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.draw.theme import KINDS, THEMES, kind_colours
from glassformer.page.common_part import NAMES, common_part
from glassformer.page.pack import packed
from glassformer.page.spectra_columns import TEXTS, number_of
from glassformer.page.spectra_curves import (
    Level,
    Spectra,
    level_note,
    level_that_fits,
    packed_spectra,
    stored_spectra,
)
from glassformer.page.spectra_depth import weight_courses
from glassformer.page.spectra_folder import Folder, Table, read_csv
from glassformer.page.spectra_random import random_spectra
from glassformer.page.table_file import read_table
from glassformer.spectra.store import SUMMARY

LARGEST = 7_600_000  # characters of data: the rest of 8 MB is the page's own code
COUNTS = ("layers", "heads", "kv_heads", "head_dim", "width")
TABLES = 0.6  # of them for tables, at most
Payload = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One model of a page."""

    name: str
    folder: Folder
    weights: Table
    heads: Table
    spectra: Spectra
    left_out: str | None = None  # of the tables
    has_courses: bool = True  # over depth: those of a change are told by the comparison


def one_model(path: Path) -> Payload:
    folder = Folder(path)
    name = str(folder.manifest.get("model", path.stem))
    return payload([part_of(name, folder, LARGEST)], None, [])


def two_models(path: Path) -> Payload:
    """Of a folder with first/ and second/, and change/ where the weights could be subtracted."""
    said, _ = read_table(path / SUMMARY)
    folders = [Folder(path / name) for name in ("first", "second")]
    names = [
        str(said.get(key, folder.manifest.get("model", key)))
        for key, folder in zip(("first", "second"), folders, strict=True)
    ]
    parts = [part_of(name, folder, LARGEST / 3) for name, folder in zip(names, folders, strict=True)]
    tables = {name: read_csv(path / f"{name}.csv") for name in ("comparison", "comparison_heads")}
    if (path / "change").is_dir():
        changed = part_of(f"{names[1]} \N{MINUS SIGN} {names[0]}", Folder(path / "change"), LARGEST / 4)
        parts.append(replace(changed, has_courses=False))
    return payload(parts, tables, [str(note) for note in said.get("notes", [])])


def payload(parts: Sequence[Part], comparison: dict[str, Table] | None, notes: list[str]) -> Payload:
    tables = sum(table_size(table) for part in parts for table in (part.weights, part.heads))
    level = level_that_fits([part.spectra for part in parts], LARGEST - tables)
    models = [model_part(part, level) for part in parts]
    return {
        "kind": "comparison" if comparison is not None else "spectra",
        **common_part(),
        "name": "-and-".join(part.name for part in parts[:2]),
        "lines": {name: kind_colours(len(KINDS), THEMES[name]) for name in NAMES},
        "models": models[:2],
        "change": models[2] if len(models) == 3 else None,
        "comparison": {name: packed_table(table) for name, table in (comparison or {}).items() if table},
        "notes": notes,
    }


def part_of(name: str, folder: Folder, room: float) -> Part:
    """With the derived column, and without columns for which there is no room."""
    heads, weights = with_top_share(folder.heads), with_top_share(folder.weights)
    left = TABLES * room - table_size(heads)
    fitting, dropped = fitting_table(weights, left)
    said = f"the page has no room for the columns {', '.join(dropped)} of the weights" if dropped else None
    return Part(name, folder, fitting, heads, stored_spectra(folder), said)


def with_top_share(table: Table) -> Table:
    """The share of the energy that the largest singular value holds, beside what is stored."""
    if not table:
        return table
    largest, norm = (np.asarray(table[name], np.float64) for name in ("largest", "frobenius"))
    share = np.divide(largest, norm, out=np.full(len(norm), np.nan), where=norm > 0) ** 2
    return table | {"top_share": share}


def fitting_table(table: Table, room: float) -> tuple[Table, list[str]]:
    """Columns from the last on are dropped until the table has room; those that others need stay."""
    from glassformer.page.spectra_depth import SHOWN

    needed = {"layer_idx", "weight_type", "shape", "treatment", "expert", *SHOWN}
    dropped: list[str] = []
    for name in [name for name in reversed(table) if name not in needed]:
        if table_size(table) <= room:
            break
        table = {key: column for key, column in table.items() if key != name}
        dropped.append(name)
    return table, dropped


def table_size(table: Table) -> float:
    """Characters in a file, about."""
    return sum(
        4 / 3 * (8 if isinstance(column, np.ndarray) else 4) * len(column) for column in table.values()
    )


def model_part(part: Part, level: Level) -> Payload:
    said, manifest = part.folder.summary, part.folder.manifest
    notes = [*said.get("notes", []), part.left_out, level_note(level)]
    return {
        "name": part.name,
        "architecture": str(manifest.get("architecture", "")),
        **counts_of(part) | {name: said[name] for name in COUNTS if said.get(name) is not None},
        "numbers": count_numbers(part.weights),
        "notes": [str(note) for note in notes if note],
        "headTable": packed_table(part.heads),
        "weightTable": packed_table(part.weights),
        "courses": weight_courses(part.weights) if part.has_courses else [],
        "spectra": packed_spectra(part.spectra, level),
        "random": random_spectra(part.heads, part.weights, said.get("width"), part.spectra, level),
    }


def counts_of(part: Part) -> dict[str, int | None]:
    """As far as the tables tell, where the folder has no summary."""
    layers = {int(layer) for table in (part.heads, part.weights) for layer in table.get("layer_idx", ())}

    def most(name: str, more: int) -> int:
        return int(max(map(float, part.heads.get(name, ())), default=-more)) + more

    counts = {"heads": most("head_idx", 1), "kv_heads": most("kv_head_idx", 1), "head_dim": most("size", 0)}
    return {"layers": len(layers - {-1}), **counts, "width": None}


def count_numbers(table: Table) -> int | None:
    """Numbers in all matrices that were read; none where they were not looked at."""
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


def packed_table(table: Table) -> list[Payload]:
    """Columns with their names for people; columns without a single cell are left out."""
    return [packed_column(name, column) for name, column in table.items() if is_filled(column)]


def is_filled(column: list[str] | np.ndarray) -> bool:
    """Whether a single cell says something."""
    return not np.isnan(column).all() if isinstance(column, np.ndarray) else any(column)


def packed_column(name: str, column: list[str] | np.ndarray) -> Payload:
    number = asdict(replace(number_of(name), name=name))
    if name in TEXTS:
        names = [*dict.fromkeys(column)]
        places = {text: place for place, text in enumerate(names)}
        codes = np.array([places[text] for text in column], np.int32)
        return number | {"texts": names, "codes": packed(codes)}
    numbers = np.asarray(column, np.float64)
    whole = numbers.astype(np.int32) if np.isfinite(numbers).all() and abs(numbers).max() < 2**31 else None
    is_whole = whole is not None and bool((whole == numbers).all())
    return number | {"numbers": packed(whole if is_whole and whole is not None else numbers)}
