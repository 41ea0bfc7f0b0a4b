"""From a target on the command line to a model: a run folder, a weights file, or a configuration's name."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glassformer.errors import UserError, unknown
from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.runs.atomic import read_arrays
from glassformer.runs.config import Run, Task
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import stored
from glassformer.runs.resolve import resolve
from glassformer.runs.tree import from_tree
from glassformer.tasks import Sequences

RUNS = Path("runs")


@dataclass(frozen=True, eq=False)
class Loaded(Model):
    """A model with the task that it was made for, and where it came from."""

    task: Task
    data: Sequences
    origin: str


def load(target: str | Path) -> Loaded:
    """The model that a target names; a name alone means its run under runs/."""
    path = Path(target)
    if path.suffix == ".safetensors":
        return load_file(path)
    for folder in (path, RUNS / path):
        if (folder / "run.toml").exists():
            return load_run(folder)
    if path.is_dir():
        raise UserError(f"{path} holds no run (there is no run.toml in it)")
    if str(target) in CONFIGURATIONS:
        raise UserError(f"'{target}' was not trained here yet: glassformer run {target}")
    raise unknown("run, weights file or configuration", str(target), CONFIGURATIONS, "glassformer list")


def load_run(folder: Path) -> Loaded:
    if not (folder / "params.safetensors").exists():
        raise UserError(
            f"{folder} is not finished; glassformer run {folder / 'run.toml'} --out {folder} goes on with it"
        )
    stored(folder)  # a rule of the user's own is registered by this
    return load_file(folder / "params.safetensors")


def load_file(path: Path) -> Loaded:
    """Weights with their architecture and task in the metadata."""
    params, about = read_arrays(path)
    if not {"model", "task"} <= set(about):
        raise UserError(f"{path} does not say its architecture and task in its metadata")
    run = from_tree(Run, {"task": about["task"], "data": about.get("data", {}), "model": about["model"]}, "")
    return Loaded(run.architecture, params, run.task, run.data, str(path))


def untrained(target: str) -> tuple[Architecture, dict[str, np.ndarray], Task]:
    """A configuration with the first values of its first seed: enough to count by."""
    from glassformer.train.data import stream
    from glassformer.train.flat import first_values, flat_of

    run = resolve(target)
    vector = np.asarray(first_values(run.architecture, stream(run.train.first_seed, "start")))
    return run.architecture, flat_of(run.architecture).unpack(vector), run.task
