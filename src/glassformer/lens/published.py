"""The statistics over depth of a table that somebody else made, in the published columns.

    layer_idx,weight_type,shape,eff_rank
    0,W_V,256x2048,251.5

More columns and any order of columns and rows are fine: `weights.csv` of an analysis is such a table too, and
of its treatments the raw ones are taken.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.lens.compute.random import compute_random_ranks
from glassformer.lens.depth import Entry, make_depth_courses
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.results import DepthCourse

_COLUMNS = ("layer_idx", "weight_type", "shape", "eff_rank")
_LONGEST_SIDE = 10**9  # of a matrix: a longer one is a mistake

_Row = Mapping[str, str | None]


def read_published_table(path: str | Path) -> dict[str, DepthCourse]:
    """Weight type, with its shape where a type has several, to its course over the layers."""
    source = Path(path)
    found: dict[tuple[str, ...], Entry] = {}
    for line, row in _read_raw_rows(source):
        place = f"line {line} of {source}"
        name = tuple(row.get(column) or "" for column in ("layer_idx", "weight_type", "shape", "expert"))
        entry = _parse_published_row(row, place)
        if name in found:
            raise UserError(f"{place} is the second row for {entry[0]} of layer {entry[2]}; expected one")
        if entry[2] >= 0:  # -1: embeddings, which belong to no layer
            found[name] = entry
    if not found:
        raise UserError(f"{source} holds no row about a layer; expected {', '.join(_COLUMNS)}")
    return make_depth_courses(found.values())


def _read_raw_rows(source: Path) -> Iterator[tuple[int, _Row]]:
    """Line number and row of the raw ones."""
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise UserError(
                    f"line 1 of {source} names no column {missing[0]}; expected {', '.join(_COLUMNS)}"
                )
            for row in reader:
                if (row.get("treatment") or "raw") == "raw":
                    yield reader.line_num, row
    except OSError as error:
        raise UserError(f"cannot read the table {source}: {error.strerror or error}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{source} is not a table with commas in UTF-8: {error}") from None


def _parse_published_row(row: _Row, place: str) -> Entry:
    layer, kind, shape, rank = ((row[column] or "").strip() for column in _COLUMNS)
    if not re.fullmatch(r"-?[0-9]{1,9}", layer, re.ASCII):
        raise UserError(f"layer_idx in {place} must be a whole number, but it is {quote_name(layer)}")
    if not kind:
        raise UserError(f"weight_type in {place} is empty; expected a name such as W_Q")
    if not kind.isprintable():
        raise UserError(f"weight_type in {place} must be a name such as W_Q, but it is {quote_name(kind)}")
    sides = _parse_published_shape(shape, place)
    return kind, sides, int(layer), _parse_published_rank(rank, place), compute_random_ranks(sides).eff_rank


def _parse_published_shape(text: str, place: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,10})x([0-9]{1,10})", text, re.ASCII)
    sides = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 0 < min(sides) <= max(sides) <= _LONGEST_SIDE:
        raise UserError(f"shape in {place} must be like 256x2048, but it is {quote_name(text)}")
    return sides


def _parse_published_rank(text: str, place: str) -> float:
    try:
        rank = float(text)
    except ValueError:
        rank = math.nan
    if not 0 < rank < math.inf:
        raise UserError(f"eff_rank in {place} must be a number above 0, but it is {quote_name(text)}")
    return rank
