"""Work on all cores, results in order: NumPy lets go of Python's lock, so threads are enough.

>>> list(map_threads(lambda number: number * number, range(5), threads=2))
[0, 1, 4, 9, 16]
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 2  # items per thread that are taken up before they are asked for: enough to keep every core busy

_blas_lock = threading.Lock()
_blas_limits: list[AbstractContextManager[Any]] = []  # the one in force
_blas_users = [0]


def map_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """`work` of each item, in the items' order; few are taken up ahead, so endless ones need no memory."""
    count, waiting = threads or count_cores(), deque[Future[Result]]()
    with ThreadPoolExecutor(count) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > AHEAD * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def limit_blas_threads() -> Iterator[None]:
    """One thread in every matrix product: small ones lose more by waiting for others than they gain.

    The limit is the process's, so that it ends with the last of those who asked for it. Where threadpoolctl
    is not installed there is none, and things only take longer.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with _blas_lock:
        _blas_users[0] += 1
        if not _blas_limits:
            _blas_limits.append(threadpool_limits(1, "blas"))
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users[0] -= 1
            if not _blas_users[0]:
                _blas_limits.pop().__exit__(None, None, None)
