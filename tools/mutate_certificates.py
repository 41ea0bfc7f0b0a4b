"""Thousands of forged certificates, each checked; what is accepted is judged by running every pair.

    python -m tools.mutate_certificates --count 10000 --seed 0

Prints how many were accepted and rejected, by kind of change, the longest time, and every false claim that
was accepted and every error that is no sentence: there should be none of either.
"""

import argparse
import json
import os
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from glassformer.checker.certificate import check_certificate
from glassformer.core.errors import UserError
from tests.checker.judgement import find_false_claim
from tests.checker.mutations import mutate_certificate
from tests.checker.originals import make_originals


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=10_000, help="certificates")
    words.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    asked = words.parse_args()
    originals, outcomes, longest = make_originals(), Counter[tuple[str, str]](), (0.0, "")
    for name, tree in originals.items():
        print(
            f"{name}: {check_certificate(tree).reason}; false: {find_false_claim(tree) or 'nothing'}",
            flush=True,
        )
    for number in range(asked.seed, asked.seed + asked.count):
        random = Random(number)
        original = random.choice(list(originals))
        change, tree = mutate_certificate(originals[original], random)
        began = measure_cpu()
        outcome, reason = judge_mutant(tree)
        spent = measure_cpu() - began
        if outcome == "rejected":
            longest = max(longest, (spent, f"seed {number}, {change} of {original}: {reason}"))
        outcomes[change, outcome] += 1
        if outcome not in ("accepted", "rejected"):
            print(f"seed {number}, {change} of {original}: {outcome}: {reason}", flush=True)
        if (number - asked.seed + 1) % 500 == 0:
            print(
                f"{number - asked.seed + 1}: {count_outcomes(outcomes)}; longest {longest[0]:.1f} s",
                flush=True,
            )
    for change in sorted({change for change, _ in outcomes}):
        print(f"  {change}: {count_outcomes({key: n for key, n in outcomes.items() if key[0] == change})}")
    print(f"in all: {count_outcomes(outcomes)}; longest rejection {longest[0]:.1f} s CPU ({longest[1]})")
    return 1 if any(outcome not in ("accepted", "rejected") for _, outcome in outcomes) else 0


def measure_cpu() -> float:
    """CPU seconds of this process and of those that a check has started on other cores."""
    return sum(os.times()[:4])


def judge_mutant(tree: Any) -> tuple[str, str]:
    """Accepted, rejected, `accepted though false`, or `traceback`; with the reason."""
    try:
        try:
            result = check_certificate(write_tree(tree))
        except UserError as error:
            return "rejected", str(error)
        if not result.valid:
            return "rejected", result.reason
        false = find_false_claim(tree)
    except Exception:
        return "traceback", traceback.format_exc()
    return ("accepted though false", false) if false else ("accepted", "")


def write_tree(tree: Any) -> Path:
    """A file with the certificate, as a user would get it."""
    path = Path(tempfile.gettempdir()) / f"glassformer-mutant-{os.getpid()}.json"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def count_outcomes(outcomes: Any) -> str:
    total = Counter[str]()
    for (_, outcome), count in outcomes.items():
        total[outcome] += count
    return ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(total.items()))


if __name__ == "__main__":
    sys.exit(main())
