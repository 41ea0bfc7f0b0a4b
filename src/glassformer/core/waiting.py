"""Bars and signs of work on standard error, where that is a terminal; nothing heavy is imported for them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TellCount = Callable[[int], object]  # is told how many more are done
TellShare = Callable[[float], object]  # is told which share of the work is done


@contextmanager
def show_count_bar(count: int | None, show: bool, what: str) -> Iterator[TellCount | None]:
    """A bar with the time left; no count: one that only counts."""
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=count)
        yield lambda done: progress.advance(task, done)


@contextmanager
def show_share_bar(show: bool) -> Iterator[Callable[[float, str], object]]:
    """A bar for work whose pieces differ in size: the share that is done, and what was last."""
    if not (show and sys.stderr.isatty()):
        yield lambda share, name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("reading", total=1.0)
        yield lambda share, name: progress.update(task, completed=share, description=name)


@contextmanager
def show_status(text: str, show: bool) -> Iterator[None]:
    """A sign that something is under way whose steps cannot be counted."""
    if not (show and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
