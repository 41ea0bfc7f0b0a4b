"""Make docs/success-rates.md and its figure from the table of a sweep.

    python -m tools.success_rates                         docs/sweeps/adders.csv
    python -m tools.success_rates sweeps/adders/table.csv

Nothing in them is written by hand: the figure goes to docs/sweeps/success-rates.png, and the page's table is
made anew between its two marks; what is said around it stays.
"""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from glassformer.core.atomic import write_bytes, write_text
from glassformer.core.errors import UserError
from glassformer.core.words import format_percent
from glassformer.pictures.success_rates import FOOT, read_share, write_success_rates
from tools.small_picture import smaller

DOCS = Path(__file__).parent.parent / "docs"
TABLE = DOCS / "sweeps" / "adders.csv"
BEGIN, END = "<!-- table -->", "<!-- end -->"
COLUMNS = ("configuration", "parameters", "seeds", "reached", "proved")
HEAD = "| configuration | parameters | seeds | reached | 95% interval | proved | 95% interval |"
HOW = "how"  # a column that says how a row was made, where rows differ in that

Row = Mapping[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", nargs="?", type=Path, default=TABLE)
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the page")
    asked = parser.parse_args()
    try:
        make(asked.table, asked.docs)
    except UserError as error:
        sys.exit(str(error))


def make(table: Path, docs: Path) -> None:
    """Figure first: the page never shows one that is not there."""
    rows = read_rows(table)
    for path in write_success_rates(rows, docs / "sweeps" / "success-rates"):
        write_bytes(path, smaller(path.read_bytes()))
    page = docs / "success-rates.md"
    before, mark, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not mark or not ended:
        raise UserError(f"{page} has no place for the table: {BEGIN} ... {END}")
    write_text(page, f"{before}{BEGIN}\n{markdown(rows)}\n{END}{after}")


def read_rows(table: Path) -> list[Row]:
    try:
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise UserError(f"cannot read {table}: {error.strerror}") from None
    if missing := [name for name in COLUMNS if not rows or name not in rows[0]]:
        raise UserError(f"{table} is no table of a sweep: it has no {missing[0]}")
    return rows


def markdown(rows: Sequence[Row]) -> str:
    """The figure with what its signs mean, and one row per configuration, most parameters first."""
    done = sorted((row for row in rows if int(row["seeds"])), key=lambda row: -int(row["parameters"]))
    figure, how = "![success rates](sweeps/success-rates.png)", any(row.get(HOW) for row in rows)
    head, rule = (f"{HEAD} how |", "|---" * 8 + "|") if how else (HEAD, "|---" * 7 + "|")
    lines = [f"{line_of(row)} {row[HOW]} |" if how else line_of(row) for row in done]
    return "\n".join([figure, "", f"*{FOOT}*", "", head, rule, *lines])


def line_of(row: Row) -> str:
    cells = [f"`{row['configuration']}`", row["parameters"], f"{int(row['seeds']):,}"]
    for kind in ("reached", "proved"):
        cells += cells_of(row, kind)
    return f"| {' | '.join(cells)} |"


def cells_of(row: Row, kind: str) -> list[str]:
    """The count and its interval; nothing where it was not tried."""
    share = read_share(row, kind)
    if share is None:
        return ["", ""]
    span = (
        f"{format_percent(share.low)} to {format_percent(share.high)}"
        if share.value
        else f"up to {format_percent(share.high)}"
    )
    return [f"{int(row[kind]):,}", span]


if __name__ == "__main__":
    main()
