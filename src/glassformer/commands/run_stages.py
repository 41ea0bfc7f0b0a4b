"""The stages of `glassformer run`, in their order: train, measure, prove, draw, page.

What a stage has made is handed to the next one in memory. A stage whose work is in the folder already, since
a run was stopped or a command was given again, leaves it as it is.
"""

import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.commands.prove import CERTIFICATE
from glassformer.commands.run_result import RunResult, read_result, write_result
from glassformer.core.atomic import lock_folder, read_arrays
from glassformer.core.errors import UserError
from glassformer.models.forward import list_parameters
from glassformer.proofs.prove import make_unprovable_verdict, prove_model
from glassformer.proofs.verdict import Verdict
from glassformer.runs.budget import estimate_run_cost, require_affordable
from glassformer.runs.config import Run
from glassformer.runs.folder import is_complete, tidy_run_folder
from glassformer.runs.load import LoadedModel, load_run
from glassformer.runs.metrics import Row
from glassformer.runs.seal import (
    find_damaged,
    is_sealed,
    replace_sealed_files,
    require_unchanged,
    require_whole_run,
    seal_written_files,
)

_POPULATION = "population.safetensors"


@dataclass(frozen=True, eq=False)
class KeptModel:
    """The model that a run keeps, and the population that it was chosen from."""

    folder: Path
    config: Run
    model: LoadedModel
    best_seed: int
    last: list[Row]  # the last evaluation of every seed
    everyone: Mapping[str, np.ndarray]  # the parameters of every seed, and `seed`
    speed: float | None = None  # model-steps per second
    result: RunResult | None = None  # of a run that was finished before


def require_possible_run(config: Run, folder: Path, no_limit: bool) -> None:
    """Refuse before anything is made what cannot start, or needs more than this machine has."""
    from glassformer.runs.start import require_startable
    from glassformer.training.setup import set_up_jax

    require_startable(config)
    set_up_jax(config.train.device, config.model.precision)
    from glassformer.training.kernels import uses_gpu

    require_affordable(estimate_run_cost(config, uses_gpu(config.train)), folder, "this run", no_limit)


def train_model(folder: Path, config: Run, show: bool) -> KeptModel:
    """Train the population, or resume it, and keep its best model; a finished run is read."""
    if is_complete(folder):
        return _reopen_run(folder, config)
    from glassformer.commands.progress import TrainingBar
    from glassformer.runs.training import train_into_folder

    with TrainingBar(config, show) as bar:
        trained = train_into_folder(folder, config, bar.update, _find_miner(config))
        speed = bar.model_steps_per_second()
    origin, params = str(folder / "params.safetensors"), trained.model.params
    model = LoadedModel(config.architecture, params, config.task, config.data, origin)
    last = trained.rows[-config.train.seeds :]
    return KeptModel(folder, config, model, trained.best_seed, last, trained.everyone, speed)


def _reopen_run(folder: Path, config: Run) -> KeptModel:
    """A run that is complete and whole."""
    from glassformer.runs.metrics import read_metrics

    require_whole_run(folder)
    model, result = load_run(folder), read_result(folder)
    tidy_run_folder(folder, config.train.keep_checkpoints)
    if result.proof:  # nothing but figures and page may be missing, which need no other seed
        return KeptModel(folder, config, model, result.best_seed, [], {}, result=result)
    require_unchanged(folder / _POPULATION)
    last = read_metrics(folder)[-config.train.seeds :]
    everyone, _ = read_arrays(folder / _POPULATION)
    return KeptModel(folder, config, model, result.best_seed, last, everyone, None, result)


def _find_miner(config: Run) -> Any:
    """What finds hard examples, where they are asked for."""
    if not config.train.mine:
        return None
    from glassformer.proofs.mining import mine_problems

    return mine_problems


def measure_model(kept: KeptModel) -> RunResult:
    """The task's own measures, on fresh inputs; those of a finished run are known."""
    if kept.result:
        return kept.result
    from glassformer.verify.families import choose_measurer

    config, wanted = kept.config, kept.config.measure
    find = choose_measurer(config.task).measure
    measures = find(kept.model, config.task, config.data, wanted.positions, wanted.generated)
    return RunResult(
        folder=str(kept.folder),
        seconds=0.0,
        seeds=config.train.seeds,
        best_seed=kept.best_seed,
        argmax_accuracy=measures["argmax_accuracy"],
        loss=measures.get("loss", _find_loss(kept)),
        model_steps_per_second=kept.speed,
        verdict=None,
        parameters=sum(one.free for one in list_parameters(config.architecture).values()),
        sampled_error=measures.get("sampled_error", {}).get("value"),
        entropy_floor=measures.get("entropy_floor"),
        measures=measures | _count_successes(kept.last),
    )


def _find_loss(kept: KeptModel) -> float:
    """The kept seed's loss on the held-out windows."""
    return next(row["loss"] for row in kept.last if row["seed"] == kept.best_seed)


