"""`glassformer run` and `glassformer train`: a population, its best model, and what that model really does.

From Python the same is `glassformer.run("plus_last_even", out="runs/try", options={"train.seeds": 8})`.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.runs.atomic import locked, write_json, write_text
from glassformer.runs.config import Run
from glassformer.runs.folder import is_complete, open_folder, tidy
from glassformer.runs.resolve import resolve
from glassformer.tasks import Rule
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
    verdict: str | None  # proof lands later
    parameters: int
    sampled_error: float | None = None
    entropy_floor: float | None = None
    measures: dict[str, Any] | None = None  # all the others, by name


def run(
    target: str,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    show: bool = False,
) -> RunResult:
    """Train the population that a name or file describes, keep the best, measure it, write the folder."""
    began = time.perf_counter()
    config = resolve(target, options)
    folder = Path(out) if out else Path("runs") / config.name
    set_up_jax(config.train.device, config.model.precision)
    with locked(folder):
        config = open_folder(folder, config, resume, overwrite)
        if is_complete(folder):
            tidy(folder, config.train.keep_checkpoints)
            return read_result(folder)
        trained, speed = train_with_progress(folder, config, show)
        return conclude(folder, config, trained, speed, began)


def train_with_progress(folder: Path, config: Run, show: bool) -> tuple[Any, float | None]:
    from glassformer.commands.progress import TrainingBar
    from glassformer.runs.training import train_into

    with TrainingBar(config, show) as bar:
        trained = train_into(folder, config, bar.update)
        return trained, bar.model_steps_per_second()


def conclude(folder: Path, config: Run, trained: Any, speed: float | None, began: float) -> RunResult:
    """Measure on fresh data, then write the result; the run is complete with it."""
    from glassformer.commands.report import report_text

    measures = measure(config, trained.model)
    last = trained.rows[-config.train.seeds :]
    result = RunResult(
        folder=str(folder),
        seconds=round(time.perf_counter() - began, 3),
        seeds=config.train.seeds,
        best_seed=trained.best_seed,
        argmax_accuracy=measures["argmax_accuracy"],
        loss=measures.get("loss", held_out_loss(last, trained.best_seed)),
        model_steps_per_second=speed,
        verdict=None,
        parameters=sum(array.size for array in trained.model.params.values()),
        sampled_error=measures.get("sampled_error", {}).get("value"),
        entropy_floor=measures.get("entropy_floor"),
        measures=measures | successes(last),
    )
    write_text(folder / "report.md", report_text(config, result))
    write_json(folder / "result.json", asdict(result))
    tidy(folder, config.train.keep_checkpoints)
    return result


def successes(last: list[dict[str, float]]) -> dict[str, int]:
    """How many seeds are nearly right on the held-out windows, place by place, and how many wholly."""
    return {
        "seeds_at_999": sum(row["argmax_accuracy"] >= 0.999 for row in last),
        "seeds_right": sum(row["whole_accuracy"] == 1 for row in last),
    }


def held_out_loss(last: list[dict[str, float]], seed: int) -> float:
    return next(row["loss"] for row in last if row["seed"] == seed)


def measure(config: Run, model: Any) -> dict[str, Any]:
    """The task's own measures, as plain data."""
    if isinstance(config.task, Rule):
        from glassformer.verify.measure import measure_rule

        wanted = config.measure
        return asdict(measure_rule(model, config.task, config.data, wanted.positions, wanted.generated))
    from glassformer.verify.addition import measure_run

    return asdict(measure_run(model, config.task, config.measure.positions))


def read_result(folder: Path) -> RunResult:
    """The result of a run that was finished before."""
    try:
        content = json.loads((folder / "result.json").read_text())
        return RunResult(**(content | {"folder": str(folder)}))  # it may have moved since
    except (OSError, ValueError, TypeError):
        raise UserError(f"{folder / 'result.json'} is damaged; --overwrite makes the run anew") from None
