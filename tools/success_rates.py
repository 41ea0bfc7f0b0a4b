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

from glassformer.draw.shares import percent
from glassformer.draw.success_rates import FOOT, write_success_rates
from glassformer.errors import UserError
from glassformer.runs.atomic import write_bytes, write_text
from glassformer.verify.share import Share
from tools.small_picture import smaller

DOCS = Path(__file__).parent.parent / "docs"
TABLE = DOCS / "sweeps" / "adders.csv"
BEGIN, END = "<!-- table -->", "<!-- end -->"
COLUMNS = ("configuration", "parameters", "seeds", "reached", "proved")
HEAD = "| configuration | numbers | seeds | reached | 95% interval | proved | 95% interval |"

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
    before, mark, rest = page.read_text().partition(BEGIN)
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
    """The figure with what its signs mean, and a row a configuration, most numbers first."""
    done = sorted((row for row in rows if int(row["seeds"])), key=lambda row: -int(row["parameters"]))
    figure = "![success rates](sweeps/success-rates.png)"
    return "\n".join([figure, "", f"*{FOOT}*", "", HEAD, "|---" * 7 + "|", *map(line_of, done)])


def line_of(row: Row) -> str:
    seeds = int(row["seeds"])
    cells = [f"`{row['configuration']}`", row["parameters"], f"{seeds:,}"]
    for kind in ("reached", "proved"):
        share = Share.of(int(row[kind]), seeds)
        span = (
            f"{percent(share.low)} to {percent(share.high)}"
            if share.value
            else f"up to {percent(share.high)}"
        )
        cells += [f"{int(row[kind]):,}", span]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
