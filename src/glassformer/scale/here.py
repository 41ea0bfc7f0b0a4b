"""The engine of this process: one unit after the other, or some at a time on threads.

>>> list(LocalEngine().work(abs, [-2, 3]))
[(-2, 2), (3, 3)]
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from glassformer.scale.engine import Result, Unit


@dataclass(frozen=True)
class LocalEngine:
    """Threads are for jobs that let go of Python's lock, as NumPy's large products do."""

    threads: int = 1

    def work(self, job: Callable[[Unit], Result], units: Sequence[Unit]) -> Iterator[tuple[Unit, Result]]:
        if self.threads == 1:
            return ((unit, job(unit)) for unit in units)
        return _run_on_threads(job, units, self.threads)


def _run_on_threads(
    job: Callable[[Unit], Result], units: Sequence[Unit], threads: int
) -> Iterator[tuple[Unit, Result]]:
    """As they are finished; the first error ends it, and what runs is let finish."""
    pool = ThreadPoolExecutor(threads)
    try:
        waiting = {pool.submit(job, unit): unit for unit in units}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)
