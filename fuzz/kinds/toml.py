"""Configurations of runs and sweeps, as TOML files."""

import tomllib
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds.kind import Kind
from fuzz.kinds.runs import MODEL_NEEDS, configuration_trees, run_files, seal_rule, shorten_counts
from fuzz.kinds.warming import warm_models
from fuzz.mutate.bytes import mutate_bytes
from fuzz.mutate.text import write_toml
from fuzz.mutate.tree import mutate_tree
from fuzz.place import Place

RULE = "from pathlib import Path\nPath({marker!r}).touch()\n"
PARTIAL = (
    {"base": "lucky7", "train": {"steps": 100, "peak_rate": 0.01}},
    {"base": "glass-39", "model": {"precision": "float64"}},
    {"base": "base.toml", "task": {"name": "step_back"}},
    {"base": "a.toml"},
    {"name": "mine", "rule_file": "rule.py", "task": {"name": "mine"}},
    {"base": "rule.py"},
)
SWEEPS = (
    {"base": "lucky7", "seeds": 2, "grid": {"train.peak_rate": [0.01, 0.03], "train.steps": [10, 20]}},
    {
        "name": "s",
        "block": 4,
        "settings": {"train": {"steps": 5}},
        "configuration": [{"base": "glass-8"}, {"base": "lucky7"}],
    },
    {
        "configuration": [{"base": "base.toml", "train.warm_up": 5}],
        "grid": {"train.steps+train.warm_up": [500, 1000]},
    },
    {"configuration": [{"base": "rule.py"}], "first_seed": 3},
)


def prepare(folder: Path) -> dict[str, list[Any]]:
    """Trees of runs and of sweeps."""
    shorten_counts()
    stored = [tomllib.loads(files["run.toml"].decode()) for files in run_files().values()]
    return {"run": [*configuration_trees(), *stored, *PARTIAL], "sweep": [*SWEEPS]}


def attempt(random: Random, inputs: dict[str, list[Any]], place: Place) -> int | None:
    """A damaged file, resolved as `run`, `sweep` or `count` would."""
    is_sweep = random.random() < 0.35
    tree = random.choice(inputs["sweep" if is_sweep else "run"])
    changed = mutate_tree(tree, random, inputs["run"] + inputs["sweep"])
    content = write_toml(seal_rule(changed) if random.random() < 0.7 else changed)
    if random.random() < 0.2:
        content = mutate_bytes(write_toml(tree), random)
    path = place.folder / "a.toml"
    path.write_bytes(content)
    (place.folder / "rule.py").write_text(RULE.format(marker=str(place.marker)))
    (place.folder / "base.toml").write_text('base = "plus_last_even"\n')
    return use(path, is_sweep, random)


def use(path: Path, is_sweep: bool, random: Random) -> int | None:
    from glassformer.cli.program import main
    from glassformer.runs.resolve import resolve_run
    from glassformer.sweeps.reading import make_sweep

    chosen = random.random()
    if chosen < 0.01:
        return main(["sweep", path.name, "--plan", "--quiet", "--json", "--out", "swept"])
    if chosen < 0.02:
        return main(["count", path.name, "--json"])
    if is_sweep:
        make_sweep(path.name)
    else:
        resolve_run(path.name)
    return None


KIND = Kind(share=180, needs=MODEL_NEEDS, prepare=prepare, attempt=attempt, warm=warm_models)
