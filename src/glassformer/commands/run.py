"""`glassformer run` and `glassformer train`: a population, its best model, what that does, its figures."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glassformer.commands.values import gather_settings
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError

if TYPE_CHECKING:
    from glassformer.commands.run_result import RunResult

RUNS = "runs"


def run(
    target: str | Path,
    *,
    seeds: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    mine: int | None = None,
    device: Literal["auto", "cpu", "gpu"] | None = None,
    threads: int | None = None,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    rule: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    no_limit: bool = False,
    show: bool = False,
) -> "RunResult":
    """Train a population of seeds, keep the best model; measure, prove and draw it, write its page.

    Args:
        target (NAME|FILE): a configuration's name, a .toml file, or a .py file with a rule or a question
        seeds (N): models in the population, one per seed (default: the configuration's)
        seed (N): first random seed (default: the configuration's)
        steps (N): optimiser steps (default: the configuration's)
        mine (N): adders: extra training rounds on the sums that the prover finds hardest
        device: where to train
        threads (N): CPU threads (default: one per core)
        out (FOLDER): run folder (default: runs/NAME)
        options: any setting of the configuration by its dotted name, as {"train.batch": 128}
        rule (FILE.py): Python file that defines the rule or question of a .toml file
        resume: resume the run in the folder, with the settings stored there
        overwrite: replace the run that is already in the folder
        no_limit: start even if the estimate exceeds this machine's memory or disk, or a week
        show: show progress on standard error

    Examples:
        glassformer run plus_last_even
        glassformer run copy_modulo --seeds 8 --seed 100 --out runs/copy
        glassformer run runs/copy/run.toml --out runs/again      repeat a run, bit for bit
        glassformer run my_rule.py                               a rule of your own (docs/add-a-rule.md)
        glassformer run median.py                                a question of your own (docs/add-a-task.md)

    Notes:
        any setting of the configuration is an option too (glassformer list settings):
          --train.batch 128 --train.peak_rate 0.003 --task.p 0.5 --model.layers.0.residual false
        if the command is stopped or killed, run it again to resume
    """
    settings = gather_settings(
        options, seeds=seeds, seed=seed, steps=steps, mine=mine, device=device, threads=threads
    )
    return _run_stages(str(target), out, settings, rule, resume, overwrite, no_limit, show, is_whole=True)


def train(
    target: str | Path,
    *,
    seeds: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    mine: int | None = None,
    device: Literal["auto", "cpu", "gpu"] | None = None,
    threads: int | None = None,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    rule: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    no_limit: bool = False,
    show: bool = False,
) -> "RunResult":
    """Train a population of seeds, keep the best model and measure it: `run` without proof, figures and page.

    Args: those of `run`

    Examples:
        glassformer train plus_last_even
        glassformer train glass-39 --seeds 64
    """
    settings = gather_settings(
        options, seeds=seeds, seed=seed, steps=steps, mine=mine, device=device, threads=threads
    )
    return _run_stages(str(target), out, settings, rule, resume, overwrite, no_limit, show, is_whole=False)


def _run_stages(
    target: str,
    out: str | Path | None,
    settings: Mapping[str, Any],
    rule: str | Path | None,
    resume: bool,
    overwrite: bool,
    no_limit: bool,
    show: bool,
    is_whole: bool,
) -> "RunResult":
    """All stages, or (not `is_whole`) the first two."""
    from glassformer.commands import run_stages as stages
    from glassformer.commands.run_result import read_result
    from glassformer.core.atomic import lock_folder
    from glassformer.runs.folder import open_run_folder
    from glassformer.runs.resolve import resolve_run

    began = time.perf_counter()
    if resume and overwrite:
        raise UserError("--resume and --overwrite exclude each other")
    config = resolve_run(target, settings, str(rule) if rule else None)
    folder = Path(out) if out else Path(RUNS) / config.name
    stages.require_possible_run(config, folder, no_limit)
    with lock_folder(folder):
        config = open_run_folder(folder, config, resume, overwrite, _find_rule_file(target, rule))
        kept = stages.train_model(folder, config, show)
        result = stages.measure_model(kept)
        with stages.replace_older_proof(kept, is_whole):
            result = stages.prove_kept(kept, result) if is_whole else result
            stages.finish_run(kept, result, began)
        if is_whole:
            stages.draw_figures(folder, config, kept.model, show)
            stages.make_page(folder, config, kept.model)
        return read_result(folder)  # with the digests of all that was drawn


def _find_rule_file(target: str, rule: str | Path | None) -> Path | None:
    """The file of the user's own rule."""
    return Path(target) if Path(target).suffix == ".py" else Path(rule) if rule else None


def answer_run(result: "RunResult", request: Request) -> Answer:
    """What was made, how well it does, what to do next."""
    from glassformer.commands.run_result import summarise_result

    folder = Path(result.folder)
    words = [
        f"{folder}: complete after {max(result.seconds, request.seconds):.0f} s",
        *(f"  {line}" for line in summarise_result(folder, result)),
    ]
    if (folder / "figures" / "captions.md").exists():
        words.append(f"  figures, with captions and data: {folder / 'figures'}")
    if (folder / "page.html").exists():
        words.append(f"  the page, for any browser: {(folder / 'page.html').resolve().as_uri()}")
    words.append(f"next: glassformer {_choose_next_command(folder, result)}")
    return Answer(asdict(result), "\n".join(words))


def _choose_next_command(folder: Path, result: "RunResult") -> str:
    if result.proof and result.proof["certificate"]:
        return f"check {folder}/certificate.json"
    return f"test {folder}" if result.verdict else f"prove {folder}"
