"""`glassformer run` and `glassformer train`: a population, its best model, what that does, its figures.

From Python the same is `glassformer.run("plus_last_even", out="runs/try", options={"train.seeds": 8})`.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer.commands.prove import CERTIFICATE
from glassformer.errors import UserError
from glassformer.model.forward import parameters
from glassformer.proof.prove import not_provable, prove_model
from glassformer.proof.verdict import Verdict
from glassformer.runs.atomic import locked, read_arrays, write_json, write_text
from glassformer.runs.budget import cost_of_run, require_affordable
from glassformer.runs.config import Run
from glassformer.runs.folder import is_complete, open_folder, stored, tidy
from glassformer.runs.load import load_run
from glassformer.runs.resolve import resolve
from glassformer.runs.seal import (
    RESULT,
    digest_files,
    find_damaged,
    is_sealed,
    replacing,
    require_unchanged,
    require_whole,
    sealing,
)
from glassformer.runs.start import require_startable
from glassformer.runs.text_files import read_json
from glassformer.train.setup import set_up_jax


@dataclass(frozen=True)
class RunResult:
    """What `--json` prints."""

    folder: str
    seconds: float
    seeds: int
    best_seed: int
    argmax_accuracy: dict[str, Any]  # value, low, high, positions: source in the window, or whole answers
    loss: float
    model_steps_per_second: float | None  # while training, compilation left out
    verdict: str | None  # proved, refuted, undecided or not_applicable; none: no proof was asked for
    parameters: int
    sampled_error: float | None = None
    entropy_floor: float | None = None
    measures: dict[str, Any] | None = None  # all the others, by name
    proof: dict[str, Any] | None = None  # as `glassformer prove` prints it
    digests: dict[str, str] = field(default_factory=dict)  # of every file of the run, by its path

    def _repr_html_(self) -> str | None:
        """The run's page, live, in a notebook; nothing where there is none."""
        from glassformer.page.notebook import frame_of

        page = Path(self.folder) / "page.html"
        return frame_of(page) if page.exists() else None


def run(
    target: str,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    show: bool = False,
    prove: bool = True,
    rule: str | Path | None = None,
    no_limit: bool = False,
) -> RunResult:
    """Train the population that a name or file describes, keep the best, measure and prove it.

    `rule` is a Python file with the rule that the configuration's task is. What would take more memory, disk
    or time than the machine has is refused, but for `no_limit`.
    """
    began = time.perf_counter()
    config = resolve(str(target), options, str(rule) if rule else None)
    folder = Path(out) if out else Path("runs") / config.name
    require_startable(config)
    set_up_jax(config.train.device, config.model.precision)
    require_affordable(cost_of_run(config, has_gpu(config)), folder, "this run", no_limit)
    with locked(folder):
        config = open_folder(folder, config, resume, overwrite, rule_path(target, rule))
        finished(folder, config, show, began, prove)
        if prove:
            draw_run(folder, config, show)
            page_run(folder, config)
        return read_result(folder)


def has_gpu(config: Run) -> bool:
    """Whether it trains on a GPU."""
    from glassformer.train.population import uses_gpu

    return uses_gpu(config.train)


def rule_path(target: str, rule: str | Path | None) -> Path | None:
    """The file of the user's own rule."""
    return Path(target) if Path(target).suffix == ".py" else Path(rule) if rule else None


def finished(folder: Path, config: Run, show: bool, began: float, prove: bool) -> None:
    """A run that is complete and whole, or is trained to its end."""
    if not is_complete(folder):
        trained, speed = train_with_progress(folder, config, show)
        conclude(folder, config, trained, speed, began, prove)
        return
    require_whole(folder)
    load_run(folder)
    tidy(folder, config.train.keep_checkpoints)
    result = read_result(folder)
    if prove and not result.proof:
        prove_later(folder, config, result)


def train_with_progress(folder: Path, config: Run, show: bool) -> tuple[Any, float | None]:
    from glassformer.commands.progress import TrainingBar
    from glassformer.runs.training import train_into

    with TrainingBar(config, show) as bar:
        trained = train_into(folder, config, bar.update, miner(config))
        return trained, bar.model_steps_per_second()


def miner(config: Run) -> Any:
    """What finds hard examples, where they are asked for."""
    if not config.train.mine:
        return None
    from glassformer.proof.mining import mine

    return mine


def conclude(folder: Path, config: Run, trained: Any, speed: float | None, began: float, prove: bool) -> None:
    """Measure on fresh data, prove, then write the result; the run is complete with it."""
    measures = measure(config, trained.model)
    last = trained.rows[-config.train.seeds :]
    proof = prove_run(folder, config, trained.model) if prove else None
    proved = prove_seeds(folder, config, last) if prove else {}
    result = RunResult(
        folder=str(folder),
        seconds=round(time.perf_counter() - began, 3),
        seeds=config.train.seeds,
        best_seed=trained.best_seed,
        argmax_accuracy=measures["argmax_accuracy"],
        loss=measures.get("loss", held_out_loss(last, trained.best_seed)),
        model_steps_per_second=speed,
        verdict=proof.verdict if proof else None,
        parameters=sum(one.free for one in parameters(config.architecture).values()),
        sampled_error=measures.get("sampled_error", {}).get("value"),
        entropy_floor=measures.get("entropy_floor"),
        measures=measures | successes(last) | proved,
        proof=proof.content() if proof else None,
    )
    write_result(folder, config, result)
    tidy(folder, config.train.keep_checkpoints)


