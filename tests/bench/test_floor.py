"""What a model-step asks for, and the floor that it sets."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.ceilings import Ceilings
from benchmarks.floor import Work, floor_of, work_of
from glassformer.tasks.sampler import SumSampler
from glassformer.training.settings import TrainSettings
from glassformer.zoo import ZOO

EVEN = Ceilings("a device", 1e9, 1e9, 1e9, 1e9, 1e9, 1e9)


def work(name: str, batch: int) -> Work:
    entry = ZOO[name]
    return work_of(entry.architecture, SumSampler(entry.task), TrainSettings(batch=batch))


def test_what_does_not_vary_over_the_batch_is_counted_once():
    counts = {batch: work("glass-39", batch).learning for batch in (64, 128, 256)}
    for kind in ("plain", "exp", "erf"):
        first, second = counts[128][kind] - counts[64][kind], counts[256][kind] - counts[128][kind]
        assert second == 2 * first  # all the rest is a constant
    assert (
        counts[64]["exp"] > 64 * 11 * 12
    )  # ten exponentials a digit, one of its logarithm, one of the hinge


def test_bytes_are_those_of_parameters_and_their_two_averages():
    found = work("glass-39", 256)
    counters = 2 * 2 * 4  # AdamW counts its steps twice, read and written
    assert found.state_bytes == 2 * 3 * 39 * 4 + counters + 4
    assert found.token_bytes == 33 * 256


@pytest.mark.parametrize("name", ["glass-23", "microadder-74", "rope-36"])
def test_every_family_can_be_counted(name):
    assert work(name, 16).operations()["plain"] > 0


def test_the_floor_is_the_longest_term():
    asked = Work(Counter(plain=100, exp=30, divide=40), Counter(integer=200), 10, 1000)
    found = floor_of(asked, EVEN)
    assert (found.limit, found.rate) == ("integer", pytest.approx(1e9 / 200))
    assert (found.limit_outside, found.rate_drawn_outside) == ("bytes", pytest.approx(1e9 / 1010))
    slow = replace(EVEN, exp=1e8)
    assert floor_of(asked, slow).limit == "special"
    assert floor_of(asked, slow).rate == pytest.approx(1 / (30e-8 + 40e-9))
