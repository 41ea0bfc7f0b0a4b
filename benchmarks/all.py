"""Every benchmark, one after the other; what `make bench` runs.

    python -m benchmarks.all                                     all tables, a quarter of an hour on 2 cores
    python -m benchmarks.all --only population prove             some of them
    python -m benchmarks.all --write docs/performance.md         and put the tables into the page
    python -m benchmarks.all --only none --gpu h200.json --write docs/performance.md     rows of a GPU machine

One that fails does not keep the others from running; the exit status is then 1. On a page a table goes
between `<!-- bench NAME -->` and `<!-- end -->`; the command above it says how to repeat it.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cost import Rates, cost_lines
from benchmarks.population import tables_of
from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError, make_unknown_error

# Sizes at which all of them together stay below a quarter of an hour.
BENCHMARKS = {
    "population": "benchmarks.population",
    "train": "benchmarks.train",
    "prove": "benchmarks.prove",
    "enumeration": "benchmarks.enumeration --models 210 --seeds 16 --steps 6000",
    "layers": "benchmarks.layers --time 10",
    "questions": "benchmarks.questions",
    "rules": "benchmarks.rules",
    "draw": "benchmarks.draw",
    "decode": "benchmarks.decode",
    "published": "benchmarks.published",
    "spectra": "benchmarks.spectra --layers 2",
    "spectra_gguf": "benchmarks.spectra_gguf --layers 2 --tied",
    "page": "benchmarks.page --plotly",
    "cost": "benchmarks.cost",
}


@dataclass(frozen=True)
class Outcome:
    name: str
    command: str
    text: str
    status: int
    seconds: float


def main() -> None:
    asked = parse()
    outcomes = []
    for name in chosen(asked.only):
        outcomes.append(run(name))
        if asked.write and not outcomes[-1].status:
            write_blocks(asked.write, {name: shown(outcomes[-1])})
    if asked.gpu:
        write_blocks(asked.write, gpu_blocks(asked.gpu, asked.price))
    print(summary(outcomes))
    sys.exit(any(one.status for one in outcomes))


def write_blocks(page: Path, blocks: dict[str, str]) -> None:
    """One at a time: a run that is cut short leaves what it has measured."""
    write_text(page, filled(page.read_text(encoding="utf-8"), blocks))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"none, or of {', '.join(BENCHMARKS)}")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    parser.add_argument(
        "--gpu", type=Path, nargs="+", metavar="JSON", help="of population.py and cost.py --json"
    )
    parser.add_argument(
        "--price", type=float, help="price of a GPU per hour; adds a column to the cost table"
    )
    asked = parser.parse_args()
    if asked.gpu and not asked.write:
        parser.error("--gpu fills a block of a page: give --write PAGE as well")
    return asked


def chosen(only: list[str] | None) -> list[str]:
    if only == ["none"]:
        return []
    for name in only or ():
        if name not in BENCHMARKS:
            raise make_unknown_error("benchmark", name, BENCHMARKS)
    return only or list(BENCHMARKS)


def run(name: str) -> Outcome:
    """In a process of its own; its table is printed as it comes."""
    words = BENCHMARKS[name]
    print(f"\n== {name}: python -m {words}", flush=True)
    began, lines = time.perf_counter(), []
    with subprocess.Popen(
        [sys.executable, "-m", *words.split()], stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return Outcome(name, words, "".join(lines), process.returncode, time.perf_counter() - began)


def shown(outcome: Outcome) -> str:
    """What stands on the page."""
    return f"`python -m {outcome.command}` ({place()}):\n\n```\n{outcome.text.strip()}\n```"


def place() -> str:
    """Where it ran: cores and processor."""
    try:
        model = re.search(
            r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE
        )
    except OSError:
        model = None
    return f"{os.cpu_count()} cores, {model[1] if model else platform.machine()}"


def gpu_blocks(files: list[Path], price: float | None) -> dict[str, str]:
    """Tables of rows that were measured elsewhere."""
    measured = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    tables = [tables_of(one) for one in measured if "rows" in one]
    costs = cost_lines([Rates(**one["cost"]) for one in measured if "cost" in one], price=price)
    found = {"gpu": "\n\n".join(tables), "gpu cost": "\n".join(costs)}
    return {name: f"```\n{text}\n```" for name, text in found.items() if text}


def filled(page: str, blocks: dict[str, str]) -> str:
    """The page with each block in its place; a block without a place is an error.

    >>> filled("<!-- bench a -->\\nold\\n<!-- end -->", {"a": "new"})
    '<!-- bench a -->\\nnew\\n<!-- end -->'
    """
    for name, text in blocks.items():
        begin = f"<!-- bench {name} -->\n"
        head, found, rest = page.partition(begin)
        _, ended, tail = rest.partition("<!-- end -->")
        if not found or not ended:
            raise UserError(f"the page has no place for {name}: <!-- bench {name} --> ... <!-- end -->")
        page = f"{head}{begin}{text}\n<!-- end -->{tail}"
    return page


def summary(outcomes: list[Outcome]) -> str:
    lines = [f"\n{'benchmark':<16}{'seconds':>9}  status"]
    for one in outcomes:
        lines.append(f"{one.name:<16}{one.seconds:>9.0f}  {'good' if not one.status else 'FAILED'}")
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
