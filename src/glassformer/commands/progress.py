"""Bars on standard error; that of a training run has its step, the time left and the best accuracy so far."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from glassformer.runs.config import Run
from glassformer.runs.metrics import Row


class Bar:
    """Words, a bar with these columns, and the times; shown while a `with` block lasts."""

    def __init__(self, show: bool, words: str, total: int, *columns: ProgressColumn) -> None:
        every = (BarColumn(), *columns, TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Progress(
            TextColumn("{task.description}"), *every, console=Console(stderr=True), disable=not show
        )
        self.task = self.bar.add_task(words, total=total)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class TrainingBar(Bar):
    """Shows (or only times) what `train_into_folder` reports."""

    def __init__(self, config: Run, show: bool) -> None:
        self.config = config
        words = f"{config.name}: compiling"
        super().__init__(show, words, config.train.steps, MofNCompleteColumn(), TextColumn("steps"))
        self.marks: list[tuple[int, float]] = []  # step, time

    def update(self, step: int, rows: list[Row]) -> None:
        self.marks.append((step, time.perf_counter()))
        best = max((row[self.config.task.best_by[0]] for row in rows), default=None)
        right = self.config.task.words.progress
        word = "compiling" if best is None else f"{len(rows)} seeds, best {best:.2%} {right}"
        self.bar.update(self.task, completed=step, description=f"{self.config.name}: {word}")

    def model_steps_per_second(self) -> float | None:
        """From the second stretch on, since the first one compiles; none where there was just one."""
        if len(self.marks) < 3:
            return None
        (first, begin), (last, end) = self.marks[1], self.marks[-1]
        return round((last - first) * self.config.train.seeds / (end - begin), 1)
