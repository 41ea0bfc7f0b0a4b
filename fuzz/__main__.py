"""`python -m fuzz`: cases of every kind, in one table; status 1 where there is any finding."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from fuzz.case import Outcome
from fuzz.kinds import KINDS
from fuzz.place import make_root
from fuzz.pool import Batch, run_batches
from fuzz.report import Report, write_finding

BATCH = 25  # cases at a time: small, so that all workers end together


def main(words: list[str] | None = None) -> int:
    asked = make_parser().parse_args(words)
    kinds = asked.kinds.split(",") if asked.kinds else list(KINDS)
    if strange := [kind for kind in kinds if kind not in KINDS]:
        print(f"no kind called '{strange[0]}'; valid: {', '.join(KINDS)}", file=sys.stderr)
        return 2
    report = fuzz(
        tuple(kinds), asked.cases, asked.seed, asked.workers, asked.case, Path(asked.out), not asked.json
    )
    print(json.dumps(report.content()) if asked.json else report.words())
    return 1 if report.findings else 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, metavar="N", help="of all kinds together")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--kinds", metavar="A,B", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count(), metavar="N", help="(default: one per core)"
    )
    parser.add_argument("--case", type=int, metavar="I", help="this one alone, of each kind")
    parser.add_argument("--out", default="fuzz-findings", metavar="FOLDER", help="for findings")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def fuzz(
    kinds: tuple[str, ...],
    cases: int,
    seed: int,
    workers: int,
    only: int | None = None,
    out: Path | None = None,
    show: bool = False,
    planted: str = "",
) -> Report:
    """Run the cases and count what came of them."""
    skipped = {kind: f"needs {', '.join(KINDS[kind].missing)}" for kind in kinds if KINDS[kind].missing}
    there = tuple(kind for kind in kinds if kind not in skipped)
    report, began = Report(seed, skipped), time.monotonic()
    alone = [Batch(kind, seed, only, only + 1) for kind in there] if only is not None else None
    batches = spread(there, cases, seed) if alone is None else alone
    for outcome in run_batches(batches, workers, make_root(), there, planted):
        report.add(outcome)
        tell(outcome, out, show, only is not None)
    report.wall = time.monotonic() - began
    return report


def tell(outcome: Outcome, out: Path | None, show: bool, only_one: bool) -> None:
    """A finding on standard error, and in its file."""
    if outcome.faults and out is not None:
        write_finding(out, outcome)
    if only_one:
        print(f"{outcome.end}; {outcome.seconds:.2f} s; {outcome.grown / 1e6:.0f} MB\n{outcome.words}")
    elif outcome.faults and show:
        lines = [line for line in outcome.words.splitlines() if line.strip()] or [""]
        last = next((line for line in lines if line.startswith("glassformer: ")), lines[-1])
        print(
            f"{', '.join(outcome.faults)}: {outcome.case.command}: {last[:150]}", file=sys.stderr, flush=True
        )


def spread(kinds: tuple[str, ...], cases: int, seed: int) -> list[Batch]:
    """Batches by the kinds' shares, well mixed: dear kinds are not left for the end."""
    whole = sum(KINDS[kind].share for kind in kinds)
    batches = [list(cut(kind, -(-cases * KINDS[kind].share // whole), seed)) for kind in kinds]
    placed = [((place + 0.5) / len(of_kind), one) for of_kind in batches for place, one in enumerate(of_kind)]
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def cut(kind: str, count: int, seed: int) -> Iterator[Batch]:
    for first in range(0, count, BATCH):
        yield Batch(kind, seed, first, min(count, first + BATCH))


if __name__ == "__main__":
    sys.exit(main())
