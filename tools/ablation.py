"""Make the tables of docs/ablation.md: each variant against the first row of its sweep, with tests.

    cp sweeps/ablation/table.csv docs/sweeps/ablation.csv
    python -m tools.ablation

A table lies as docs/sweeps/NAME.csv, as the sweep wrote it; what each variant is, its sweep file says. The
page has a pair of marks for each table. Nothing between them is written by hand, and a sentence says that
rates differ only where the p-value, corrected for all rows of the table, is below 0.05.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError
from glassformer.core.share import MeasuredShare
from glassformer.core.words import format_percent
from tools.rate_differences import (
    RateDifference,
    Successes,
    compare_with_base,
    format_chance,
    format_points,
)
from tools.success_rates import DOCS, format_span, read_rows, replace_between

SWEEPS = {"ablation": "ablation"}  # table to the sweep's file
HEAD = "| variant | parameters | seeds | reached | proved | rate | 95% interval | difference | p | Holm |"
RULE = "|---" * 10 + "|"
END = "<!-- end -->"


@dataclass(frozen=True)
class _Variant:
    """A row of the table, and what it undoes or adds."""

    name: str
    about: str
    parameters: int
    reached: int
    successes: Successes  # proved seeds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the page")
    try:
        make_page(parser.parse_args().docs)
    except UserError as error:
        sys.exit(str(error))


def make_page(docs: Path) -> None:
    """Every table that is there, between its marks."""
    page = docs / "ablation.md"
    text = page.read_text(encoding="utf-8")
    for name, file in SWEEPS.items():
        table = docs / "sweeps" / f"{name}.csv"
        made = describe_table(table, docs / "sweeps" / f"{file}.toml") if table.exists() else "(Not run yet.)"
        text = replace_between(text, f"<!-- {name} -->", END, made, page)
    write_text(page, text)


def describe_table(table: Path, sweep: Path) -> str:
    """The table of a sweep with its tests, then what they support."""
    abouts = read_abouts(sweep)
    base, *others = (_read_variant(row, abouts) for row in read_rows(table) if int(row["seeds"]))
    differences = compare_with_base(base.successes, [one.successes for one in others])
    pairs = list(zip(others, differences, strict=True))
    lines = [_format_line(base, None), *(_format_line(*pair) for pair in pairs)]
    return "\n".join([HEAD, RULE, *lines, "", *describe_differences(base, pairs)])


def read_abouts(sweep: Path) -> dict[str, str]:
    """What each configuration of a sweep's file is, by its name."""
    tables = tomllib.loads(sweep.read_text(encoding="utf-8"))["configuration"]
    return {table.get("name", table["base"]): table["about"] for table in tables}


def _read_variant(row: Mapping[str, str], abouts: Mapping[str, str]) -> _Variant:
    name = row["configuration"]
    if name not in abouts:
        raise UserError(f"the sweep's file has no configuration '{name}'")
    successes = Successes(int(row["proved"]), int(row["seeds"]))
    return _Variant(name, abouts[name], int(row["parameters"]), int(row["reached"]), successes)


def _format_line(variant: _Variant, difference: RateDifference | None) -> str:
    hits, seeds = variant.successes.hits, variant.successes.seeds
    cells = [f"`{variant.name}`: {variant.about}", str(variant.parameters), f"{seeds:,}"]
    cells += [f"{variant.reached:,}", f"{hits:,}", format_percent(variant.successes.rate)]
    cells.append(format_span(MeasuredShare.of(hits, seeds)))
    tests = (
        [format_points(difference.value), format_chance(difference.p), format_chance(difference.corrected)]
        if difference
        else ["", "", ""]
    )
    return f"| {' | '.join(cells + tests)} |"


def describe_differences(base: _Variant, pairs: Sequence[tuple[_Variant, RateDifference]]) -> list[str]:
    """One sentence per kind of finding: lower, higher, and no difference shown."""
    ordered = sorted(pairs, key=lambda pair: pair[1].value)
    lower = [one for one, found in ordered if found.is_supported and found.value < 0]
    higher = [one for one, found in reversed(ordered) if found.is_supported and found.value > 0]
    alike = [one for one, found in ordered if not found.is_supported]
    rate = f"{format_percent(base.successes.rate)} of `{base.name}`"
    said = [
        _list_variants(f"Rates below the {rate}", lower),
        _list_variants(f"Rates above the {rate}", higher),
        _list_variants(f"No difference from the {rate} is shown", alike),
    ]
    return [sentence for sentence in said if sentence]


def _list_variants(opening: str, variants: Sequence[_Variant]) -> str:
    """`- **Rates below the 17% of x**: no-ramp (0.1%), ...`; nothing where there is none."""
    if not variants:
        return ""
    words = (f"`{one.name}` ({format_percent(one.successes.rate)})" for one in variants)
    return f"- **{opening}**: {', '.join(words)}."


if __name__ == "__main__":
    main()
