"""Training into a folder: after every stretch the folder holds all that is needed to resume, bit for bit.

The order of writing makes it safe to be killed at any moment: checkpoint, metrics, then the state. What was
written after the last state is made again, with the same bytes, since every draw depends on seed and step
alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from glassformer.core.atomic import make_folder, read_arrays, write_arrays
from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.runs.config import Run
from glassformer.runs.load import make_file_metadata
from glassformer.runs.metrics import Row, read_metrics, write_metrics
from glassformer.runs.start import read_start_parameters, refuse_margins
from glassformer.tasks import Task
from glassformer.training.objective import HeldOutScores
from glassformer.training.population import Population, StretchResult, TrainingState
from glassformer.training.settings import TrainSettings

HISTORY_BYTES = 2_000_000  # larger histories are thinned, first and last checkpoint kept
_Progress = Callable[[int, list[Row]], None]  # step reached, the latest rows
Miner = Callable[[Run, dict[str, np.ndarray]], np.ndarray]  # from models, stacked, to problems `pos batch`


class TrainedPopulation(NamedTuple):
    """The chosen model of a finished population."""

    model: Model
    best_seed: int
    rows: list[Row]  # every evaluation of every seed
    everyone: dict[str, np.ndarray]  # the parameters of every seed, and `seed`


def train_into_folder(
    folder: Path, run: Run, progress: _Progress, miner: Miner | None = None
) -> TrainedPopulation:
    """Start or resume, to the end; then write the chosen model, its history and the population.

    `miner` finds problems that a model gets wrong, or nearly; it is asked once a round of mining.
    """
    refuse_margins(run)
    seeds = run.train.first_seed + np.arange(run.train.seeds)
    source = run.task.sampler(run.data, run.model.context)
    population = Population(run.architecture, source, run.train, seeds)
    state, done, rows = _restore_training(folder, run, population)
    progress(done, rows[-len(seeds) :])
    for first, steps in run.train.chunks():
        if first + steps <= done:
            continue
        stretch = population.advance(state, first, steps)
        state, rows = _keep_stretch(folder, population, stretch, first + steps, rows)
        progress(first + steps, rows[-len(seeds) :])
    if run.train.is_polished and done <= run.train.steps:
        stretch = _polish_best_seeds(run, population, state, rows)
        state, rows = _keep_stretch(folder, population, stretch, run.train.steps + 1, rows)
    for step in _list_mining_steps(run.train):
        if miner and done < step:
            stretch = _polish_best_seeds(run, population, state, rows, miner)
            state, rows = _keep_stretch(folder, population, stretch, step, rows)
    return _finish_training(folder, run, population, state, rows)


def _list_mining_steps(train: TrainSettings) -> list[int]:
    """Each round of mining counts as one more step, after that of the polish."""
    return [train.steps + 2 + number for number in range(train.mine)]


def _polish_best_seeds(
    run: Run, population: Population, state: TrainingState, rows: list[Row], miner: Miner | None = None
) -> StretchResult:
    """The best seeds polished, the others as they were; one row per seed."""
    last = rows[-len(population.seeds) :]
    places = np.array(rank_seeds(last, run.task)[: run.train.polish_seeds])
    everyone = population.flat.unpack(np.asarray(state.vectors)[places])
    new = population.polished(state, places, miner(run, everyone) if miner else None)

    def column(name: str, found: Any) -> Any:
        return _replace_rows(np.array([row[name] for row in last]), places, found)

    return StretchResult(
        TrainingState(
            *jax.tree.map(
                lambda old, found: _replace_rows(old, places, found), tuple(state), tuple(new.state)
            )
        ),
        column("train_loss", new.train_loss),
        HeldOutScores(**{name: column(name, found) for name, found in new.scores._asdict().items()}),
    )


def _replace_rows(old: np.ndarray, places: np.ndarray, new: np.ndarray) -> np.ndarray:
    """A copy with other rows at those indices."""
    result = np.array(old)
    result[places] = new
    return result


def _restore_training(folder: Path, run: Run, population: Population) -> tuple[TrainingState, int, list[Row]]:
    """The last state of an interrupted run, or a new beginning."""
    fresh = start_population(run, population)
    if not (folder / "state.safetensors").exists():
        _save_checkpoint(folder, population, fresh, 0)
        return fresh, 0, []
    arrays, about = read_arrays(folder / "state.safetensors")
    leaves, shape = jax.tree.flatten(fresh)
    names = [f"leaf.{i}" for i in range(len(leaves))]
    fits = set(names) == set(arrays) and all(
        (arrays[name].shape, arrays[name].dtype) == (leaf.shape, leaf.dtype)
        for name, leaf in zip(names, leaves, strict=True)
    )
    if not fits or about.get("step") not in _list_evaluation_steps(population.train):
        raise UserError(f"{folder / 'state.safetensors'} is of another run; --overwrite starts over")
    state: TrainingState = jax.tree.unflatten(shape, [arrays[name] for name in names])
    return state, about["step"], _read_rows_until(folder, population, about["step"])


def start_population(run: Run, population: Population) -> TrainingState:
    """First values by their laws, or from a file with each seed's own noise."""
    state, train = population.start(), population.train
    if not train.start_from:
        return state
    start = population.flat.pack(read_start_parameters(run))
    draws = [np.random.default_rng(int(seed)).normal(size=len(start)) for seed in population.seeds]
    vectors = start * (1 + train.start_noise * np.array(draws))
    return TrainingState(jnp.asarray(vectors.astype(start.dtype)), state.optimiser)


