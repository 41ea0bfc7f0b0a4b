"""The driver: units that are not done yet go to an engine, and each result is written as it arrives.

A result counts once it is in units/, so nothing is lost and nothing is counted twice, whatever dies; a unit
whose files are damaged, or of another configuration, is done again.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from glassformer.core.atomic import make_folder, write_text
from glassformer.scale.engine import Engine
from glassformer.sweeps.folder import SEEDS, TABLE, UNITS, WORKING, list_foreign_results
from glassformer.sweeps.plan import Sweep
from glassformer.sweeps.store import read_unit_result, write_unit_result
from glassformer.sweeps.table import (
    ConfigurationRow,
    Seed,
    format_seed_table,
    format_sweep_table,
    make_sweep_table,
)
from glassformer.sweeps.unit import Tell, Unit, UnitResult, run_unit

_Watch = Callable[
    ["SweepProgress", Unit | None], object
]  # is told all that is found, and the unit that came last


@dataclass
class SweepProgress:
    """What is done so far, by the names of the units."""

    sweep: Sweep
    units: list[Unit]  # all
    seeds: dict[str, list[Seed]] = field(default_factory=dict)  # of each unit that is done
    seconds: dict[str, float] = field(default_factory=dict)  # of work
    notes: list[str] = field(default_factory=list)  # what was not as expected, for people

    def add(self, unit: Unit, result: UnitResult) -> None:
        self.seeds[unit.name], self.seconds[unit.name] = result.rows, result.seconds

    def left(self) -> list[Unit]:
        return [unit for unit in self.units if unit.name not in self.seeds]

    def by_configuration(self) -> dict[str, list[Seed]]:
        """In the order of the seeds, whichever unit was first."""
        found: dict[str, list[Seed]] = {}
        for unit in self.units:
            found.setdefault(unit.configuration, []).extend(self.seeds.get(unit.name, ()))
        return found

    def rows(self) -> list[ConfigurationRow]:
        return make_sweep_table(self.sweep, self.by_configuration())

    def seconds_of(self, configuration: str) -> float:
        names = [unit.name for unit in self.units if unit.configuration == configuration]
        return sum(self.seconds.get(name, 0.0) for name in names)


def run_sweep_units(
    folder: Path, sweep: Sweep, engine: Engine, job: Callable[[Unit], UnitResult], watch: _Watch
) -> SweepProgress:
    """All units, those excepted that are done; the table is written anew after each."""
    found = read_sweep_progress(folder, sweep)
    write_sweep_table(folder, found)
    watch(found, None)
    left = found.left()
    for unit, result in engine.work(job, left) if left else ():
        write_unit_result(folder / UNITS, unit, result)
        shutil.rmtree(folder / WORKING / unit.name, ignore_errors=True)
        found.add(unit, result)
        write_sweep_table(folder, found)
        watch(found, unit)
    shutil.rmtree(folder / WORKING, ignore_errors=True)
    write_seed_table(folder, found)
    return found


def read_sweep_progress(folder: Path, sweep: Sweep) -> SweepProgress:
    """The results that are there and valid, made here or elsewhere."""
    make_folder(folder / UNITS)
    found = SweepProgress(sweep, sweep.units())
    for unit in found.units:
        result, wrong = read_unit_result(folder / UNITS, unit)
        if result:
            found.add(unit, result)
        elif wrong:
            found.notes.append(f"{wrong}: the unit is done again")
    for name in list_foreign_results(folder, {unit.name for unit in found.units}):
        found.notes.append(f"{folder / UNITS / name} belongs to no unit of this sweep and is left alone")
    return found


def write_sweep_table(folder: Path, found: SweepProgress) -> None:
    write_text(folder / TABLE, format_sweep_table(found.rows()))


def write_seed_table(folder: Path, found: SweepProgress) -> None:
    """Once at the end: with a million seeds it is long."""
    write_text(folder / SEEDS, format_seed_table(found.sweep, found.by_configuration()))


def make_local_job(folder: Path, tell: Tell | None) -> Callable[[Unit], UnitResult]:
    """In this process: an interrupted work unit resumes."""
    return partial(run_unit, working=str(folder / WORKING), tell=tell)


def make_remote_job(threads: int) -> Callable[[Unit], UnitResult]:
    """On a worker: an interrupted unit begins anew; `threads` 0 is as the configuration says."""
    return partial(run_unit, threads=threads)
