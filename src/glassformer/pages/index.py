"""The index over a folder of runs: one row per run, from run.toml and result.json alone.

A run that is not finished or cannot be read has a row too, which says what is wrong with it.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from glassformer.pages.common_part import make_common_part
from glassformer.pages.table_file import read_table
from glassformer.pages.write import make_html
from glassformer.runs.folder import find_runs

_ENTRY = "pages/assets/index_main.js"
_PAGE = "page.html"
_ADDITION = "addition"
_VERDICTS = ("proved", "refuted", "undecided", "not_applicable")


def make_index_html(root: Path, at: Path, problems: Mapping[str, str] | None = None) -> str:
    """The index of the runs in `root`, for a file in the folder `at`; `problems` has more errors by run."""
    name = root.resolve().name or str(root)
    payload = {
        "name": name,
        **make_common_part(),
        "runs": [make_run_row(folder, at, (problems or {}).get(folder.name)) for folder in find_runs(root)],
    }
    return make_html(payload, f"{name}: runs", _ENTRY)


def make_run_row(folder: Path, at: Path, problem: str | None = None) -> dict[str, Any]:
    """What the index shows of one run."""
    config, wrong = read_table(folder / "run.toml")
    result, missing = read_table(folder / "result.json")
    if not (folder / "result.json").exists():
        missing = "not finished: run the same command again to resume"
    page = folder / _PAGE
    return {
        "name": folder.name,
        "about": _keep_text(config.get("about")) or "",
        "task": _keep_text(_find_subtable(config, "task").get("name")),
        "problem": wrong or missing or problem,
        "page": make_relative_link(page, at) if page.exists() else None,
        "finished": (folder / "result.json").stat().st_mtime if result else None,
        **_make_run_measures(config, result),
    }


def _make_run_measures(config: Mapping[str, object], result: Mapping[str, object]) -> dict[str, Any]:
    """The measures of a finished run; None for each that is missing."""
    accuracy, verdict = _find_subtable(result, "argmax_accuracy"), result.get("verdict")
    is_adder = _find_subtable(config, "task").get("name") == _ADDITION
    return {
        "parameters": _keep_finite_number(result.get("parameters")),
        "seeds": _keep_finite_number(result.get("seeds")),
        "accuracy": {
            name: _keep_finite_number(accuracy.get(name)) for name in ("value", "low", "high", "positions")
        },
        "measured": "sums" if is_adder else "positions",
        "verdict": verdict if verdict in _VERDICTS else None,
        "margin": _keep_finite_number(_find_subtable(result, "proof").get("smallest_margin")),
    }


def _find_subtable(table: Mapping[str, object], name: str) -> dict[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _keep_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _keep_finite_number(value: Any) -> float | int | None:
    """A finite number as it is, none for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def make_relative_link(path: Path, at: Path) -> str:
    """An address that can only be a file below or beside, whatever the name is.

    >>> make_relative_link(Path("runs/a:b/page.html"), Path("runs"))
    './a%3Ab/page.html'
    """
    return "./" + quote(os.fsencode(os.path.relpath(path, at)))
