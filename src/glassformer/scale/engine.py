"""An engine works through units; it knows nothing of what they are.

A unit is small plain data, and a job turns one into its result wherever it runs, always the same result: so a
unit whose worker died may simply be done again. Results come as they are finished, each unit's exactly once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")


class Engine(Protocol):
    """What a sweep and the weight lens ask for; the first error of a job itself ends the work."""

    def work(self, job: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[tuple[Unit, Result]]: ...
