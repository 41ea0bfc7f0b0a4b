"""From a target on the command line to a model: a zoo id, a run folder or its name, or a weights file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError, make_unknown_error
from glassformer.models.adding import choose_sum_digits, write_sum
from glassformer.models.architecture import Architecture
from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model, check_params
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import describe_missing_settings, read_stored_run
from glassformer.runs.seal import require_unchanged
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition, Sequences, Task
from glassformer.tasks.addition import require_addition
from glassformer.zoo import ZOO
from glassformer.zoo.entry import ZooEntry

RUNS = Path("runs")
_NAMES = tuple(dict.fromkeys((*ZOO, *CONFIGURATIONS)))  # that have an architecture


@dataclass(frozen=True, eq=False)
class LoadedModel(Model):
    """A model with the task that it was made for, and where it came from."""

    task: Task
    data: Sequences
    origin: str

    def add(self, a: int, b: int) -> int | str:
        """The sum that an adder writes; a text where it writes tokens that are no digits."""
        return write_sum(self, self.addition, a, b, choose_sum_digits(self, self.addition, a, b)).got

    def with_digits(self, digits: int | None) -> "LoadedModel":
        """The same adder, or the same formulas, for numbers of another length; none: as it is."""
        if digits is None or digits == self.addition.digits:
            return self
        if self.formulas:
            other = self.formulas(digits)
            assert other.build  # formulas are for hand-built parameters
            return _load_entry(other, other.build(), self.origin)
        longer, task = lengthen_adder(self, self.addition, digits)
        return replace(self, architecture=longer.architecture, task=task)

    @property
    def formulas(self) -> Callable[[int], ZooEntry] | None:
        """What computes its parameters from the length of the numbers: some hand-built adders have it."""
        return ZOO[self.origin].at_length if self.origin in ZOO else None

    @property
    def folder(self) -> Path | None:
        """The run folder whose chosen model this is."""
        path = Path(self.origin)
        is_run = path.name == "params.safetensors" and (path.parent / "run.toml").exists()
        return path.parent if is_run else None

    @property
    def name(self) -> str:
        """What people call it: the run's name, the zoo's, or that of a file."""
        folder = self.folder
        return folder.resolve().name if folder else Path(self.origin).name.removesuffix(".safetensors")

    @property
    def addition(self) -> Addition:
        """The task of an adder; one sentence for any other model."""
        return require_addition(self.task, self.origin)


def load_model(target: str | Path, model: str | None = None) -> LoadedModel:
    """The model that a target names; `model` says the architecture of a file that does not say it itself."""
    path, name = Path(target), str(target)
    if path.suffix == ".safetensors":
        return load_weights_file(path, model)
    if model is not None:
        raise UserError(f"--model is for .safetensors files; {name} says its own architecture")
    if name in ZOO and (found := load_zoo_model(name)):
        return found
    for folder in (path, RUNS / path):
        if (folder / "run.toml").exists():
            return load_run(folder)
    raise _make_missing_error(path)


def _make_missing_error(path: Path) -> UserError:
    """Why a target names no model."""
    name = str(path)
    if path.is_dir():
        return UserError(
            describe_missing_settings(path) or f"{name} holds no run (there is no run.toml in it)"
        )
    if path.is_file():
        return UserError(f"{name} is neither a run folder nor a .safetensors file")
    if name in ZOO:
        return UserError(f"'{name}' has no weights here yet: glassformer run {name}")
    if name in CONFIGURATIONS:
        return UserError(f"'{name}' was not trained here yet: glassformer run {name}")
    return make_unknown_error("model, run or weights file", name, _NAMES, "glassformer list")


def load_zoo_model(name: str) -> LoadedModel | None:
    """A model that comes with the package, where its weights do."""
    entry = ZOO[name]
    if entry.build:
        return _load_entry(entry, entry.build(), name)
    return _load_entry(entry, read_arrays(entry.weights)[0], name) if entry.weights else None


def _load_entry(entry: ZooEntry, params: Mapping[str, np.ndarray], name: str) -> LoadedModel:
    return make_loaded_model(Run(task=entry.task, model=entry.architecture), params, name)


def load_run(folder: Path) -> LoadedModel:
    for name in ("run.toml", "params.safetensors"):
        require_unchanged(folder / name)
    if not (folder / "params.safetensors").exists():
        raise UserError(
            f"{folder} is not finished; glassformer run {folder / 'run.toml'} --out {folder} resumes it"
        )
    read_stored_run(folder)  # a configuration that cannot be read is said before the weights are
    return load_weights_file(folder / "params.safetensors")


def make_file_metadata(task: Task, data: Sequences, model: Architecture) -> dict[str, Any]:
    """What a weights file says of itself, so that `load_weights_file` needs nothing else."""
    return {"format": 1, "task": to_tree(task), "data": to_tree(data), "model": to_tree(model)}


def load_weights_file(path: Path, model: str | None = None) -> LoadedModel:
    """Weights with their architecture and task in the metadata, or as the named model has them."""
    params, about = read_arrays(path)
    if model is not None:
        return make_loaded_model(_find_named_run(model), params, str(path))
    if not {"model", "task"} <= set(about):
        raise UserError(
            f"{path} does not say its architecture and task in its metadata; --model ID says which it has"
        )
    run = from_tree(Run, {"task": about["task"], "data": about.get("data", {}), "model": about["model"]}, "")
    return make_loaded_model(run, params, str(path))


def _find_named_run(name: str) -> Run:
    """Task and architecture of a zoo entry or a configuration."""
    if name in ZOO:
        return Run(task=ZOO[name].task, model=ZOO[name].architecture)
    if name in CONFIGURATIONS:
        return CONFIGURATIONS[name]
    raise make_unknown_error("model", name, _NAMES, "glassformer list models")


def make_loaded_model(run: Run, params: Mapping[str, np.ndarray], origin: str) -> LoadedModel:
    """The weights in the architecture's precision; what does not fit is said, with where it came from."""
    try:
        check_params(run.architecture, params)
        with np.errstate(
            over="ignore"
        ):  # a number too large for the precision becomes infinite: refused below
            cast = {name: np.asarray(array, run.architecture.precision) for name, array in params.items()}
        return LoadedModel(run.architecture, cast, run.task, run.data, origin)
    except UserError as error:
        raise UserError(f"{origin}: {error}") from None
