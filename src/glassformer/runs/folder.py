"""The run folder: complete, or resumable; never broken, never overwritten by another run unasked.

run.toml  env.json  metrics.csv  params.safetensors  history.safetensors  population.safetensors
result.json  report.md          and while it trains: state.safetensors  checkpoints/
"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.core.atomic import make_folder, write_bytes, write_json, write_text
from glassformer.core.errors import UserError
from glassformer.core.folder import FolderKind, describe_difference
from glassformer.core.text_files import read_bytes
from glassformer.runs.config import DrawSettings, Run
from glassformer.runs.environment import describe_environment
from glassformer.runs.resolve import list_setting_leaves, resolve_run
from glassformer.runs.tree import to_tree
from glassformer.training.settings import TrainSettings

_RULE_COPY = "rule.py"  # of a user's own rule, for readers: it is never run from here
# Removed in this order, so that a folder cut short in the middle is still seen as an unfinished run.
_MADE = (
    *("result.json", "params.safetensors", "state.safetensors", "checkpoints", "figures", "videos"),
    *("report.md", "certificate.json", "metrics.csv", "history.safetensors", "population.safetensors"),
    *("spectra", "page.html", "env.json", "run.toml"),
)
_RUN = FolderKind(
    noun="run",
    marker="run.toml",
    made=_MADE,
    leftovers=(
        *(f".{name}.*.tmp" for name in (*_MADE, _RULE_COPY)),
        *(f"{part}/.*.*.tmp" for part in ("checkpoints", "figures", "figures/data", "videos")),
    ),
    ways="--overwrite replaces it, --resume continues it, --out chooses another folder",
    early=frozenset({"env.json", _RULE_COPY}),  # all that a run killed at its very start leaves
)


def open_run_folder(
    folder: Path, run: Run, resume: bool = False, overwrite: bool = False, rule: Path | None = None
) -> Run:
    """Make the folder ready and return the configuration that is to run in it; `rule` is its rule's file."""
    if overwrite and _RUN.is_in(folder):
        _RUN.remove_made(folder)
    if not _RUN.is_in(folder):
        if lost := describe_missing_settings(folder):
            raise UserError(lost)
        _RUN.refuse_foreign(folder, beside=overwrite)
        _RUN.remove_leftovers(folder)
        return _create_run_folder(folder, run, rule)
    _RUN.refuse_links(folder)
    _RUN.remove_leftovers(folder)
    there = read_stored_run(folder)
    differs = describe_run_difference(there, run)
    if differs and not resume:
        raise _RUN.make_conflict(folder, differs)
    train = replace(there.train, threads=run.train.threads, device=run.train.device)
    return replace(there, train=train, draw=run.draw)


def read_stored_run(folder: Path) -> Run:
    """The configuration that a folder was made with."""
    return resolve_run(str(folder / "run.toml"))


def is_complete(folder: Path) -> bool:
    return (folder / "result.json").exists()


def _create_run_folder(folder: Path, run: Run, rule: Path | None = None) -> Run:
    make_folder(folder)
    if rule:
        write_bytes(folder / _RULE_COPY, read_bytes(rule))
    write_json(folder / "env.json", describe_environment(run.train.first_seed))
    import tomli_w  # a machine that runs units of a sweep needs no more than the engine does

    write_text(folder / "run.toml", tomli_w.dumps(to_tree(run)))  # last: from here on it is a run
    return run


def describe_missing_settings(folder: Path) -> str:
    """The sentence for a finished run that has lost its run.toml."""
    is_lost = is_complete(folder) and (folder / "params.safetensors").exists()
    return f"{folder / 'run.toml'} is missing, and belongs to the run; put it back" if is_lost else ""


def tidy_run_folder(folder: Path, keep_checkpoints: bool = False) -> None:
    """A finished run needs no state to resume from, and all seeds' checkpoints only if that was asked for."""
    (folder / "state.safetensors").unlink(missing_ok=True)
    if not keep_checkpoints:
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def describe_run_difference(there: Run, here: Run) -> str:
    """The first setting that differs, or nothing; where it runs and what is drawn make no other run."""
    old, new = (list_setting_leaves(_make_comparable_tree(run)) for run in (there, here))
    return describe_difference(old, new)


def _make_comparable_tree(run: Run) -> dict[str, Any]:
    where = TrainSettings()
    tree: dict[str, Any] = to_tree(
        replace(
            run, train=replace(run.train, device=where.device, threads=where.threads), draw=DrawSettings()
        )
    )
    return tree


def find_runs(root: Path) -> list[Path]:
    """The run folders below a folder, by name."""
    return sorted(path.parent for path in root.glob("*/run.toml")) if root.is_dir() else []