def _list_evaluation_steps(train: TrainSettings) -> list[int]:
    """The steps after which a state is kept; the polish counts as one more step."""
    polish = [train.steps + 1] * train.is_polished
    return [first + steps for first, steps in train.chunks()] + polish + _list_mining_steps(train)


def _read_rows_until(folder: Path, population: Population, step: int) -> list[Row]:
    """The metrics of an interrupted run; those behind its last state are made again."""
    rows = [row for row in read_metrics(folder) if row["step"] <= step]
    done = [number for number in _list_evaluation_steps(population.train) if number <= step]
    if [(row["step"], row["seed"]) for row in rows] != [(n, seed) for n in done for seed in population.seeds]:
        raise UserError(f"{folder / 'metrics.csv'} is damaged (rows are missing); --overwrite starts over")
    return rows


def _keep_stretch(
    folder: Path, population: Population, stretch: StretchResult, step: int, rows: list[Row]
) -> tuple[TrainingState, list[Row]]:
    """Write what a stretch has brought; the state comes last."""
    rows = rows + _make_metric_rows(population, stretch, step)
    _save_checkpoint(folder, population, stretch.state, step)
    write_metrics(folder, rows)
    leaves = jax.tree.leaves(stretch.state)
    write_arrays(
        folder / "state.safetensors", {f"leaf.{i}": leaf for i, leaf in enumerate(leaves)}, {"step": step}
    )
    return stretch.state, rows


def _make_metric_rows(population: Population, stretch: StretchResult, step: int) -> list[Row]:
    measures = {"train_loss": stretch.train_loss} | stretch.scores._asdict()
    return [
        {"step": step, "seed": int(seed)} | {name: float(values[i]) for name, values in measures.items()}
        for i, seed in enumerate(population.seeds)
    ]


def _save_checkpoint(folder: Path, population: Population, state: TrainingState, step: int) -> None:
    make_folder(folder / "checkpoints")
    path = folder / "checkpoints" / f"{step:09d}.safetensors"
    write_arrays(path, {"vectors": np.asarray(state.vectors)}, {"step": step})


def _finish_training(
    folder: Path, run: Run, population: Population, state: TrainingState, rows: list[Row]
) -> TrainedPopulation:
    """Choose on the held-out windows; write the chosen model last."""
    best = rank_seeds(rows[-len(population.seeds) :], run.task)[0]
    params = {
        name: np.asarray(array)
        for name, array in sorted(population.flat.unpack(np.asarray(state.vectors)[best]).items())
    }  # in the order in which the file has them, so that a run that was broken off draws the same
    about = make_file_metadata(run.task, run.data, run.architecture)
    about["seed"] = int(population.seeds[best])
    everyone = population.flat.unpack(np.asarray(state.vectors)) | {"seed": population.seeds}
    write_arrays(folder / "population.safetensors", everyone, about)
    _write_history(folder, population, best, about)
    write_arrays(folder / "params.safetensors", params, about)
    return TrainedPopulation(Model(run.architecture, params), about["seed"], rows, everyone)


def rank_seeds(last: list[Row], task: Task) -> list[int]:
    """The indices of the seeds, best first, without those whose parameters are no longer finite."""
    alive = [place for place, row in enumerate(last) if np.isfinite(row["loss"])]
    if not alive:
        raise UserError("every seed diverged; try a lower train.peak_rate, with --overwrite")
    return sorted(alive, key=lambda place: (*(-last[place][name] for name in task.best_by), place))


def _write_history(folder: Path, population: Population, best: int, about: Mapping[str, object]) -> None:
    """Every checkpoint of the chosen seed, stacked by name."""
    paths = sorted((folder / "checkpoints").glob("*.safetensors"))
    most = max(2, HISTORY_BYTES // (population.flat.size * np.dtype(population.model.precision).itemsize))
    if len(paths) > most:
        paths = [paths[i] for i in np.linspace(0, len(paths) - 1, most).round().astype(int)]
    if not paths:
        return
    files = [read_arrays(path) for path in paths]
    stacked = population.flat.unpack(np.stack([arrays["vectors"][best] for arrays, _ in files]))
    steps = np.array([said["step"] for _, said in files])
    write_arrays(folder / "history.safetensors", stacked | {"step": steps}, about)
