"""The stages of `glassformer run`, in their order: train, measure, prove, draw, page.

What a stage has made is handed to the next one in memory. A stage whose work is in the folder already, since
a run was stopped or a command was given again, leaves it as it is.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.commands.prove import CERTIFICATE
from glassformer.commands.run_result import RunResult, read_result
from glassformer.errors import UserError
from glassformer.model.forward import parameters
from glassformer.proof.prove import not_provable, prove_model
from glassformer.proof.verdict import Verdict
from glassformer.runs.atomic import locked, read_arrays
from glassformer.runs.config import Run
from glassformer.runs.folder import is_complete, tidy
from glassformer.runs.load import Loaded, load_run
from glassformer.runs.metrics import Row
from glassformer.runs.seal import find_damaged, is_sealed, require_unchanged, require_whole, sealing

POPULATION = "population.safetensors"


@dataclass(frozen=True, eq=False)
class Kept:
    """The model that a run keeps, and the population that it was chosen from."""

    folder: Path
    config: Run
    model: Loaded
    best_seed: int
    last: list[Row]  # the last evaluation of every seed
    everyone: Mapping[str, np.ndarray]  # the parameters of every seed, and `seed`
    speed: float | None = None  # model-steps per second
    result: RunResult | None = None  # of a run that was finished before


def train_model(folder: Path, config: Run, show: bool) -> Kept:
    """Train the population, or go on with it, and keep its best model; a finished run is read."""
    if is_complete(folder):
        return reopen_run(folder, config)
    from glassformer.commands.progress import TrainingBar
    from glassformer.runs.training import train_into

    with TrainingBar(config, show) as bar:
        trained = train_into(folder, config, bar.update, find_miner(config))
        speed = bar.model_steps_per_second()
    origin, params = str(folder / "params.safetensors"), trained.model.params
    model = Loaded(config.architecture, params, config.task, config.data, origin)
    last = trained.rows[-config.train.seeds :]
    return Kept(folder, config, model, trained.best_seed, last, trained.everyone, speed)


def reopen_run(folder: Path, config: Run) -> Kept:
    """A run that is complete and whole."""
    from glassformer.runs.metrics import read_metrics

    require_whole(folder)
    model, result = load_run(folder), read_result(folder)
    tidy(folder, config.train.keep_checkpoints)
    if result.proof:  # nothing but figures and page may be missing, which need no other seed
        return Kept(folder, config, model, result.best_seed, [], {}, result=result)
    require_unchanged(folder / POPULATION)
    last = read_metrics(folder)[-config.train.seeds :]
    everyone, _ = read_arrays(folder / POPULATION)
    return Kept(folder, config, model, result.best_seed, last, everyone, None, result)


def find_miner(config: Run) -> Any:
    """What finds hard examples, where they are asked for."""
    if not config.train.mine:
        return None
    from glassformer.proof.mining import mine

    return mine


def measure_model(kept: Kept) -> RunResult:
    """The task's own measures, on fresh inputs; those of a finished run are known."""
    if kept.result:
        return kept.result
    from glassformer.verify.families import measurer_of

    config, wanted = kept.config, kept.config.measure
    find = measurer_of(config.task).measure
    measures = find(kept.model, config.task, config.data, wanted.positions, wanted.generated)
    return RunResult(
        folder=str(kept.folder),
        seconds=0.0,
        seeds=config.train.seeds,
        best_seed=kept.best_seed,
        argmax_accuracy=measures["argmax_accuracy"],
        loss=measures.get("loss", find_loss(kept)),
        model_steps_per_second=kept.speed,
        verdict=None,
        parameters=sum(one.free for one in parameters(config.architecture).values()),
        sampled_error=measures.get("sampled_error", {}).get("value"),
        entropy_floor=measures.get("entropy_floor"),
        measures=measures | count_successes(kept.last),
    )


def find_loss(kept: Kept) -> float:
    """The kept seed's loss on the held-out windows."""
    return next(row["loss"] for row in kept.last if row["seed"] == kept.best_seed)


