"""The index over a folder of runs: one row a run, from run.toml and result.json alone.

A run that is not finished or cannot be read has a row too, which says what is wrong with it.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from glassformer.page.common_part import common_part
from glassformer.page.table_file import read_table
from glassformer.page.write import html
from glassformer.runs.folder import find_runs

ENTRY = "index_main.js"
PAGE = "page.html"
ADDITION = "addition"
VERDICTS = ("proved", "refuted", "undecided", "not_applicable")


def index_html(root: Path, at: Path, problems: Mapping[str, str] | None = None) -> str:
    """The index of the runs in `root`, for a file in the folder `at`; `problems` says more of some runs."""
    name = root.resolve().name or str(root)
    payload = {
        "name": name,
        **common_part(),
        "runs": [row(folder, at, (problems or {}).get(folder.name)) for folder in find_runs(root)],
    }
    return html(payload, f"{name}: runs", ENTRY)


def row(folder: Path, at: Path, problem: str | None = None) -> dict[str, Any]:
    """What the index shows of one run."""
    config, wrong = read_table(folder / "run.toml")
    result, missing = read_table(folder / "result.json")
    if not (folder / "result.json").exists():
        missing = "not finished: glassformer run goes on with it"
    page = folder / PAGE
    return {
        "name": folder.name,
        "about": text_of(config.get("about")) or "",
        "task": text_of(part(config, "task").get("name")),
        "problem": wrong or missing or problem,
        "page": relative_link(page, at) if page.exists() else None,
        "finished": (folder / "result.json").stat().st_mtime if result else None,
        **measured(config, result),
    }


def measured(config: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a finished run; none for each that is not there."""
    accuracy, verdict = part(result, "argmax_accuracy"), result.get("verdict")
    is_adder = part(config, "task").get("name") == ADDITION
    return {
        "parameters": number_of(result.get("parameters")),
        "seeds": number_of(result.get("seeds")),
        "accuracy": {name: number_of(accuracy.get(name)) for name in ("value", "low", "high", "positions")},
        "measured": "sums" if is_adder else "places",
        "verdict": verdict if verdict in VERDICTS else None,
        "margin": number_of(part(result, "proof").get("smallest_margin")),
    }


def part(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def number_of(value: Any) -> float | int | None:
    """A finite number as it is, none for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def relative_link(path: Path, at: Path) -> str:
    """An address that can only be a file below or beside, whatever the name is.

    >>> relative_link(Path("runs/a:b/page.html"), Path("runs"))
    './a%3Ab/page.html'
    """
    return "./" + quote(os.fsencode(os.path.relpath(path, at)))
