"""A sweep as it is written: a file, or a name with a grid.

    name = "rates"                       # also the folder's name under sweeps/
    seeds = 256                          # of each configuration
    first_seed = 0
    block = 64                           # seeds per unit

    [settings]                           # of all configurations
    train.steps = 20_000

    [[configuration]]                    # one or more
    base = "glass-39"                    # a named configuration or a .toml file
    train.warm_up = 500                  # and any settings

    [grid]                               # every combination, with every configuration
    train.peak_rate = [0.01, 0.03]
    "train.steps+train.warm_up" = [500, 1_000]   # settings that go together

`glassformer sweep glass-39 --grid train.peak_rate=0.01,0.03 --seeds 256 --train.steps 20000` is the same.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError, make_unknown_error, require_value
from glassformer.core.text_files import read_toml
from glassformer.runs.config import Run
from glassformer.runs.resolve import (
    configure_run,
    list_setting_leaves,
    make_code_refusal,
    parse_value,
    strip_rule_file,
)
from glassformer.runs.tree import require_plain_type
from glassformer.sweeps.plan import BLOCK, SEEDS, Sweep

_Settings = dict[str, Any]  # by dotted path
_NUMBERS = {"seeds": SEEDS, "first_seed": 0}  # and what they are where nothing is said
_KEYS = ("name", *_NUMBERS, "block", "base", "settings", "configuration", "grid")
_MARKS = ("configuration", "grid", "settings", "block")  # by which a sweep's file is told from a run's
_MOST_COMBINATIONS = 4_096  # of a grid; each is a configuration that is looked at before anything starts
OWN = {"train.seeds": "seeds", "train.first_seed": "first_seed"}  # settings that a sweep has itself


@dataclass(frozen=True)
class _RunDraft:
    """A configuration that may still need another name than its base."""

    own: _Settings  # in the file
    grid: _Settings  # one combination
    run: Run


def make_sweep(
    target: str,
    grid: Mapping[str, list[Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    numbers: Mapping[str, int | None] | None = None,
    usual_block: int = BLOCK,
    rule: str | None = None,
) -> Sweep:
    """The sweep that a file or a name stands for; options go to every configuration, numbers win.

    `rule` is a Python file with the rule of all configurations, named by the user.
    """
    tree, beside = _read_sweep_target(target)
    count = {
        name: _read_sweep_count(tree, name, usual)
        for name, usual in (_NUMBERS | {"block": usual_block}).items()
    }
    count |= {name: value for name, value in (numbers or {}).items() if value is not None}
    shared = list_setting_leaves(_require_settings_table(tree, "settings"), into_lists=False)
    last = {path: parse_value(value) for path, value in (options or {}).items()}
    combinations = _list_combinations(_read_grid_table(tree) | dict(grid or {}), last)
    drafts = [
        _draft_configuration(
            table, beside, {"train.polish_seeds": max(1, count["block"])} | shared, one, last, rule
        )
        for table in _list_configuration_tables(tree)
        for one in combinations
    ]
    runs = tuple(
        replace(run, train=replace(run.train, seeds=count["seeds"], first_seed=count["first_seed"]))
        for run in _name_runs(drafts)
    )
    name = require_plain_type(str, tree.get("name", drafts[0].run.name), "name")
    return Sweep(name, count["seeds"], count["first_seed"], count["block"], runs)


def _read_sweep_target(target: str) -> tuple[_Settings, Path | None]:
    """A sweep's file as a table and the folder that it is in; a name, or a run's file, as one of one base."""
    path = Path(target) / "sweep.toml" if (Path(target) / "sweep.toml").exists() else Path(target)
    if path.suffix != ".toml":
        return {"base": target}, None
    tree = read_toml(path)
    if not any(mark in tree for mark in _MARKS):
        return {"base": target}, None
    for key in tree:
        if key not in _KEYS:
            raise make_unknown_error("setting of a sweep", key, _KEYS)
    if "base" in tree and "configuration" in tree:
        raise UserError(f"{path} has a base and a list of configurations; each of these has its own base")
    return {"name": path.stem} | tree, path.parent


def _list_configuration_tables(tree: _Settings) -> list[_Settings]:
    """The configurations as they are written."""
    tables = tree.get("configuration", [{"base": tree["base"]}] if "base" in tree else [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables) or not tables:
        raise UserError("configuration must be a list of one or more: [[configuration]] begins each")
    return tables


def _draft_configuration(
    table: _Settings,
    beside: Path | None,
    below: _Settings,
    grid: _Settings,
    above: _Settings,
    rule: str | None,
) -> _RunDraft:
    """One configuration: its base, then the settings of the sweep, its own, the grid's and the options."""
    own = list_setting_leaves(strip_rule_file(table, beside), into_lists=False)
    values = {path: grid[key] for key in grid for path in key.split("+")}
    base = require_plain_type(str, own.pop("base", ""), "base")
    for path in (*below, *own, *values, *above):
        if path in OWN:
            raise UserError(f"{path} is the sweep's own: say {OWN[path]} in its file, or --seeds and --seed")
    target = base if beside is None else _locate_base(beside, base)
    return _RunDraft(own, grid, configure_run(target, below | own | values | above, rule))


