"""The folder of a sweep: whole at any moment; another sweep in it is refused.

sweep.toml   the whole sweep; `glassformer sweep sweeps/NAME/sweep.toml --out OTHER` repeats it
units/       a pair of files per unit that is done: the only truth, all else is made from them
working/     what the units at work need to resume
table.csv    a row per configuration            seeds.csv    a row per seed
models/      every proved model               page.html    result.json    plan/ (with --plan)
"""

from pathlib import Path
from typing import Any

import tomli_w

from glassformer.core.atomic import make_folder, remove_unfinished, write_text
from glassformer.core.folder import FolderKind, describe_difference
from glassformer.runs.tree import to_tree
from glassformer.sweeps.identity import select_counted_settings
from glassformer.sweeps.plan import Sweep
from glassformer.sweeps.reading import OWN, make_sweep

SWEEP, UNITS, WORKING, PLAN, MODELS = "sweep.toml", "units", "working", "plan", "models"
TABLE, SEEDS, PAGE, RESULT = "table.csv", "seeds.csv", "page.html", "result.json"
_SWEEP = FolderKind(
    noun="sweep",
    marker=SWEEP,
    # Removed in this order: a folder cut short in the middle is still seen as a sweep.
    made=(RESULT, PAGE, TABLE, SEEDS, MODELS, WORKING, PLAN, UNITS, SWEEP),
    leftovers=(".*.tmp", *(f"{name}/.*.tmp" for name in (UNITS, PLAN, MODELS))),
    ways="--overwrite replaces it, --resume continues it, --out chooses another folder",
    early=frozenset({UNITS, PLAN}),  # results of units may be there before the sweep
)


def open_sweep_folder(folder: Path, sweep: Sweep, resume: bool = False, overwrite: bool = False) -> Sweep:
    """Make the folder ready and return the sweep that is to run in it."""
    if overwrite and is_sweep_folder(folder):
        _SWEEP.remove_made(folder)
    if not is_sweep_folder(folder):
        _SWEEP.refuse_foreign(folder)
        make_folder(folder / UNITS)
        remove_unfinished(folder / SWEEP)  # and no more: others may be writing into units/
        write_text(folder / SWEEP, tomli_w.dumps(_to_sweep_tree(sweep)))  # last: from here on it is a sweep
        return sweep
    _SWEEP.refuse_links(folder)
    _SWEEP.remove_leftovers(folder)
    there = read_stored_sweep(folder)
    differs = describe_sweep_difference(there, sweep)
    if differs and not resume:
        raise _SWEEP.make_conflict(folder, differs)
    return there if differs else sweep


def is_sweep_folder(folder: Path) -> bool:
    return _SWEEP.is_in(folder)


def read_stored_sweep(folder: Path) -> Sweep:
    """The sweep that a folder was made with."""
    return make_sweep(str(folder / SWEEP))


def _to_sweep_tree(sweep: Sweep) -> dict[str, Any]:
    """What reading gives the same sweep for; the seeds of a configuration are the sweep's."""
    trees = [to_tree(run) for run in sweep.configurations]
    for path in OWN:
        part, _, name = path.partition(".")
        for tree in trees:
            del tree[part][name]
    numbers = {name: getattr(sweep, name) for name in ("name", "seeds", "first_seed", "block")}
    return numbers | {"configuration": trees}


def describe_sweep_difference(there: Sweep, here: Sweep) -> str:
    """The first thing that differs, or nothing; where it runs and its name make no other sweep."""
    numbers, new_numbers = (
        {name: getattr(sweep, name) for name in ("seeds", "first_seed", "block")} for sweep in (there, here)
    )
    if differs := describe_difference(numbers, new_numbers):
        return differs
    names, others = ([run.name for run in sweep.configurations] for sweep in (there, here))
    if names != others:
        strange = next((name for name in others if name not in names), None)
        missing = next((name for name in names if name not in others), None)
        if strange or missing:
            return f"{strange or missing} is only {'here' if strange else 'there'}"
        return "the configurations are in another order"
    for old_run, new_run in zip(there.configurations, here.configurations, strict=True):
        old, new = (select_counted_settings(to_tree(run)) for run in (old_run, new_run))
        if differs := describe_difference(old, new, missing="the default"):
            return f"{new_run.name}: {differs}"
    return ""


def list_foreign_results(folder: Path, names: set[str]) -> list[str]:
    """Results in units/ that belong to no unit of the sweep."""
    return sorted(path.name for path in (folder / UNITS).glob("*.json") if path.stem not in names)
