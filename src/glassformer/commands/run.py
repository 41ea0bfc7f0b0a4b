"""`glassformer run` and `glassformer train`: a population, its best model, what that does, its figures.

From Python the same is `glassformer.run("plus_last_even", out="runs/try", options={"train.seeds": 8})`.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.commands.prove import CERTIFICATE
from glassformer.commands.run_result import RunResult, read_result, write_result
from glassformer.commands.run_stages import (
    Kept,
    draw_figures,
    make_page,
    measure_model,
    prove_kept,
    train_model,
)
from glassformer.runs.atomic import locked
from glassformer.runs.budget import cost_of_run, require_affordable
from glassformer.runs.config import Run
from glassformer.runs.folder import open_folder, tidy
from glassformer.runs.resolve import resolve
from glassformer.runs.seal import replacing
from glassformer.runs.start import require_startable
from glassformer.train.setup import set_up_jax


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
    """Train the population that a name or file describes, keep the best, measure, prove, draw and page it.

    `rule` is a Python file with the rule that the configuration's task is. What would take more memory, disk
    or time than the machine has is refused, but for `no_limit`. Without `prove` the first two stages are run.
    """
    began = time.perf_counter()
    config = resolve(str(target), options, str(rule) if rule else None)
    folder = Path(out) if out else Path("runs") / config.name
    require_startable(config)
    set_up_jax(config.train.device, config.model.precision)
    require_affordable(cost_of_run(config, has_gpu(config)), folder, "this run", no_limit)
    with locked(folder):
        config = open_folder(folder, config, resume, overwrite, rule_path(target, rule))
        kept = train_model(folder, config, show)
        result = measure_model(kept)
        with writing_anew(kept, prove):
            result = prove_kept(kept, result) if prove else result
            finish_run(kept, result, began)
        if prove:
            draw_figures(folder, config, kept.model, show)
            make_page(folder, config, kept.model)
        return read_result(folder)  # with the digests of all that was drawn


def finish_run(kept: Kept, result: RunResult, began: float) -> None:
    """Write the result, where it is new: the run is complete with it."""
    if result == kept.result:
        return
    seconds = result.seconds if kept.result else round(time.perf_counter() - began, 3)
    write_result(kept.folder, kept.config, replace(result, seconds=seconds))
    tidy(kept.folder, kept.config.train.keep_checkpoints)


def writing_anew(kept: Kept, prove: bool) -> AbstractContextManager[None]:
    """Around a proof that is added to a finished run, whose certificate and report are written again."""
    is_added = prove and kept.result is not None and not kept.result.proof
    return replacing(kept.folder, CERTIFICATE, "report.md") if is_added else nullcontext()


def has_gpu(config: Run) -> bool:
    """Whether it trains on a GPU."""
    from glassformer.train.population import uses_gpu

    return uses_gpu(config.train)


def rule_path(target: str, rule: str | Path | None) -> Path | None:
    """The file of the user's own rule."""
    return Path(target) if Path(target).suffix == ".py" else Path(rule) if rule else None
