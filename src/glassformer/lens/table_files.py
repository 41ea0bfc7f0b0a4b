"""Tables as files: CSV in which every float has all its digits, so that no second format is needed.

>>> layers = TableColumn("layer_idx", "whole", [0, None])
>>> format_csv([layers, TableColumn("eff_rank", "real", [0.1, float("inf")])])
'layer_idx,eff_rank\\n0,0.1\\n,inf\\n'
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glassformer.core.atomic import write_text


@dataclass(frozen=True)
class TableColumn:
    """A name, what its cells are, and the cells; none is an empty cell."""

    name: str
    kind: Literal["whole", "real", "text"]
    cells: Sequence[Any] | np.ndarray


Table = list[TableColumn]
_FORMATS: dict[str, Callable[[Any], str]] = {
    "whole": lambda cell: str(int(cell)),
    "real": lambda cell: repr(float(cell)),
    "text": str,
}


def write_csv(path: Path, table: Table) -> Path:
    write_text(path, format_csv(table))
    return path


def format_csv(table: Table) -> str:
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(column.name for column in table)
    lines.writerows(zip(*(_format_cells(column) for column in table), strict=True))
    return file.getvalue()


def _format_cells(column: TableColumn) -> list[str]:
    form = _FORMATS[column.kind]
    return ["" if cell is None else form(cell) for cell in column.cells]
