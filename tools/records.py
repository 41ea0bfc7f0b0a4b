"""Make the tables of docs/records.md: every count of every adder, ours and others', and rounded models.

    python -m tools.records                        from the counter, the verdicts and docs/records
    python -m tools.records any-6.json ...         first outputs of `prove ID --bits --json` are added

A row of our zoo is counted here and now; what others published stands in docs/records/board.toml. Nothing
between the page's marks is written by hand.
"""

import argparse
import csv
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.commands.count_target import name_category
from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError
from glassformer.core.words import format_large_count, join_words
from glassformer.models.constants import count_constants
from glassformer.models.count import count_learned, count_stored_bits, find_routing
from glassformer.models.forward import list_parameters
from glassformer.models.mantissa import count_mantissa_bits
from glassformer.runs.load import load_model
from glassformer.tasks import Addition
from glassformer.tasks.operations import ADD
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS, ZooEntry
from tools.success_rates import DOCS, replace_between

BOARD = "https://github.com/anadim/AdderBoard/issues/"
HEAD = "| model | whose | category | parameters | chosen | both | bits | rounded | proved |"
NOT_STATED = "not stated"
COLUMNS = ("model", "is_settled", "name", "place", "value")  # of rounded.csv, a row per parameter
TEN_DIGITS = 10  # what a record is about: sums of so many decimal digits, or of any number

Verdicts = Mapping[str, Mapping[str, Any]]
Rounded = Mapping[str, Sequence[Mapping[str, str]]]  # rows of rounded.csv by model


class Record(NamedTuple):
    """A row; numbers that are not known are none."""

    model: str
    whose: str
    category: str
    parameters: int
    constants: int | None
    bits: int | None
    rounded: int | None
    proved: str
    is_proved: bool
    is_decimal_sum: bool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="outputs of `prove --bits --json`")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the page")
    asked = parser.parse_args()
    try:
        add_rounded_models(asked.files, asked.docs)
        make_page(asked.docs)
    except UserError as error:
        sys.exit(str(error))


def make_page(docs: Path) -> None:
    page = docs / "records.md"
    rounded = read_rounded_models(docs)
    text = page.read_text(encoding="utf-8")
    text = replace_between(text, "<!-- records -->", "<!-- end -->", format_records(docs, rounded), page)
    before, mark, rest = text.partition("<!-- bits -->")
    rest = replace_between(f"{mark}{rest}", "<!-- bits -->", "<!-- end -->", format_rounded(rounded), page)
    write_text(page, before + rest)


def format_records(docs: Path, rounded: Rounded) -> str:
    """The table, then who has least of what."""
    records = list_records(docs, rounded)
    lines = [HEAD, "|---" * HEAD.count(" | ") + "|---|", *map(_format_record, records)]
    return "\n".join([*lines, "", *describe_least(records)])


def list_records(docs: Path, rounded: Rounded) -> list[Record]:
    """Trained adders, then hand-built ones; most parameters first."""
    board = tomllib.loads((docs / "records" / "board.toml").read_text(encoding="utf-8"))
    verdicts: Verdicts = json.loads(VERDICTS.read_text(encoding="utf-8"))
    ours = [count_entry(entry, board["origin"], verdicts, rounded) for entry in ZOO.values()]
    records = [*ours, *map(_read_board_entry, board["entry"])]
    return sorted(records, key=lambda one: (one.category == "hand-built", -one.parameters))


def count_entry(entry: ZooEntry, origin: Mapping[str, str], verdicts: Verdicts, rounded: Rounded) -> Record:
    """A row of the zoo, from its architecture and parameters."""
    kept, verdict = list_parameters(entry.architecture), verdicts.get(entry.id)
    is_there = entry.build is not None or entry.weights is not None
    at = "hand-built parameters" if entry.build else "shipped weights" if is_there else "random parameters"
    learned = count_learned(kept)
    rows = rounded.get(entry.id)
    return Record(
        f"`{entry.id}`",
        _link_sources(origin.get(entry.id, "ours")) + _name_other_task(entry.task),
        name_category(at, learned, find_routing(entry.architecture)),
        learned,
        count_constants(entry.architecture),
        count_stored_bits(kept, load_model(entry.id).params) if is_there else None,
        count_row_bits(rows) if rows else None,
        _describe_verdict(verdict),
        verdict is not None and verdict["verdict"] == "proved",
        not _name_other_task(entry.task),
    )


def _name_other_task(task: Addition) -> str:
    """`; subtract in base 2`; nothing for sums of ten decimal digits, which the others are about."""
    is_usual = (task.operation, task.base, task.digits) == (ADD.name, TEN_DIGITS, TEN_DIGITS)
    return "" if is_usual else f"; {task.operation}{task.name_base()}"


