"""A unit of a sweep: one configuration and a block of consecutive seeds, trained, tested and proved.

Unit("glass-39", tree, 64, 32) is seeds 64 to 95 of glass-39. What it gives depends on nothing else, so it may
run anywhere and be done again. Nothing but NumPy, SciPy and JAX is needed; by hand, on any machine:

    python -m glassformer.sweeps.unit sweeps/adders/plan/*.json sweeps/adders/units
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.core.edge import guard_action
from glassformer.runs.config import Run
from glassformer.runs.resolve import strip_rule_file
from glassformer.runs.tree import from_tree
from glassformer.sweeps.identity import digest_settings

NO_PROOF = ("diverged", "missed", "untried")  # verdicts on seeds that no proof was tried for
_Row = dict[str, Any]
Tell = Callable[["Unit", int], object]  # is told the step that a unit has reached


@dataclass(frozen=True, eq=False)
class Unit:
    """Plain data: it goes to other processes and machines, and into a file of the plan."""

    configuration: str  # its name in the table
    tree: dict[str, Any]  # all its settings
    first_seed: int
    seeds: int

    @cached_property
    def name(self) -> str:
        """Of its files: whose it is, which seeds, and a digest of the settings."""
        last = self.first_seed + self.seeds - 1
        return f"{self.configuration}.{self.first_seed}-{last}.{digest_settings(self.tree)}"

    @cached_property
    def run(self) -> Run:
        """The configuration, with the seeds of this unit."""
        run: Run = from_tree(Run, strip_rule_file(self.tree, None), "")
        return replace(run, train=replace(run.train, first_seed=self.first_seed, seeds=self.seeds))

    def __reduce__(self) -> tuple[type["Unit"], tuple[Any, ...]]:
        """What travels are the plain fields; a rule of the user's own is data among them."""
        return Unit, (self.configuration, self.tree, self.first_seed, self.seeds)


@dataclass(frozen=True, eq=False)
class UnitResult:
    """What a unit gives: a row per seed, and all seeds' last parameters, stacked by name."""

    rows: list[_Row]
    params: dict[str, np.ndarray]
    seconds: float  # of work
    made: dict[str, Any]  # versions and machine


def run_unit(
    unit: Unit, working: str | None = None, tell: Tell | None = None, threads: int = 0
) -> UnitResult:
    """Train, polish and mine as the recipe says, test on held-out data, prove.

    In the folder `working` an interrupted unit resumes; without one it begins anew. `threads`
    are those of a configuration that leaves them open; they change no bit of the result.
    """
    from glassformer.training.setup import set_up_jax

    began, run = time.perf_counter(), unit.run
    run = replace(run, train=replace(run.train, threads=run.train.threads or threads))
    set_up_jax(run.train.device, run.model.precision)  # before anything imports JAX
    from glassformer.sweeps.judge import judge_seeds
    from glassformer.sweeps.trained import collect_provenance, train_block

    with _open_working_folder(working, unit) as folder:
        rows, params = train_block(folder, run, (lambda step: tell(unit, step)) if tell else None)
    return UnitResult(
        judge_seeds(run, rows, params), params, time.perf_counter() - began, collect_provenance()
    )


@contextmanager
def _open_working_folder(working: str | None, unit: Unit) -> Iterator[Path]:
    """Where a unit keeps what it needs to resume; it stays until the result is safe."""
    if working is not None:
        yield Path(working) / unit.name
        return
    with tempfile.TemporaryDirectory(prefix="glassformer-") as folder:
        yield Path(folder)


def main(words: list[str]) -> int:
    """Do the units of some plan files, those excepted whose result is in the folder already."""
    if len(words) < 2:
        print("usage: python -m glassformer.sweeps.unit PLAN.json ... FOLDER", file=sys.stderr)
        return 2
    *plans, last = words
    return guard_action(
        lambda: _run_unit_plans([Path(plan) for plan in plans], Path(last)), words, resumes=True
    )


def _run_unit_plans(plans: list[Path], folder: Path) -> int:
    from glassformer.sweeps.store import read_unit_plan, read_unit_result, write_unit_result

    for unit in [read_unit_plan(plan) for plan in plans]:
        if read_unit_result(folder, unit)[0]:
            print(f"{unit.name}: done already", file=sys.stderr)
            continue
        result = run_unit(unit, str(folder / "working"))
        write_unit_result(folder, unit, result)
        shutil.rmtree(folder / "working" / unit.name, ignore_errors=True)
        print(f"{unit.name}: {_describe_unit_result(result)}", file=sys.stderr, flush=True)
    return 0


def _describe_unit_result(result: UnitResult) -> str:
    reached, proved = (sum(row[name] for row in result.rows) for name in ("reached", "proved"))
    return f"{len(result.rows)} seeds, {reached} reached, {proved} proved, {result.seconds:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
