"""metrics.csv: one row an evaluation and seed. Read and written without JAX."""

import csv
import io
from pathlib import Path

from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError
from glassformer.core.text_files import read_text
from glassformer.runs.seal import require_unchanged

SCORES = ("loss", "argmax_accuracy", "right_probability", "whole_accuracy", "smallest_margin")  # held-out
COLUMNS = ("step", "seed", "train_loss", *SCORES)
Row = dict[str, float]


def write_metrics(folder: Path, rows: list[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(folder / "metrics.csv", text.getvalue())


def find_metrics(folder: Path) -> list[Row]:
    """The metrics of a run; none where it was finished without them."""
    require_unchanged(folder / "metrics.csv")
    return read_metrics(folder) if (folder / "metrics.csv").exists() else []


def read_metrics(folder: Path) -> list[Row]:
    require_unchanged(folder / "metrics.csv")
    try:
        text = io.StringIO(read_text(folder / "metrics.csv"), newline="")
        rows = [{name: float(row[name]) for name in COLUMNS} for row in csv.DictReader(text)]
        return [row | {"step": int(row["step"]), "seed": int(row["seed"])} for row in rows]
    except (UserError, ValueError, OverflowError, TypeError, KeyError, csv.Error) as error:
        raise UserError(f"{folder / 'metrics.csv'} is damaged ({error}); --overwrite starts over") from None