def count_successes(last: list[Row]) -> dict[str, int]:
    """How many seeds are nearly right on the held-out windows, position by position, and how many wholly."""
    return {
        "seeds_at_999": sum(row["argmax_accuracy"] >= 0.999 for row in last),
        "seeds_right": sum(row["whole_accuracy"] == 1 for row in last),
    }


def prove_kept(kept: Kept, result: RunResult) -> RunResult:
    """The result with the kept model's verdict, and with how many seeds are proved."""
    if result.proof:
        return result
    proof = prove_one(kept)
    measures = (result.measures or {}) | prove_seeds(kept, proof.verdict)
    return replace(result, verdict=proof.verdict, proof=proof.content(), measures=measures)


def prove_one(kept: Kept) -> Verdict:
    """The kept model, with its certificate in the folder."""
    config, origin = kept.config, str(kept.folder)
    path, seconds = kept.folder / CERTIFICATE, config.prove.seconds
    try:
        return prove_model(kept.model, config.task, config.data, origin, False, seconds, path)
    except UserError as error:  # a model that diverged is a result too
        return not_provable(origin, kept.model, config.task, str(error))


def prove_seeds(kept: Kept, verdict: str) -> dict[str, Any]:
    """How many seeds are right on every input; only those can be that miss nothing held out.

    The kept one has its verdict already, for which it had more time than a seed has.
    """
    config = kept.config
    if not config.task.proves_seeds:
        return {}
    from glassformer.proof.population import prove_population

    rows = [place for place, row in enumerate(kept.last) if row["whole_accuracy"] == 1][: config.prove.seeds]
    chosen = {name: array[rows] for name, array in kept.everyone.items() if name != "seed"}
    seeds = [int(kept.everyone["seed"][row]) for row in rows]
    proofs = prove_population(config.architecture, chosen, seeds, config.task)
    found: dict[int, str] = {proof.seed: proof.verdict for proof in proofs}
    if kept.best_seed in found and verdict == "proved":
        found[kept.best_seed] = verdict
    proved = [seed for seed, outcome in found.items() if outcome == "proved"]
    return {"seeds_tried": len(rows), "seeds_proved": len(proved), "proved_seeds": proved}


def draw_figures(folder: Path, config: Run, model: Loaded, show: bool) -> None:
    """The figures of a finished run that are not there yet; a figure's data are written after it.

    The captions come last: without them, or without their seal, a process was killed before its end.
    """
    if config.draw.figures == "none":
        return
    from glassformer.commands.draw import FIGURES, Wish, draw_model, every_picture, wanted_pictures
    from glassformer.draw.save import CAPTIONS, write_captions

    asked = () if config.draw.figures == "all" else tuple(config.draw.figures.split(","))
    pictures = wanted_pictures(model, asked) if asked else every_picture(model)
    there = {path.stem for path in (folder / FIGURES / "data").glob("*.safetensors")}
    damaged = {Path(name).stem for name in find_damaged(folder)}
    is_there = {one.id: one.id in there and not damaged & {one.id, Path(one.file).name} for one in pictures}
    if only := tuple(name for name, is_drawn in is_there.items() if not is_drawn):
        wish = Wish(only=only, formats=tuple(config.draw.format.split(",")), theme=config.draw.theme)
        draw_model(model, folder, wish, folder / FIGURES, show)
    elif not is_sealed(folder, f"{FIGURES}/{CAPTIONS}"):
        with locked(folder / FIGURES), sealing(folder, folder / FIGURES):
            write_captions(folder / FIGURES, [one.id for one in every_picture(model)])


def make_page(folder: Path, config: Run, model: Loaded) -> None:
    """The page of a finished run, where it is not there yet; the run is whole without it."""
    from glassformer.commands.page import PAGE, is_stale, write_page

    if not config.draw.page or not is_stale(folder):
        return
    try:
        write_page(model, folder, folder / PAGE, config.prove.seconds)
    except Exception as error:  # whatever a page cannot show: the run is what counts
        print(f"glassformer: {folder / PAGE} was not written: {error}", file=sys.stderr)
