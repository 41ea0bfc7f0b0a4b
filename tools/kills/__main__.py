"""Kill commands at random moments: run again, each must end with the bytes of one that nobody killed.

    python -m tools.kills --verb run --kills 100 --seed 0     or video, page, sweep, all (make kills)
    python -m tools.kills --verb run --seed 0 --case 17       one case again
    python -m tools.kills --verb all --at steps               just before a change of a file, not by the clock

The exit status is 1 where anything differs. What may differ, and why, is in kinds.py.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tools.kills.cases import WAYS, Case, make_references, try_case
from tools.kills.kinds import VERBS

STATES = ("absent", "resumable", "complete")
COLUMNS = ("verb", "cases", "kills", "late", *STATES, "differences", "seconds")
HEADS = {"kills": "kills of a running command", "late": "after its end"}


class Asked(NamedTuple):
    """What the words of the command line say."""

    verb: str = "all"
    kills: int = 100  # of each verb, of a running command
    seed: int = 0
    at: str = "clock"
    case: int | None = None  # this one alone
    json: bool = False


def main(words: Sequence[str] | None = None) -> int:
    asked = _read_words(words)
    verbs = VERBS if asked.verb == "all" else (asked.verb,)
    rows, cases = [], []
    for verb in verbs:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="kills-") as place:
            found = kill_verb(verb, asked, Path(place))
        rows.append(count_cases(verb, found, time.perf_counter() - began))
        cases += found
    bad = [case for case in cases if case.differences]
    print(
        json.dumps({"rows": rows, "cases": [asdict(case) for case in bad]})
        if asked.json
        else table_text(rows)
    )
    return int(bool(bad))


def kill_verb(verb: str, asked: Asked, place: Path) -> list[Case]:
    """Cases until a running command was killed so many times; `place` is where all of it happens."""
    cases: list[Case] = []
    references = make_references(verb, place)
    numbers = count() if asked.case is None else iter([asked.case])
    while sum(case.hits for case in cases) < asked.kills and (number := next(numbers, None)) is not None:
        cases.append(try_case(references, asked.seed, number, asked.at, place))
        if cases[-1].differences:
            print(_describe(cases[-1], asked), file=sys.stderr, flush=True)
    return cases


def count_cases(verb: str, cases: Sequence[Case], seconds: float) -> dict[str, Any]:
    """A row of the table."""
    states = sum((case.states for case in cases), Counter[str]())
    return {
        "verb": verb,
        "cases": len(cases),
        "kills": sum(case.hits for case in cases),
        "late": sum(case.late for case in cases),
        **{name: states[name] for name in STATES},
        "differences": sum(len(case.differences) for case in cases),
        "seconds": round(seconds),
    }


def table_text(rows: Sequence[dict[str, Any]]) -> str:
    """As Markdown."""
    lines = ["| " + " | ".join(HEADS.get(name, name) for name in COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    return "\n".join(
        [*lines, *("| " + " | ".join(str(row[name]) for name in COLUMNS) + " |" for row in rows)]
    )


def _describe(case: Case, asked: Asked) -> str:
    again = (
        f"python -m tools.kills --verb {case.verb} --seed {asked.seed} --at {asked.at} --case {case.number}"
    )
    lines = [f"{again}    {case.words}", f"  killed {', '.join(case.moments)}"]
    return "\n".join([*lines, *(f"  {one}" for one in case.differences)])


def _read_words(words: Sequence[str] | None) -> Asked:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verb", choices=(*VERBS, "all"), default="all")
    parser.add_argument("--kills", type=int, default=100, help="of each verb, of a running command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at", choices=WAYS, default="clock", help="moments by time, or by changes of files")
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--json", action="store_true")
    return Asked(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    sys.exit(main())
