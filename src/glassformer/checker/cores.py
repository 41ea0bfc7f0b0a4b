"""The same work on several items, on all cores: Arb holds Python's lock, so threads would not help."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def map_on_cores(work: Callable[[Item], Found], items: list[Item]) -> list[Found]:
    """What work says of each item, in order.

    >>> map_on_cores(lambda number: "odd" if number % 2 else "", [1, 2, 3])
    ['odd', '', 'odd']
    """
    cores = min(count_cores(), len(items))
    if cores < 2:
        return [work(item) for item in items]
    shares = [list(range(first, len(items), cores)) for first in range(cores)]
    context, found, running = multiprocessing.get_context("fork"), dict[int, Found](), []
    for share in shares[1:]:
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_send_answers, args=(theirs, work, [items[i] for i in share]), daemon=True
        )
        process.start()
        theirs.close()
        running.append((share, mine, process))
    for i in shares[0]:
        found[i] = work(items[i])
    for share, mine, process in running:
        answers = _receive_answers(mine)
        process.join()
        for i, said in zip(share, answers if answers else [work(items[i]) for i in share], strict=True):
            found[i] = said
    return [found[i] for i in range(len(items))]


def count_cores() -> int:
    """How many items are worked on at once."""
    return len(os.sched_getaffinity(0)) if _can_fork() else 1


def _send_answers(to: Connection, work: Callable[[Item], Found], items: list[Item]) -> None:
    to.send([work(item) for item in items])
    to.close()


def _receive_answers(of: Connection) -> list[Any]:
    """The answers of another process; none where it died."""
    try:
        answers: list[Any] = of.recv()
    except EOFError:
        return []
    return answers


def _can_fork() -> bool:
    """A copy of a process that runs JAX's threads could hang."""
    return hasattr(os, "sched_getaffinity") and "jax" not in sys.modules
