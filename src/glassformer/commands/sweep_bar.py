"""The bar of a sweep, on standard error: units and seeds done, how many reached and are proved, time left."""

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from glassformer.sweep.plan import Sweep
from glassformer.sweep.sweep import Found
from glassformer.sweep.unit import Unit


class SweepBar:
    """Counts model-steps, since configurations differ in their number of steps."""

    def __init__(self, sweep: Sweep, show: bool) -> None:
        self.steps = {run.name: run.train.steps for run in sweep.configurations}
        columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Progress(
            TextColumn("{task.description}"), *columns, console=Console(stderr=True), disable=not show
        )
        self.task = self.bar.add_task(sweep.name, total=sum(map(self.size, sweep.units())))
        self.done, self.words = 0, sweep.name

    def __enter__(self) -> "SweepBar":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def size(self, unit: Unit) -> int:
        return self.steps[unit.configuration] * unit.seeds

    def update(self, found: Found, _: Unit | None) -> None:
        """A unit is done."""
        rows = found.rows()
        reached, proved = sum(row.reached for row in rows), sum(row.proved for row in rows)
        left = {unit.name for unit in found.left()}
        self.done = sum(self.size(unit) for unit in found.units if unit.name not in left)
        units = f"{len(found.units) - len(left)} of {len(found.units)} units"
        self.words = f"{found.sweep.name}: {units}, {reached} seeds reached, {proved} proved"
        self.bar.update(self.task, completed=self.done, description=self.words)

    def step(self, unit: Unit, step: int) -> None:
        """A unit in this process has reached a step."""
        part = min(step, self.steps[unit.configuration]) * unit.seeds
        words = f"{self.words}; {unit.configuration} at step {step:,d}"
        self.bar.update(self.task, completed=self.done + part, description=words)
