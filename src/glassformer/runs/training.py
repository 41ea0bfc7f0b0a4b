"""Training into a folder: after every stretch the folder holds all that is needed to go on, bit for bit.

The order of writing makes it safe to be killed at any moment: checkpoint, metrics, then the state. What was
written after the last state is made again, with the same bytes, since every draw depends on seed and step
alone.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.runs.atomic import make_folder, read_arrays, write_arrays
from glassformer.runs.config import Run
from glassformer.runs.metrics import Row, read_metrics, write_metrics
from glassformer.runs.start import read_start, refuse_margins
from glassformer.runs.tree import to_tree
from glassformer.tasks import Task
from glassformer.train.objective import Scores
from glassformer.train.population import Population, State, Stretch
from glassformer.train.settings import Train

HISTORY_BYTES = 2_000_000  # larger histories are thinned, first and last checkpoint kept
Progress = Callable[[int, list[Row]], None]  # step reached, the latest rows
Miner = Callable[[Run, dict[str, np.ndarray]], np.ndarray]  # from models, stacked, to problems `pos batch`


class Trained(NamedTuple):
    """The chosen model of a finished population."""

    model: Model
    best_seed: int
    rows: list[Row]  # every evaluation of every seed
    everyone: dict[str, np.ndarray]  # the parameters of every seed, and `seed`


def train_into(folder: Path, run: Run, progress: Progress, miner: Miner | None = None) -> Trained:
    """Start or go on, to the end; then write the chosen model, its history and the population.

    `miner` finds problems that a model gets wrong, or nearly; it is asked once a round of mining.
    """
    refuse_margins(run)
    seeds = run.train.first_seed + np.arange(run.train.seeds)
    source = run.task.sampler(run.data, run.model.context)
    population = Population(run.architecture, source, run.train, seeds)
    state, done, rows = restore(folder, run, population)
    progress(done, rows[-len(seeds) :])
    for first, steps in run.train.chunks():
        if first + steps <= done:
            continue
        stretch = population.advance(state, first, steps)
        state, rows = keep(folder, population, stretch, first + steps, rows)
        progress(first + steps, rows[-len(seeds) :])
    if run.train.is_polished and done <= run.train.steps:
        stretch = polish_best(run, population, state, rows)
        state, rows = keep(folder, population, stretch, run.train.steps + 1, rows)
    for step in mining_steps(run.train):
        if miner and done < step:
            stretch = polish_best(run, population, state, rows, miner)
            state, rows = keep(folder, population, stretch, step, rows)
    return finish(folder, run, population, state, rows)


def mining_steps(train: Train) -> list[int]:
    """Each round of mining counts as one more step, after that of the polish."""
    return [train.steps + 2 + number for number in range(train.mine)]


def polish_best(
    run: Run, population: Population, state: State, rows: list[Row], miner: Miner | None = None
) -> Stretch:
    """The best seeds polished, the others as they were; one row a seed."""
    last = rows[-len(population.seeds) :]
    places = np.array(ranking(last, run.task)[: run.train.polish_seeds])
    everyone = population.flat.unpack(np.asarray(state.vectors)[places])
    new = population.polished(state, places, miner(run, everyone) if miner else None)

    def column(name: str, found: Any) -> Any:
        return replaced(np.array([row[name] for row in last]), places, found)

    return Stretch(
        State(*jax.tree.map(lambda old, found: replaced(old, places, found), tuple(state), tuple(new.state))),
        column("train_loss", new.train_loss),
        Scores(**{name: column(name, found) for name, found in new.scores._asdict().items()}),
    )


def replaced(old: np.ndarray, places: np.ndarray, new: np.ndarray) -> np.ndarray:
    """A copy with other rows at those places."""
    result = np.array(old)
    result[places] = new
    return result


def restore(folder: Path, run: Run, population: Population) -> tuple[State, int, list[Row]]:
    """The last state of an interrupted run, or a new beginning."""
    fresh = first_state(run, population)
    if not (folder / "state.safetensors").exists():
        save_checkpoint(folder, population, fresh, 0)
        return fresh, 0, []
    arrays, about = read_arrays(folder / "state.safetensors")
    leaves, shape = jax.tree.flatten(fresh)
    names = [f"leaf.{i}" for i in range(len(leaves))]
    fits = set(names) == set(arrays) and all(
        (arrays[name].shape, arrays[name].dtype) == (leaf.shape, leaf.dtype)
        for name, leaf in zip(names, leaves, strict=True)
    )
    if not fits or about.get("step") not in evaluations(population.train):
        raise UserError(f"{folder / 'state.safetensors'} is of another run; --overwrite starts anew")
    state: State = jax.tree.unflatten(shape, [arrays[name] for name in names])
    return state, about["step"], rows_until(folder, population, about["step"])


def first_state(run: Run, population: Population) -> State:
    """First values by their laws, or from a file with each seed's own noise."""
    state, train = population.start(), population.train
    if not train.start_from:
        return state
    start = population.flat.pack(read_start(run))
    draws = [np.random.default_rng(int(seed)).normal(size=len(start)) for seed in population.seeds]
    vectors = start * (1 + train.start_noise * np.array(draws))
    return State(jnp.asarray(vectors.astype(start.dtype)), state.optimiser)


