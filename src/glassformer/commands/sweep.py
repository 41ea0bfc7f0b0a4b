"""`glassformer sweep`: configurations x seeds, trained, tested and proved, into one table with success rates.

From Python the same is `glassformer.sweep("glass-39", grid={"train.peak_rate": [0.01, 0.03]}, seeds=256)`.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.runs.atomic import locked, remove_made, write_json
from glassformer.runs.budget import require_affordable
from glassformer.scale.choose import make_engine
from glassformer.scale.engine import Engine
from glassformer.scale.gpus import gpu_names
from glassformer.spread import cores
from glassformer.sweep.folder import PAGE, PLAN, RESULT, TABLE, UNITS, is_sweep, open_folder
from glassformer.sweep.plan import BLOCK, GPU_BLOCK, Sweep, cost_of_sweep
from glassformer.sweep.reading import make_sweep
from glassformer.sweep.store import write_plan
from glassformer.sweep.sweep import (
    Found,
    job_elsewhere,
    job_here,
    take_up,
    work_through,
    write_seeds,
    write_table,
)

SWEEPS = Path("sweeps")


@dataclass(frozen=True)
class SweepResult:
    """What `--json` prints."""

    folder: str
    table: str  # path of table.csv
    rows: list[dict[str, Any]]  # of the table, each with its seconds of work
    seconds: float  # of this command
    models: list[str]  # paths of the proved models
    units: int  # that are done
    page: str | None = None
    plan: list[str] = field(default_factory=list)  # with --plan: a file a unit that is left

    def _repr_html_(self) -> str | None:
        """The sweep's page in a notebook; nothing where there is none."""
        from glassformer.page.notebook import frame_of

        return frame_of(Path(self.page)) if self.page else None


def sweep(
    target: str | Path,
    grid: Mapping[str, list[Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    first_seed: int | None = None,
    block: int | None = None,
    out: str | Path | None = None,
    engine: str = "here",
    workers: int = 0,
    address: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    plan: bool = False,
    certificates: bool = False,
    show: bool = False,
    rule: str | Path | None = None,
    no_limit: bool = False,
) -> SweepResult:
    """Work through the sweep that a file or a name stands for; what is done already is taken as it is."""
    began = time.perf_counter()
    if resume and overwrite:
        raise UserError("--resume and --overwrite exclude each other")
    numbers = {"seeds": seeds, "first_seed": first_seed, "block": block}
    own_rule = str(rule) if rule else None
    wanted = make_sweep(str(target), grid, options, numbers, usual_block(options or {}), own_rule)
    folder = Path(out) if out is not None else place(str(target), wanted)
    gpus = gpus_for(wanted, engine)
    made = make_engine(engine, workers, address, gpus)
    if not plan and not address:  # a cluster elsewhere is not this machine
        at_once = 1 if engine == "here" else workers or cores()
        cost = cost_of_sweep(wanted, at_once, bool(gpus or gpu_names()))
        require_affordable(cost, folder, "this sweep", no_limit)
    with locked(folder):
        wanted = open_folder(folder, wanted, resume, overwrite)
        if plan:
            found, files = planned(folder, wanted)
        else:
            threads = None if engine == "here" else threads_for(engine, workers, gpus)
            found, files = done(folder, wanted, made, threads, show), []
        return conclude(folder, found, certificates, files, began)


def usual_block(options: Mapping[str, Any]) -> int:
    """Of a sweep that says none."""
    wants = options.get("train.device", "auto")
    return GPU_BLOCK if wants == "gpu" or (wants == "auto" and gpu_names()) else BLOCK


def place(target: str, wanted: Sweep) -> Path:
    """The folder that is itself the target, or sweeps/NAME."""
    return Path(target) if is_sweep(Path(target)) else SWEEPS / wanted.name


def planned(folder: Path, wanted: Sweep) -> tuple[Found, list[str]]:
    """The units that are left as files, for other machines, and the table of those that are done."""
    found = take_up(folder, wanted)
    write_table(folder, found)
    write_seeds(folder, found)
    remove_made(folder, (PLAN,))
    return found, [str(write_plan(folder / PLAN, unit)) for unit in found.left()]


def done(folder: Path, wanted: Sweep, engine: Engine, threads: int | None, show: bool) -> Found:
    """All units, with a bar; `threads` are those of workers elsewhere, none: it works here."""
    from glassformer.commands.sweep_bar import SweepBar

    with SweepBar(wanted, show) as bar:
        job = job_here(folder, bar.step) if threads is None else job_elsewhere(threads)
        return work_through(folder, wanted, engine, job, bar.update)


def gpus_for(wanted: Sweep, engine: str) -> int:
    """GPUs a unit: one, where the units are to have them; a driver of a cluster cannot look for itself."""
    devices = {run.train.device for run in wanted.configurations}
    if "gpu" in devices:
        return 1
    return int(engine == "processes" and "auto" in devices and bool(gpu_names()))


def threads_for(engine: str, workers: int, gpus: int) -> int:
    """CPU threads of a worker: a core each, or its share of them; with a GPU as the configuration says."""
    if gpus:
        return 0
    return 1 if engine == "ray" or not workers else max(1, cores() // workers)


def conclude(folder: Path, found: Found, certificates: bool, plan: list[str], began: float) -> SweepResult:
    """Models, page and result, made from the units."""
    from glassformer.page.sweep_page import write_sweep_page
    from glassformer.sweep.models import save_models, write_certificates

    for note in found.notes:
        print(f"glassformer: {note}", file=sys.stderr)
    models = save_models(folder, found)
    if certificates:
        write_certificates(models, max(run.prove.seconds for run in found.sweep.configurations))
    rows = [asdict(row) | {"seconds": round(found.seconds_of(row.configuration), 3)} for row in found.rows()]
    result = SweepResult(
        folder=str(folder),
        table=str(folder / TABLE),
        rows=rows,
        seconds=round(time.perf_counter() - began, 3),
        models=[str(path) for path in models],
        units=len(found.seeds),
        page=str(folder / PAGE),
        plan=plan,
    )
    write_json(folder / RESULT, asdict(result))
    write_sweep_page(folder)
    return result


def sweep_words(result: SweepResult) -> str:
    """The summary for people."""
    if result.plan:
        return plan_words(result)
    units = f"{result.units} unit{'s' * (result.units > 1)}"
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
        return "\n".join([*lines, "next: no seed is proved; try more --seeds, or more --train.steps"])
    count = f"{len(result.models)} proved model{'s' * (len(result.models) > 1)}"
    lines.append(f"  {count}: {result.folder}/models")
    return "\n".join([*lines, f"next: glassformer prove {result.models[0]}"])


def plan_words(result: SweepResult) -> str:
    count, units = len(result.plan), Path(result.folder) / UNITS
    left = f"{count} unit{'s' * (count > 1)} in {PLAN}/, {result.units} done"
    return "\n".join(
        (
            f"{result.folder}: {left}; any machine does some with",
            f"  python -m glassformer.sweep.unit {result.folder}/{PLAN}/*.json {units}",
            f"next: put what they wrote into {units}, then glassformer sweep {result.folder}",
        )
    )