def _locate_base(folder: Path, base: str) -> str:
    """The base that a sweep's file names: a file beside it, or a name; no code."""
    if Path(base).suffix == ".py":
        raise make_code_refusal(folder, base)
    near = folder / base
    with suppress(OSError, ValueError):  # a name that no system takes
        return str(near) if base and near.suffix and near.exists() else base
    return base


def _name_runs(drafts: list[_RunDraft]) -> list[Run]:
    """Every run with a name of its own: its base's, the grid's values, and its own settings if need be."""
    names = [_join_run_name(draft.run.name, draft.grid) for draft in drafts]
    own = [
        {} if "name" in draft.own or names.count(name) == 1 else draft.own
        for draft, name in zip(drafts, names, strict=True)
    ]
    return [
        replace(draft.run, name=_join_run_name(draft.run.name, more | draft.grid))
        for draft, more in zip(drafts, own, strict=True)
    ]


def _join_run_name(name: str, settings: _Settings) -> str:
    """`glass-39` and {"train.peak_rate": 0.01}: glass-39-peak_rate-0.01."""
    firsts = [key.partition("+")[0] for key in settings]
    lasts = [path.rpartition(".")[2] for path in firsts]
    short = lasts if len({*lasts}) == len(lasts) else firsts
    words = [name, *(f"{key}-{value}" for key, value in zip(short, settings.values(), strict=True))]
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in "-".join(words))


def _read_grid_table(tree: _Settings) -> dict[str, list[Any]]:
    """The grid of a file; each key has a list of values."""
    return list_setting_leaves(_require_settings_table(tree, "grid"), into_lists=False)


def _list_combinations(grid: Mapping[str, list[Any]], options: _Settings) -> list[_Settings]:
    """The combinations of a grid, the last key fastest; one without settings where there is no grid."""
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UserError(f"grid: {key} must have a list of values, but it has {values!r}")
        for path in key.split("+"):
            if path in options:
                raise UserError(f"{path} is in the grid, so --{path} cannot set it too")
    count = math.prod(len(values) for values in grid.values())
    require_value(
        count <= _MOST_COMBINATIONS, "the combinations of the grid", f"at most {_MOST_COMBINATIONS:,}", count
    )
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def parse_grid_options(texts: list[str]) -> dict[str, list[Any]]:
    """`--grid train.peak_rate=0.01,0.03`.

    >>> parse_grid_options(["train.peak_rate=0.01,0.03", "train.schedule=cosine,linear"])
    {'train.peak_rate': [0.01, 0.03], 'train.schedule': ['cosine', 'linear']}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        path, equals, values = text.partition("=")
        if not (path and equals and values):
            raise UserError(f"--grid must be KEY=V1,V2, as train.batch=64,256, but it is '{text}'")
        if path in grid:
            raise UserError(f"--grid has {path} twice; one list has all its values")
        whole_list = parse_value(f"[{values}]")
        split = [parse_value(word.strip()) for word in values.split(",")]
        grid[path] = whole_list if isinstance(whole_list, list) else split
    return grid


def _require_settings_table(tree: _Settings, key: str) -> _Settings:
    table = tree.get(key, {})
    if not isinstance(table, dict):
        raise UserError(f"{key} must be a table of settings, but it is {table!r}")
    return table


def _read_sweep_count(tree: _Settings, key: str, usual: int) -> int:
    number: int = require_plain_type(int, tree.get(key, usual), key)
    return number
