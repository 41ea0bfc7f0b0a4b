"""Work spread over threads: order, bounded haste, errors that come through."""

import threading

import pytest

from glassformer.core.spread import AHEAD, count_cores, map_threads


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