def _read_board_entry(entry: Mapping[str, Any]) -> Record:
    source = f", [#{entry['source']}]" if "source" in entry else ""
    whose = _link_sources(f"AdderBoard{source}: {entry['state']}")
    proved = f"not stated; {entry['claim']}, as its author says"
    return Record(
        entry["name"], whose, entry["category"], entry["parameters"], None, None, None, proved, False, True
    )


def _link_sources(text: str) -> str:
    """`[#82]` leads to the board's issue."""
    words = text.split("[#")
    tails = (
        f"[#{word.partition(']')[0]}]({BOARD}{word.partition(']')[0]}){word.partition(']')[2]}"
        for word in words[1:]
    )
    return words[0] + "".join(tails)


def _describe_verdict(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not trained"
    if wrong := verdict.get("counterexample"):
        return f"refuted: {wrong['a']} + {wrong['b']}"
    inputs = "every length" if verdict["inputs"] == "all" else f"all {format_large_count(verdict['inputs'])}"
    return f"{inputs}, {verdict['arithmetic']}" if verdict["verdict"] == "proved" else verdict["verdict"]


def _format_record(one: Record) -> str:
    is_ours = one.constants is not None
    both = one.parameters + one.constants if one.constants is not None else None
    numbers = [_format_number(number, is_ours) for number in (one.constants, both, one.bits, one.rounded)]
    return (
        f"| {' | '.join([one.model, one.whose, one.category, str(one.parameters), *numbers, one.proved])} |"
    )


def _format_number(number: int | None, is_ours: bool) -> str:
    return f"{number:,}" if number is not None else "" if is_ours else NOT_STATED


def describe_least(records: Sequence[Record]) -> Iterator[str]:
    """Who has least, of trained adders of ten decimal digits that are proved."""
    fair = [one for one in records if one.is_proved and one.is_decimal_sum and one.category != "hand-built"]
    yield "Of the trained adders of this table that add decimal numbers and are proved:"
    yield ""
    yield _name_least("fewest learned parameters", {one.model: one.parameters for one in fair})
    both = {one.model: one.parameters + (one.constants or 0) for one in fair}
    yield _name_least("fewest learned and chosen numbers together", both)
    bits = {one.model: one.rounded for one in fair if one.rounded is not None}
    yield _name_least("fewest bits found", bits)


def _name_least(what: str, numbers: Mapping[str, int]) -> str:
    least = min(numbers.values())
    return f"- {what}: {join_words([name for name, number in numbers.items() if number == least])} ({least})"


def format_rounded(rounded: Rounded) -> str:
    """The parameters of every rounded model."""
    lines = ["| model | parameters | bits | rounded to |", "|---|---|---|---|"]
    for model, rows in rounded.items():
        cut = "" if rows[0]["is_settled"] == "true" else ", time ran out"
        values = ", ".join(f"{float(row['value']):.9g}" for row in rows)
        lines.append(f"| `{model}` | {len(rows)} | {count_row_bits(rows)}{cut} | {values} |")
    return "\n".join(lines)


def count_row_bits(rows: Sequence[Mapping[str, str]]) -> int:
    return sum(count_mantissa_bits(float(row["value"])) for row in rows)


def read_rounded_models(docs: Path) -> Rounded:
    """The rows of rounded.csv by model, in their order."""
    path, found = docs / "records" / "rounded.csv", dict[str, list[Mapping[str, str]]]()
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["model"], []).append(row)
    return found


def add_rounded_models(files: Sequence[Path], docs: Path) -> None:
    """Outputs of `prove --bits --json` as rows; one of a model that is there already replaces it."""
    found = dict(read_rounded_models(docs))
    for file in files:
        said = json.loads(file.read_text(encoding="utf-8"))
        if said["verdict"] != "proved":
            raise UserError(f"{file}: {said['target']} is {said['verdict']}")
        found[said["target"]] = [_make_rounded_row(said, one) for one in said["parameters"]]
    rows = [row for rows in found.values() for row in rows]
    lines = [",".join(COLUMNS), *(",".join(row[name] for name in COLUMNS) for row in rows)]
    if files:
        write_text(docs / "records" / "rounded.csv", "\n".join(lines) + "\n")


def _make_rounded_row(said: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, str]:
    place = " ".join(map(str, one["place"]))
    settled = str(said["is_settled"]).lower()
    values = (said["target"], settled, one["name"], place, repr(one["rounded"]))
    return dict(zip(COLUMNS, values, strict=True))


if __name__ == "__main__":
    main()
