"""The bar of a sweep, on standard error: units and seeds done, how many reached and are proved, time left."""

from rich.progress import TaskProgressColumn

from glassformer.commands.progress import Bar
from glassformer.sweeps.plan import Sweep
from glassformer.sweeps.sweep import SweepProgress
from glassformer.sweeps.unit import Unit


class SweepBar(Bar):
    """Counts model-steps, since configurations differ in their number of steps."""

    def __init__(self, sweep: Sweep, show: bool) -> None:
        self.steps = {run.name: run.train.steps for run in sweep.configurations}
        total = sum(map(self.size, sweep.units()))
        super().__init__(show, sweep.name, total, TaskProgressColumn())
        self.done, self.words = 0, sweep.name

    def size(self, unit: Unit) -> int:
        return self.steps[unit.configuration] * unit.seeds

    def update(self, found: SweepProgress, _: Unit | None) -> None:
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