def evaluations(train: Train) -> list[int]:
    """The steps after which a state is kept; the polish counts as one more step."""
    polish = [train.steps + 1] * train.is_polished
    return [first + steps for first, steps in train.chunks()] + polish + mining_steps(train)


def rows_until(folder: Path, population: Population, step: int) -> list[Row]:
    """The metrics of an interrupted run; those behind its last state are made again."""
    rows = [row for row in read_metrics(folder) if row["step"] <= step]
    done = [number for number in evaluations(population.train) if number <= step]
    if [(row["step"], row["seed"]) for row in rows] != [(n, seed) for n in done for seed in population.seeds]:
        raise UserError(f"{folder / 'metrics.csv'} is damaged (rows are missing); --overwrite starts anew")
    return rows


def keep(
    folder: Path, population: Population, stretch: Stretch, step: int, rows: list[Row]
) -> tuple[State, list[Row]]:
    """Write what a stretch has brought; the state comes last."""
    rows = rows + new_rows(population, stretch, step)
    save_checkpoint(folder, population, stretch.state, step)
    write_metrics(folder, rows)
    leaves = jax.tree.leaves(stretch.state)
    write_arrays(
        folder / "state.safetensors", {f"leaf.{i}": leaf for i, leaf in enumerate(leaves)}, {"step": step}
    )
    return stretch.state, rows


def new_rows(population: Population, stretch: Stretch, step: int) -> list[Row]:
    measures = {"train_loss": stretch.train_loss} | stretch.scores._asdict()
    return [
        {"step": step, "seed": int(seed)} | {name: float(values[i]) for name, values in measures.items()}
        for i, seed in enumerate(population.seeds)
    ]


def save_checkpoint(folder: Path, population: Population, state: State, step: int) -> None:
    make_folder(folder / "checkpoints")
    path = folder / "checkpoints" / f"{step:09d}.safetensors"
    write_arrays(path, {"vectors": np.asarray(state.vectors)}, {"step": step})


def finish(folder: Path, run: Run, population: Population, state: State, rows: list[Row]) -> Trained:
    """Choose on the held-out windows; write the chosen model last."""
    best = ranking(rows[-len(population.seeds) :], run.task)[0]
    params = {
        name: np.asarray(array)
        for name, array in sorted(population.flat.unpack(np.asarray(state.vectors)[best]).items())
    }  # in the order in which the file has them, so that a run that was broken off draws the same
    about = {
        "format": 1,
        "task": to_tree(run.task),
        "data": to_tree(run.data),
        "model": to_tree(run.architecture),
    }
    about["seed"] = int(population.seeds[best])
    everyone = population.flat.unpack(np.asarray(state.vectors)) | {"seed": population.seeds}
    write_arrays(folder / "population.safetensors", everyone, about)
    write_history(folder, population, best, about)
    write_arrays(folder / "params.safetensors", params, about)
    return Trained(Model(run.architecture, params), about["seed"], rows, everyone)


def ranking(last: list[Row], task: Task) -> list[int]:
    """The places of the seeds, best first; those whose numbers are no longer finite are out."""
    alive = [place for place, row in enumerate(last) if np.isfinite(row["loss"])]
    if not alive:
        raise UserError("every seed diverged; try a lower train.peak_rate, with --overwrite")
    return sorted(alive, key=lambda place: (*(-last[place][name] for name in task.best_by), place))


def write_history(folder: Path, population: Population, best: int, about: dict[str, Any]) -> None:
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
