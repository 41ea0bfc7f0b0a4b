"""The run folder: complete, or resumable; never broken, never overwritten by another run unasked.

run.toml  env.json  metrics.csv  params.safetensors  history.safetensors  population.safetensors
result.json  report.md          and while it trains: state.safetensors  checkpoints/
"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from glassformer.errors import UserError, show
from glassformer.runs.atomic import (
    make_folder,
    refuse_links,
    remove_made,
    write_bytes,
    write_json,
    write_text,
)
from glassformer.runs.config import Draw, Run
from glassformer.runs.environment import environment
from glassformer.runs.resolve import leaves, resolve
from glassformer.runs.text_files import read_bytes
from glassformer.runs.tree import to_tree
from glassformer.train.settings import Train

# Removed in this order, so that a folder cut short in the middle is still seen as an unfinished run.
MADE = (
    *("result.json", "params.safetensors", "state.safetensors", "checkpoints", "figures", "videos"),
    *("report.md", "certificate.json", "metrics.csv", "history.safetensors", "population.safetensors"),
    *("spectra", "page.html", "env.json", "run.toml"),
)
EARLY = {"env.json", "rule.py"}  # written before run.toml: all that a run killed at its very start leaves
RULE_COPY = "rule.py"  # of a user's own rule, for readers: it is never run from here


def open_folder(
    folder: Path, run: Run, resume: bool = False, overwrite: bool = False, rule: Path | None = None
) -> Run:
    """Make the folder ready and return the configuration that is to run in it; `rule` is its rule's file."""
    if overwrite and (folder / "run.toml").exists():
        remove_made(folder, MADE)
    if not (folder / "run.toml").exists():
        refuse_foreign(folder, overwrite)
        remove_leftovers(folder)
        return create(folder, run, rule)
    refuse_links(*(folder / name for name in MADE))
    remove_leftovers(folder)
    there = stored(folder)
    if resume or not difference(there, run):
        train = replace(there.train, threads=run.train.threads, device=run.train.device)
        return replace(there, train=train, draw=run.draw)
    ways = "--overwrite replaces it, --resume goes on with it, --out chooses another folder"
    raise UserError(f"{folder} holds another run ({difference(there, run)}); {ways}")


def stored(folder: Path) -> Run:
    """The configuration that a folder was made with."""
    return resolve(str(folder / "run.toml"))


def is_complete(folder: Path) -> bool:
    return (folder / "result.json").exists()


def create(folder: Path, run: Run, rule: Path | None = None) -> Run:
    make_folder(folder)
    if rule:
        write_bytes(folder / RULE_COPY, read_bytes(rule))
    write_json(folder / "env.json", environment(run.train.first_seed))
    write_text(folder / "run.toml", tomli_w.dumps(to_tree(run)))  # last: from here on it is a run
    return run


def refuse_foreign(folder: Path, overwrite: bool) -> None:
    """No run is there: what others made stays as it is; with --overwrite a run may stand beside it."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; --out chooses another place")
    if lost := missing_settings(folder):
        raise UserError(lost)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    in_the_way = {*MADE} - EARLY if overwrite else {name for name in names if name[0] != "."} - EARLY
    if strange := [name for name in names if name in in_the_way]:
        raise UserError(
            f"{folder} is not empty and holds no run (it has {strange[0]}); --out chooses another folder"
        )


def missing_settings(folder: Path) -> str:
    """The sentence for a finished run that has lost its run.toml."""
    is_lost = is_complete(folder) and (folder / "params.safetensors").exists()
    return f"{folder / 'run.toml'} is missing, and belongs to the run; put it back" if is_lost else ""


def tidy(folder: Path, keep_checkpoints: bool = False) -> None:
    """A finished run needs no state to go on from, and all seeds' checkpoints only if that was asked for."""
    (folder / "state.safetensors").unlink(missing_ok=True)
    if not keep_checkpoints:
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """What a killed process was about to rename."""
    inside = ("checkpoints", "figures", "figures/data", "videos")
    for name in (*MADE, RULE_COPY, *(f"{part}/*" for part in inside)):
        for path in (folder / name).parent.glob(f".{Path(name).name}.*.tmp"):
            path.unlink(missing_ok=True)


def difference(there: Run, here: Run) -> str:
    """The first setting that differs, or nothing; where it runs and what is drawn make no other run."""
    old, new = leaves(comparable(there)), leaves(comparable(here))
    for path in [*new, *old]:
        if old.get(path) != new.get(path):
            return f"{path} is {show(old.get(path))} there and {show(new.get(path))} here"
    return ""


def comparable(run: Run) -> dict[str, Any]:
    where = Train()
    tree: dict[str, Any] = to_tree(
        replace(run, train=replace(run.train, device=where.device, threads=where.threads), draw=Draw())
    )
    return tree


def find_runs(root: Path) -> list[Path]:
    """The run folders below a folder, by name."""
    return sorted(path.parent for path in root.glob("*/run.toml")) if root.is_dir() else []
