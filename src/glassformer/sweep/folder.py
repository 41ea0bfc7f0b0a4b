"""The folder of a sweep: whole at any moment; another sweep in it is refused.

sweep.toml   the whole sweep; `glassformer sweep sweeps/NAME/sweep.toml --out OTHER` repeats it
units/       a pair of files a unit that is done: the only truth, all else is made from them
working/     what the units at work need to go on
table.csv    a row a configuration            seeds.csv    a row a seed
models/      every proved model               page.html    result.json    plan/ (with --plan)
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from glassformer.errors import UserError, show
from glassformer.runs.atomic import make_folder, refuse_links, remove_made, remove_unfinished, write_text
from glassformer.runs.tree import to_tree
from glassformer.sweep.identity import settings_of
from glassformer.sweep.plan import Sweep
from glassformer.sweep.reading import OWN, make_sweep

SWEEP, UNITS, WORKING, PLAN, MODELS = "sweep.toml", "units", "working", "plan", "models"
TABLE, SEEDS, PAGE, RESULT = "table.csv", "seeds.csv", "page.html", "result.json"
# Removed in this order: a folder cut short in the middle is still seen as a sweep.
MADE = (RESULT, PAGE, TABLE, SEEDS, MODELS, WORKING, PLAN, UNITS, SWEEP)
WAYS = "--overwrite replaces it, --resume goes on with it, --out chooses another folder"


def open_folder(folder: Path, sweep: Sweep, resume: bool = False, overwrite: bool = False) -> Sweep:
    """Make the folder ready and return the sweep that is to run in it."""
    if overwrite and is_sweep(folder):
        remove_made(folder, MADE)
    if not is_sweep(folder):
        refuse_foreign(folder)
        make_folder(folder / UNITS)
        remove_unfinished(folder / SWEEP)
        write_text(folder / SWEEP, tomli_w.dumps(sweep_tree(sweep)))  # last: from here on it is a sweep
        return sweep
    refuse_links(*(folder / name for name in MADE))
    remove_leftovers(folder)
    there = stored(folder)
    differs = difference(there, sweep)
    if differs and not resume:
        raise UserError(f"{folder} holds another sweep ({differs}); {WAYS}")
    return there if differs else sweep


def is_sweep(folder: Path) -> bool:
    return (folder / SWEEP).exists()


def stored(folder: Path) -> Sweep:
    """The sweep that a folder was made with."""
    return make_sweep(str(folder / SWEEP))


def sweep_tree(sweep: Sweep) -> dict[str, Any]:
    """What reading gives the same sweep for; the seeds of a configuration are the sweep's."""
    trees = [to_tree(run) for run in sweep.configurations]
    for path in OWN:
        part, _, name = path.partition(".")
        for tree in trees:
            del tree[part][name]
    numbers = {name: getattr(sweep, name) for name in ("name", "seeds", "first_seed", "block")}
    return numbers | {"configuration": trees}


def difference(there: Sweep, here: Sweep) -> str:
    """The first thing that differs, or nothing; where it runs and its name make no other sweep."""
    for name in ("seeds", "first_seed", "block"):
        old, new = getattr(there, name), getattr(here, name)
        if old != new:
            return f"{name} is {old} there and {new} here"
    names, others = ([run.name for run in sweep.configurations] for sweep in (there, here))
    if names != others:
        strange = next((name for name in others if name not in names), None)
        missing = next((name for name in names if name not in others), None)
        if strange or missing:
            return f"{strange or missing} is only {'here' if strange else 'there'}"
        return "the configurations are in another order"
    for old_run, new_run in zip(there.configurations, here.configurations, strict=True):
        if differs := first_setting(settings_of(to_tree(old_run)), settings_of(to_tree(new_run))):
            return f"{new_run.name}: {differs}"
    return ""


def first_setting(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    for path in (*new, *old):
        if old.get(path) != new.get(path):
            said = (show(one[path]) if path in one else "the default" for one in (old, new))
            return "{} is {} there and {} here".format(path, *said)
    return ""


def refuse_foreign(folder: Path) -> None:
    """What others made stays as it is; results of units may be there before the sweep."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; --out chooses another place")
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if strange := [name for name in names if name[0] != "." and name not in (UNITS, PLAN)]:
        raise UserError(
            f"{folder} is not empty and holds no sweep (it has {strange[0]}); --out chooses another folder"
        )


def remove_leftovers(folder: Path) -> None:
    """What a killed process was about to rename."""
    for part in (folder, *(folder / name for name in (UNITS, PLAN, MODELS))):
        for path in part.glob(".*.tmp"):
            path.unlink(missing_ok=True)


def strangers(folder: Path, names: set[str]) -> list[str]:
    """Results in units/ that belong to no unit of the sweep."""
    return sorted(path.name for path in (folder / UNITS).glob("*.json") if path.stem not in names)
