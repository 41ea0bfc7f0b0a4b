"""Make docs/success-rates.md and its figure from the tables of sweeps.

    python -m tools.success_rates                           from docs/sweeps/adders.csv as it is
    python -m tools.success_rates sweeps/rope/table.csv     its rows are put there first

A row of a configuration that is there already is replaced. Nothing in figure and table is written by hand:
the figure goes to docs/sweeps/success-rates.png, and what stands between the page's two marks is made anew.
"""

import argparse
import csv
import io
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path

from glassformer.core.atomic import make_folder, write_bytes, write_text
from glassformer.core.errors import UserError
from glassformer.core.share import MeasuredShare
from glassformer.core.words import format_percent, join_words
from glassformer.pictures.success_rates import (
    compute_success_rates,
    describe_signs,
    read_share,
    write_success_rates,
)
from tools.rate_differences import RateDifference, Successes, compare_pairs, format_chance
from tools.small_picture import smaller

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- table -->", "<!-- end -->"
COLUMNS = ("configuration", "parameters", "seeds", "reached", "proved")
HEAD = "| configuration | parameters | seeds | reached | 95% interval | proved | 95% interval |"
RULE = "|---" * 7 + "|"

Row = Mapping[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", type=Path, help="tables whose rows are added")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the page")
    asked = parser.parse_args()
    try:
        make(asked.tables, asked.docs)
    except UserError as error:
        sys.exit(str(error))


def make(tables: Sequence[Path], docs: Path) -> None:
    """Rows, then the figure, then the page: it never shows one that is not there."""
    kept = docs / "sweeps" / "adders.csv"
    rows = merge_rows([read_rows(table) for table in (*([kept] if kept.exists() else []), *tables)])
    if tables:
        make_folder(kept.parent)
        write_text(kept, format_rows(rows))
    for path in write_success_rates(rows, docs / "sweeps" / "success-rates"):
        write_bytes(path, smaller(path.read_bytes()))
    page = docs / "success-rates.md"
    text = page.read_text(encoding="utf-8")
    write_text(page, replace_between(text, BEGIN, END, markdown(rows), page))


def replace_between(text: str, begin: str, end: str, made: str, page: Path) -> str:
    """The text with what stands between two marks made anew."""
    before, mark, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not mark or not ended:
        raise UserError(f"{page} has no place for the table: {begin} ... {end}")
    return f"{before}{begin}\n{made}\n{end}{after}"


def read_rows(table: Path) -> list[Row]:
    try:
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise UserError(f"cannot read {table}: {error.strerror}") from None
    if missing := [name for name in COLUMNS if not rows or name not in rows[0]]:
        raise UserError(f"{table} is no table of a sweep: it has no {missing[0]}")
    return rows


def merge_rows(tables: Sequence[Sequence[Row]]) -> list[Row]:
    """One row per configuration, the last that was given, most parameters first."""
    latest = {row["configuration"]: row for rows in tables for row in rows if int(row["seeds"])}
    return sorted(latest.values(), key=lambda row: -int(row["parameters"]))


def format_rows(rows: Sequence[Row]) -> str:
    """The rows as a table of a sweep again, with every column that any of them has."""
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def markdown(rows: Sequence[Row]) -> str:
    """The figure with what its signs mean, one row per configuration, and what tests say of the rates."""
    figure = "![success rates](sweeps/success-rates.png)"
    lines, signs = [line_of(row) for row in rows], describe_signs(compute_success_rates(rows))
    return "\n".join([figure, "", f"*{signs}*", "", HEAD, RULE, *lines, "", *describe_tests(rows)])


def line_of(row: Row) -> str:
    cells = [f"`{row['configuration']}`", row["parameters"], f"{int(row['seeds']):,}"]
    for kind in ("reached", "proved"):
        cells += cells_of(row, kind)
    return f"| {' | '.join(cells)} |"


def cells_of(row: Row, kind: str) -> list[str]:
    """The count and its interval; nothing where it was not tried."""
    share = read_share(row, kind)
    return ["", ""] if share is None else [f"{int(row[kind]):,}", format_span(share)]


def format_span(share: MeasuredShare) -> str:
    """`0.97% to 2.6%`, or `up to 0.36%` where nothing succeeded."""
    high = format_percent(share.high)
    return f"{format_percent(share.low)} to {high}" if share.value else f"up to {high}"


def describe_tests(rows: Sequence[Row]) -> list[str]:
    """The best row against all others, and every row against the next smaller one; proved seeds.

    Which row is the best is seen only afterwards, so all pairs of rows are one family of tests.
    """
    counts = {row["configuration"]: _count_proved(row) for row in rows if row["proved"]}
    names = list(counts)
    if len(names) < 2:
        return []
    pairs = list(combinations(names, 2))
    tests = compare_pairs([(counts[after], counts[before]) for before, after in pairs])
    found = dict(zip(pairs, tests, strict=True))
    best = max(names, key=lambda name: counts[name].rate)
    steps = list(pairwise(names))
    moves = [_describe_step(step, found[step]) for step in steps if found[step].is_supported]
    return [
        f"Fisher's exact test of proved seeds for all {len(pairs)} pairs of rows, corrected by Holm:",
        "",
        _describe_best(best, {pair: test for pair, test in found.items() if best in pair}),
        f"- From one row to the next, in {len(moves)} of {len(steps)} steps a change of the rate is shown"
        + (f": {join_words(moves)}." if moves else "."),
    ]


def _describe_best(best: str, found: Mapping[tuple[str, str], RateDifference]) -> str:
    """What the row of the highest rate is above of."""
    beaten = [test.corrected for test in found.values() if test.is_supported]
    alike = [f"`{(set(pair) - {best}).pop()}`" for pair, test in found.items() if not test.is_supported]
    said = f"- `{best}` has the highest rate, above that of {len(beaten)} of the {len(found)} others"
    said += f" (p at most {format_chance(max(beaten))})" if beaten else ""
    return f"{said}; no difference is shown from {join_words(alike)}." if alike else f"{said}."


def _describe_step(step: tuple[str, str], found: RateDifference) -> str:
    """`down from glass-29 to glass-23 (p = 0.0002)`."""
    way = "up" if found.value > 0 else "down"
    return f"{way} from `{step[0]}` to `{step[1]}` (p = {format_chance(found.corrected)})"


def _count_proved(row: Row) -> Successes:
    return Successes(int(row["proved"]), int(row["seeds"]))


if __name__ == "__main__":
    main()
