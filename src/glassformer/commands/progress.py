"""The bar of a training run, on standard error: step, time left, best accuracy so far."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from glassformer.runs.config import Run
from glassformer.runs.metrics import Row
from glassformer.tasks import Rule


class TrainingBar:
    """Shows (or only times) what `train_into` reports."""

    def __init__(self, config: Run, show: bool) -> None:
        self.config = config
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.bar = Progress(
            TextColumn("{task.description}"), *columns, console=Console(stderr=True), disable=not show
        )
        self.task = self.bar.add_task(f"{config.name}: compiling", total=config.train.steps)
        self.marks: list[tuple[int, float]] = []  # step, time

    def __enter__(self) -> "TrainingBar":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def update(self, step: int, rows: list[Row]) -> None:
        self.marks.append((step, time.perf_counter()))
        is_rule = isinstance(self.config.task, Rule)
        best = max((row["argmax_accuracy" if is_rule else "whole_accuracy"] for row in rows), default=None)
        right = "right" if is_rule else "of sums right"
        word = "compiling" if best is None else f"{len(rows)} seeds, best {best:.2%} {right}"
        self.bar.update(self.task, completed=step, description=f"{self.config.name}: {word}")

    def model_steps_per_second(self) -> float | None:
        """From the second stretch on, since the first one compiles; none where there was just one."""
        if len(self.marks) < 3:
            return None
        (first, begin), (last, end) = self.marks[1], self.marks[-1]
        return round((last - first) * self.config.train.seeds / (end - begin), 1)
