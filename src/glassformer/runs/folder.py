"""The run folder: complete, or resumable; never broken, never overwritten by another run unasked.

    run.toml  env.json  metrics.csv  params.safetensors  history.safetensors  population.safetensors
    result.json  report.md          and while it trains: state.safetensors  checkpoints/
"""

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import tomli_w

from glassformer.errors import UserError
from glassformer.runs.atomic import write_json, write_text
from glassformer.runs.config import Run
from glassformer.runs.environment import environment
from glassformer.runs.resolve import leaves, resolve
from glassformer.runs.tree import to_tree
from glassformer.train.settings import Train

# Removed in this order, so that a folder cut short in the middle is still seen as unfinished.
FILES = ("result.json", "params.safetensors", "state.safetensors", "report.md", "certificate.json", "metrics.csv")
FILES += ("history.safetensors", "population.safetensors", "page.html", "env.json", "run.toml")
FOLDERS = ("checkpoints", "figures", "videos")
RULE_COPY = "rule.py"  # a user's own rule travels with its run


def open_folder(folder: Path, run: Run, resume: bool = False, overwrite: bool = False) -> Run:
    """Make the folder ready and return the configuration that is to run in it."""
    if overwrite:
        clear(folder)
    if not (folder / "run.toml").exists():
        refuse_foreign(folder, overwrite)
        return create(folder, run)
    there = stored(folder)
    if resume or same(there, run):
        return replace(there, train=replace(there.train, threads=run.train.threads, device=run.train.device))
    ways = "--overwrite replaces it, --resume goes on with it, --out chooses another folder"
    raise UserError(f"{folder} holds another run ({difference(there, run)}); {ways}")


def stored(folder: Path) -> Run:
    """The configuration that a folder was made with."""
    return resolve(str(folder / "run.toml"))


def is_complete(folder: Path) -> bool:
    return (folder / "result.json").exists()


def create(folder: Path, run: Run) -> Run:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from None
    if run.rule_file:
        write_text(folder / RULE_COPY, Path(run.rule_file).read_text())
        run = replace(run, rule_file=RULE_COPY)
    write_json(folder / "env.json", environment(run.train.first_seed))
    write_text(folder / "run.toml", tomli_w.dumps(to_tree(run)))  # last: from here on it is a run
    return run


def refuse_foreign(folder: Path, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; --out chooses another place")
    strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
    if set(strange) - {*FILES, *FOLDERS, RULE_COPY} and not overwrite:
        raise UserError(f"{folder} is not empty and holds no run (it has {strange[0]}); --out chooses another folder")


def clear(folder: Path) -> None:
    """Remove what a run makes, and nothing else."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)


def same(there: Run, here: Run) -> bool:
    return difference(there, here) == ""


def difference(there: Run, here: Run) -> str:
    """The first setting that differs, or nothing; where it runs (device, threads) makes no other run."""
    old, new = leaves(comparable(there)), leaves(comparable(here))
    for path in [*new, *old]:
        if old.get(path) != new.get(path):
            return f"{path} is {old.get(path)!r} there and {new.get(path)!r} here"
    return ""


def comparable(run: Run) -> dict[str, Any]:
    where = Train()
    tree: dict[str, Any] = to_tree(replace(run, train=replace(run.train, device=where.device, threads=where.threads)))
    return tree | {"rule_file": bool(run.rule_file)}


def find_runs(root: Path) -> list[Path]:
    """The run folders below a folder, by name."""
    return sorted(path.parent for path in root.glob("*/run.toml")) if root.is_dir() else []


def status(folder: Path) -> Literal["complete", "unfinished", "damaged"]:
    try:
        tomllib.loads((folder / "run.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return "damaged"
    return "complete" if is_complete(folder) else "unfinished"
