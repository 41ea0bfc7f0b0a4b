"""`glassformer sweep`: a grid of configurations over many seeds, with success rates."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glassformer.commands.values import gather_settings
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError

if TYPE_CHECKING:
    from glassformer.commands.sweep_stages import SweepResult


def sweep(
    target: str | Path,
    *,
    grid: Mapping[str, Sequence[Any]] | Sequence[str] = (),
    seeds: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
    mine: int | None = None,
    device: Literal["auto", "cpu", "gpu"] | None = None,
    threads: int | None = None,
    block: int | None = None,
    out: str | Path | None = None,
    engine: Literal["here", "processes", "ray"] = "here",
    workers: int = 0,
    address: str | None = None,
    plan: bool = False,
    certificates: bool = False,
    options: Mapping[str, Any] | None = None,
    rule: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    no_limit: bool = False,
    show: bool = False,
) -> "SweepResult":
    """Train a grid of configurations over many seeds; report success rates with 95% intervals.

    Args:
        target (FILE|NAME): a sweep's .toml file or folder, or a configuration to vary (as for `run`)
        grid (KEY=V1,V2): values of a setting to try; may be repeated. In Python also
            {"train.peak_rate": [0.01, 0.03]}
        seeds (N): seeds per configuration (default: 64)
        seed (N): first random seed (default: 0)
        steps (N): optimiser steps (default: the configuration's)
        mine (N): adders: extra training rounds on the sums that the prover finds hardest
        device: where to train
        threads (N): CPU threads (default: one per core)
        block (N): seeds per work unit (default: 64, on a GPU 1,024)
        out (FOLDER): where to write (default: sweeps/NAME)
        engine: run work units in this process, in several processes, or on a Ray cluster
        workers (N): work units to run at the same time (default: as many as fit)
        address (auto|HOST:PORT): address of the Ray cluster (default: start one on this machine)
        plan: train nothing; write the remaining work units as files for other machines
        certificates: write the certificate of every proved model
        options: any setting of all configurations by its dotted name, as {"train.batch": 128}
        rule (FILE.py): Python file that defines the rule or question of a .toml file
        resume: resume the sweep in the folder, with the settings stored there
        overwrite: replace the sweep that is already in the folder
        no_limit: start even if the estimate exceeds this machine's memory or disk, or a week
        show: show progress on standard error

    Examples:
        glassformer sweep glass-39 --seeds 256                   one recipe: how often does it succeed?
        glassformer sweep modular-11 --seeds 256                 a question
        glassformer sweep plus_last_even --grid train.peak_rate=0.01,0.03 --grid train.batch=16,64
        glassformer sweep plus_last_even --grid model.width+model.layers.0.attention.head_size=2,3  together
        glassformer sweep docs/sweeps/adders.toml --engine processes
        glassformer sweep docs/sweeps/adders.toml --engine ray --address auto
        glassformer sweep docs/sweeps/adders.toml --plan         work units as files, for other machines

    Notes:
        any setting is an option too, for every configuration: --train.batch 128 --prove.seconds 5
        if the command is stopped or killed, run it again to resume
    """
    from glassformer.commands import sweep_stages as stages
    from glassformer.core.atomic import lock_folder
    from glassformer.sweeps.folder import open_sweep_folder

    began = time.perf_counter()
    if resume and overwrite:
        raise UserError("--resume and --overwrite exclude each other")
    settings = gather_settings(options, steps=steps, mine=mine, device=device, threads=threads)
    numbers = {"seeds": seeds, "first_seed": seed, "block": block}
    wanted = stages.make_asked_sweep(str(target), grid, settings, numbers, rule)
    folder = Path(out) if out is not None else stages.choose_sweep_folder(str(target), wanted)
    crew = stages.make_crew(wanted, engine, workers, address)
    if not plan and not address:  # a cluster elsewhere is not this machine
        stages.require_affordable_sweep(wanted, crew, folder, no_limit)
    with lock_folder(folder):
        wanted = open_sweep_folder(folder, wanted, resume, overwrite)
        if plan:
            found, files = stages.write_unit_plans(folder, wanted)
        else:
            found, files = stages.run_units(folder, wanted, crew, show), []
        return stages.finish_sweep(folder, found, certificates, files, began)


def answer_sweep(result: "SweepResult", request: Request) -> Answer:
    """The summary for people."""
    words = _describe_plan(result) if result.plan else _describe_rates(result)
    return Answer(asdict(result), words)


def _describe_rates(result: "SweepResult") -> str:
    from glassformer.core.words import format_count

    units = format_count(result.units, "work unit")
    lines = [f"{result.folder}: {units} complete after {result.seconds:.0f} s"]
    width = max(len(row["configuration"]) for row in result.rows)
    for row in result.rows:
        name = f"{row['configuration']:{width}s} {row['parameters']:6,d} parameters"
        counts = f"{row['seeds']} seeds, {row['reached']} reached, {row['proved']} of {row['tried']} proved"
        rate = f"{row['success']} {row['rate']:.2%} ({row['low']:.2%} to {row['high']:.2%})"
        lines.append(f"  {name}: {counts}; {rate}")
    lines.append(f"  the table: {result.table}")
    if result.page:
        lines.append(f"  the page, for any browser: {Path(result.page).resolve().as_uri()}")
    if not result.models:
        return "\n".join([*lines, "next: no seed is proved; try more --seeds or more --steps"])
    lines.append(f"  {format_count(len(result.models), 'proved model')}: {result.folder}/models")
    return "\n".join([*lines, f"next: glassformer prove {result.models[0]}"])


def _describe_plan(result: "SweepResult") -> str:
    from glassformer.core.words import format_count
    from glassformer.sweeps.folder import PLAN, UNITS

    units = Path(result.folder) / UNITS
    left = f"{format_count(len(result.plan), 'work unit')} in {PLAN}/, {result.units} done"
    return "\n".join(
        (
            f"{result.folder}: {left}; run some on any machine with",
            f"  python -m glassformer.sweeps.unit {result.folder}/{PLAN}/*.json {units}",
            f"next: put what they wrote into {units}, then glassformer sweep {result.folder}",
        )
    )
