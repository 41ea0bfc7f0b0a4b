"""Work spread over threads: order, bounded haste, errors that come through."""

import threading

import numpy as np  # noqa: F401, which brings BLAS
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from glassformer.core.spread import AHEAD, count_cores, limit_blas_threads, map_threads


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order_from_that_many_threads(threads):
    gate = threading.Barrier(threads, timeout=30)
    seen = set()

    def work(number):
        if number < threads:
            gate.wait()  # passes only if that many work at once
        seen.add(threading.get_ident())
        return number * 10

    assert list(map_threads(work, range(20), threads)) == [number * 10 for number in range(20)]
    assert len(seen) == threads


def test_few_items_are_taken_up_ahead():
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    results = map_threads(lambda number: number, items(), threads=2)
    assert next(results) == 0
    assert len(taken) == 2 * AHEAD + 1
    results.close()


def test_an_error_comes_through():
    def work(number):
        return 1 // (number - 3)

    with pytest.raises(ZeroDivisionError):
        list(map_threads(work, range(9), threads=2))


def test_there_is_a_core():
    assert count_cores() >= 1


def test_the_limit_of_blas_ends_with_the_last_that_asked_for_it():
    def count_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        first, second = limit_blas_threads(), limit_blas_threads()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(count_threads()) == {1}
        second.__exit__(None, None, None)
        assert set(count_threads()) == {2}
