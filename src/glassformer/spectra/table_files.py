"""Tables as files: CSV in which every float has all its digits, and Parquet with the same numbers.

>>> csv_text([Column("layer_idx", "whole", [0, None]), Column("eff_rank", "real", [0.1, float("inf")])])
'layer_idx,eff_rank\\n0,0.1\\n,inf\\n'
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glassformer.runs.atomic import write_bytes, write_text


@dataclass(frozen=True)
class Column:
    """A name, what its cells are, and the cells; none is an empty cell."""

    name: str
    kind: Literal["whole", "real", "text"]
    cells: Sequence[Any] | np.ndarray


Table = list[Column]
FORMATS: dict[str, Callable[[Any], str]] = {
    "whole": lambda cell: str(int(cell)),
    "real": lambda cell: repr(float(cell)),
    "text": str,
}


def write_csv(path: Path, table: Table) -> Path:
    write_text(path, csv_text(table))
    return path


def csv_text(table: Table) -> str:
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(column.name for column in table)
    lines.writerows(zip(*(cells_as_text(column) for column in table), strict=True))
    return file.getvalue()


def cells_as_text(column: Column) -> list[str]:
    form = FORMATS[column.kind]
    return ["" if cell is None else form(cell) for cell in column.cells]


def write_parquet(path: Path, table: Table) -> Path:
    import pyarrow
    import pyarrow.parquet

    kinds = {"whole": pyarrow.int64(), "real": pyarrow.float64(), "text": pyarrow.string()}
    arrays = [pyarrow.array(column.cells, kinds[column.kind]) for column in table]
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(arrays, [column.name for column in table]), sink)
    write_bytes(path, sink.getvalue().to_pybytes())
    return path