def _count_successes(last: list[Row]) -> dict[str, int]:
    """How many seeds are nearly right on the held-out windows, position by position, and how many wholly."""
    return {
        "seeds_at_999": sum(row["argmax_accuracy"] >= 0.999 for row in last),
        "seeds_right": sum(row["whole_accuracy"] == 1 for row in last),
    }


def prove_kept(kept: KeptModel, result: RunResult) -> RunResult:
    """The result with the kept model's verdict, and with how many seeds are proved."""
    if result.proof:
        return result
    proof = _prove_one(kept)
    measures = (result.measures or {}) | _prove_seeds(kept, proof.verdict)
    return replace(result, verdict=proof.verdict, proof=proof.content(), measures=measures)


def _prove_one(kept: KeptModel) -> Verdict:
    """The kept model, with its certificate in the folder."""
    config, origin = kept.config, str(kept.folder)
    path, seconds = kept.folder / CERTIFICATE, config.prove.seconds
    try:
        return prove_model(kept.model, config.task, config.data, origin, False, seconds, path)
    except UserError as error:  # a model that diverged is a result too
        return make_unprovable_verdict(origin, kept.model, config.task, str(error))


def _prove_seeds(kept: KeptModel, verdict: str) -> dict[str, Any]:
    """How many seeds are right on every input; only those can be that miss nothing held out.

    The kept one has its verdict already, for which it had more time than a seed has.
    """
    config = kept.config
    if not config.task.proves_seeds:
        return {}
    from glassformer.proofs.population import prove_seeds

    rows = [place for place, row in enumerate(kept.last) if row["whole_accuracy"] == 1][: config.prove.seeds]
    chosen = {name: array[rows] for name, array in kept.everyone.items() if name != "seed"}
    seeds = [int(kept.everyone["seed"][row]) for row in rows]
    proofs = prove_seeds(config.architecture, chosen, seeds, config.task)
    found: dict[int, str] = {proof.seed: proof.verdict for proof in proofs}
    if kept.best_seed in found and verdict == "proved":
        found[kept.best_seed] = verdict
    proved = [seed for seed, outcome in found.items() if outcome == "proved"]
    return {"seeds_tried": len(rows), "seeds_proved": len(proved), "proved_seeds": proved}


def finish_run(kept: KeptModel, result: RunResult, began: float) -> None:
    """Write the result, where it is new: the run is complete with it."""
    if result == kept.result:
        return
    seconds = result.seconds if kept.result else round(time.perf_counter() - began, 3)
    write_result(kept.folder, kept.config, replace(result, seconds=seconds))
    tidy_run_folder(kept.folder, kept.config.train.keep_checkpoints)


def replace_older_proof(kept: KeptModel, is_whole: bool) -> AbstractContextManager[None]:
    """Around a proof that is added to a finished run, whose certificate and report are written again."""
    is_added = is_whole and kept.result is not None and not kept.result.proof
    return replace_sealed_files(kept.folder, CERTIFICATE, "report.md") if is_added else nullcontext()


def draw_figures(folder: Path, config: Run, model: LoadedModel, show: bool) -> None:
    """The figures of a finished run that are not there yet; a figure's data are written after it.

    The captions come last: without them, or without their seal, a process was killed before its end.
    """
    if config.draw.figures == "none":
        return
    from glassformer.commands.draw_figures import FIGURES, draw_figure_set, list_pictures
    from glassformer.pictures.measure.prepare import make_subject
    from glassformer.pictures.save import CAPTIONS, write_captions

    asked = () if config.draw.figures == "all" else tuple(config.draw.figures.split(","))
    subject = make_subject(model, model.name, folder)
    pictures = list_pictures(subject, asked)
    there = {path.stem for path in (folder / FIGURES / "data").glob("*.safetensors")}
    damaged = {Path(name).stem for name in find_damaged(folder)}
    is_there = {one.id: one.id in there and not damaged & {one.id, Path(one.file).name} for one in pictures}
    if only := tuple(name for name, is_drawn in is_there.items() if not is_drawn):
        formats = tuple(config.draw.format.split(","))
        draw_figure_set(subject, only, folder / FIGURES, folder, formats, config.draw.theme, show)
    elif not is_sealed(folder, f"{FIGURES}/{CAPTIONS}"):
        with lock_folder(folder / FIGURES), seal_written_files(folder, folder / FIGURES):
            write_captions(folder / FIGURES, [one.id for one in list_pictures(subject)])


def make_page(folder: Path, config: Run, model: LoadedModel) -> None:
    """The page of a finished run, where it is not there yet; the run is whole without it."""
    from glassformer.commands.page_files import PAGE, is_stale, write_model_page

    if not config.draw.page or not is_stale(folder):
        return
    try:
        write_model_page(model, folder, folder / PAGE, config.prove.seconds)
    except Exception as error:  # whatever a page cannot show: the run is what counts
        print(f"glassformer: {folder / PAGE} was not written: {error}", file=sys.stderr)