def write_result(folder: Path, config: Run, result: RunResult) -> None:
    """The report, then the result with the digest of every file: with it the run is complete."""
    from glassformer.commands.report import report_text

    write_text(folder / "report.md", report_text(config, result))
    digests = digest_files(folder, config.train.keep_checkpoints)
    write_json(folder / RESULT, asdict(replace(result, digests=digests)))


def successes(last: list[dict[str, float]]) -> dict[str, int]:
    """How many seeds are nearly right on the held-out windows, place by place, and how many wholly."""
    return {
        "seeds_at_999": sum(row["argmax_accuracy"] >= 0.999 for row in last),
        "seeds_right": sum(row["whole_accuracy"] == 1 for row in last),
    }


def prove_later(folder: Path, config: Run, result: RunResult) -> None:
    """A run that `train` has finished, with the proof added."""
    from glassformer.runs.metrics import read_metrics

    with replacing(folder, CERTIFICATE, "report.md"):
        proof = prove_run(folder, config, load_run(folder))
        proved = prove_seeds(folder, config, read_metrics(folder)[-config.train.seeds :])
        measures = (result.measures or {}) | proved
        result = replace(result, verdict=proof.verdict, proof=proof.content(), measures=measures)
        write_result(folder, config, result)


def draw_run(folder: Path, config: Run, show: bool) -> None:
    """The figures of a finished run that are not there yet; a figure's data are written after it.

    The captions come last: without them, or without their seal, a process was killed before its end.
    """
    if config.draw.figures == "none":
        return
    from glassformer.commands.draw import FIGURES, Wish, draw_model, every_picture, wanted_pictures
    from glassformer.draw.save import CAPTIONS, write_captions

    loaded = load_run(folder)
    asked = () if config.draw.figures == "all" else tuple(config.draw.figures.split(","))
    pictures = wanted_pictures(loaded, asked) if asked else every_picture(loaded)
    there = {path.stem for path in (folder / FIGURES / "data").glob("*.safetensors")}
    damaged = {Path(name).stem for name in find_damaged(folder)}
    is_there = {one.id: one.id in there and not damaged & {one.id, Path(one.file).name} for one in pictures}
    if only := tuple(name for name, is_drawn in is_there.items() if not is_drawn):
        wish = Wish(only=only, formats=tuple(config.draw.format.split(",")), theme=config.draw.theme)
        draw_model(loaded, folder, wish, folder / FIGURES, show)
    elif not is_sealed(folder, f"{FIGURES}/{CAPTIONS}"):
        with locked(folder / FIGURES), sealing(folder, folder / FIGURES):
            write_captions(folder / FIGURES, [one.id for one in every_picture(loaded)])


def page_run(folder: Path, config: Run) -> None:
    """The page of a finished run, where it is not there yet; the run is whole without it."""
    from glassformer.commands.page import PAGE, is_stale, write_page

    if not config.draw.page or not is_stale(folder):
        return
    try:
        write_page(load_run(folder), folder, folder / PAGE, config.prove.seconds)
    except Exception as error:  # whatever a page cannot show: the run is what counts
        print(f"glassformer: {folder / PAGE} was not written: {error}", file=sys.stderr)


def prove_run(folder: Path, config: Run, model: Any) -> Verdict:
    """The kept model, with its certificate in the folder."""
    path, data, task = folder / CERTIFICATE, config.data, config.task
    try:
        return prove_model(model, task, data, str(folder), False, config.prove.seconds, path)
    except UserError as error:  # a model that diverged is a result too
        return not_provable(str(folder), model, task, str(error))


def prove_seeds(folder: Path, config: Run, last: list[dict[str, float]]) -> dict[str, Any]:
    """How many seeds are right on every input; only those can be that miss nothing held out."""
    if not config.task.proves_seeds:
        return {}
    from glassformer.proof.population import prove_population

    require_unchanged(folder / "population.safetensors")
    everyone, _ = read_arrays(folder / "population.safetensors")
    seeds = everyone.pop("seed")
    rows = [place for place, row in enumerate(last) if row["whole_accuracy"] == 1][: config.prove.seeds]
    chosen = {name: array[rows] for name, array in everyone.items()}
    proofs = prove_population(config.architecture, chosen, [int(seeds[row]) for row in rows], config.task)
    return {
        "seeds_tried": len(rows),
        "seeds_proved": sum(proof.verdict == "proved" for proof in proofs),
        "proved_seeds": [proof.seed for proof in proofs if proof.verdict == "proved"],
    }


def held_out_loss(last: list[dict[str, float]], seed: int) -> float:
    return next(row["loss"] for row in last if row["seed"] == seed)


def measure(config: Run, model: Any) -> dict[str, Any]:
    """The task's own measures, as plain data."""
    from glassformer.verify.families import measurer_of

    wanted = config.measure
    find = measurer_of(config.task).measure
    return find(model, config.task, config.data, wanted.positions, wanted.generated)


def read_result(folder: Path) -> RunResult:
    """The result of a run that was finished before."""
    try:
        found = RunResult(**(read_json(folder / RESULT) | {"folder": str(folder)}))  # it may have moved since
    except (UserError, TypeError):
        raise damaged_result(folder) from None
    is_good = all(type(getattr(found, name)) is int for name in ("seeds", "best_seed", "parameters"))
    if not is_good or type(found.seconds) not in (int, float):
        raise damaged_result(folder)
    return found


def damaged_result(folder: Path) -> UserError:
    return UserError(f"{folder / RESULT} is damaged; --overwrite makes the run anew")


def summarise(folder: Path, result: RunResult) -> list[str]:
    """What a run's result says, in words."""
    from glassformer.commands.report import summary_lines

    try:
        return summary_lines(stored(folder), result)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):  # a stranger's result
        raise damaged_result(folder) from None
