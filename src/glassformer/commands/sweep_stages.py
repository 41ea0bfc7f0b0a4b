"""The stages of `glassformer sweep`: what is asked for, workers, work units, all that is made of them."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from glassformer.core.atomic import remove_outputs, write_json
from glassformer.core.spread import count_cores
from glassformer.runs.budget import require_affordable
from glassformer.scale.choose import make_engine
from glassformer.scale.engine import Engine
from glassformer.scale.gpus import list_gpus
from glassformer.sweeps.folder import PAGE, PLAN, RESULT, TABLE, is_sweep_folder
from glassformer.sweeps.plan import BLOCK, GPU_BLOCK, Sweep, estimate_sweep_cost
from glassformer.sweeps.reading import make_sweep, parse_grid_options
from glassformer.sweeps.store import write_unit_plan
from glassformer.sweeps.sweep import (
    SweepProgress,
    make_local_job,
    make_remote_job,
    read_sweep_progress,
    run_sweep_units,
    write_seed_table,
    write_sweep_table,
)

_SWEEPS = Path("sweeps")


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
    plan: list[str] = field(default_factory=list)  # with --plan: one file per work unit that is left

    def _repr_html_(self) -> str | None:
        """The sweep's page in a notebook; nothing where there is none."""
        from glassformer.pages.notebook import make_file_frame

        return make_file_frame(Path(self.page)) if self.page else None


@dataclass(frozen=True)
class Crew:
    """Who does the work units."""

    name: str  # of the engine: here, processes or ray
    engine: Engine
    gpus: int  # per work unit
    at_once: int  # work units at a time on this machine
    threads: int | None  # CPU threads per worker; none: the work is done in this process


def make_asked_sweep(
    target: str,
    grid: Mapping[str, Sequence[Any]] | Sequence[str],
    settings: Mapping[str, Any],
    numbers: Mapping[str, int | None],
    rule: str | Path | None,
) -> Sweep:
    """The sweep that a file or a name stands for, with this grid, these settings, seeds and block."""
    if isinstance(grid, Mapping):
        values = {key: list(tried) for key, tried in grid.items()}
    else:
        values = parse_grid_options([grid] if isinstance(grid, str) else list(grid))
    return make_sweep(
        target, values, settings, dict(numbers), _choose_block(settings), str(rule) if rule else None
    )


def make_crew(wanted: Sweep, engine: str, workers: int, address: str | None) -> Crew:
    """The workers of an engine; each has a GPU where its units are to have one."""
    gpus = _count_gpus_per_unit(wanted, engine)
    made = make_engine(engine, workers, address, gpus)
    is_here = engine == "here"
    threads = None if is_here else _count_worker_threads(engine, workers, gpus)
    return Crew(engine, made, gpus, 1 if is_here else workers or count_cores(), threads)


def require_affordable_sweep(wanted: Sweep, crew: Crew, folder: Path, no_limit: bool) -> None:
    """Refuse what needs more memory, disk or time than this machine has."""
    cost = estimate_sweep_cost(wanted, crew.at_once, bool(crew.gpus or list_gpus()))
    require_affordable(cost, folder, "this sweep", no_limit)


def _choose_block(options: Mapping[str, Any]) -> int:
    """Seeds per work unit of a sweep that says none."""
    wants = options.get("train.device", "auto")
    return GPU_BLOCK if wants == "gpu" or (wants == "auto" and list_gpus()) else BLOCK


def choose_sweep_folder(target: str, wanted: Sweep) -> Path:
    """The folder that is itself the target, or sweeps/NAME."""
    return Path(target) if is_sweep_folder(Path(target)) else _SWEEPS / wanted.name


def write_unit_plans(folder: Path, wanted: Sweep) -> tuple[SweepProgress, list[str]]:
    """The units that are left as files, for other machines, and the table of those that are done."""
    found = read_sweep_progress(folder, wanted)
    write_sweep_table(folder, found)
    write_seed_table(folder, found)
    remove_outputs(folder, (PLAN,))
    return found, [str(write_unit_plan(folder / PLAN, unit)) for unit in found.left()]


def run_units(folder: Path, wanted: Sweep, crew: Crew, show: bool) -> SweepProgress:
    """All units, with a bar."""
    from glassformer.commands.sweep_bar import SweepBar

    with SweepBar(wanted, show) as bar:
        is_here = crew.threads is None
        job = make_local_job(folder, bar.step) if is_here else make_remote_job(crew.threads or 0)
        return run_sweep_units(folder, wanted, crew.engine, job, bar.update)


def _count_gpus_per_unit(wanted: Sweep, engine: str) -> int:
    """One, where the units are to have them; a driver of a cluster cannot look for itself."""
    devices = {run.train.device for run in wanted.configurations}
    if "gpu" in devices:
        return 1
    return int(engine == "processes" and "auto" in devices and bool(list_gpus()))


def _count_worker_threads(engine: str, workers: int, gpus: int) -> int:
    """CPU threads of a worker: a core each, or its share of them; with a GPU as the configuration says."""
    if gpus:
        return 0
    return 1 if engine == "ray" or not workers else max(1, count_cores() // workers)


def finish_sweep(
    folder: Path, found: SweepProgress, certificates: bool, plan: list[str], began: float
) -> SweepResult:
    """Models, page and result, made from the units."""
    from glassformer.pages.sweep_page import write_sweep_page
    from glassformer.sweeps.models import save_proved_models, write_sweep_certificates

    for note in found.notes:
        print(f"glassformer: {note}", file=sys.stderr)
    models = save_proved_models(folder, found)
    if certificates:
        write_sweep_certificates(models, max(run.prove.seconds for run in found.sweep.configurations))
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
