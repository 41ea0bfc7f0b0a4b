"""The trained models that ship: where they come from, and that they are right wherever they are tested."""

import pytest

from glassformer.core.atomic import read_arrays
from glassformer.models.forward import list_parameters
from glassformer.runs.adders import ADDERS
from glassformer.runs.load import load_model
from glassformer.tasks.board import is_board_task
from glassformer.tasks.hard import HARD
from glassformer.verify.addition import measure_addition
from glassformer.zoo import ZOO
from glassformer.zoo.entry import WEIGHTS

SHIPPED = sorted(path.stem for path in WEIGHTS.glob("*.safetensors"))
MOST_BYTES = 2_500  # names, numbers, and a few words of where they come from


def test_what_must_ship_does():
    assert {"microadder-57", "glass-39", "glass-29", "glass-23"} <= set(SHIPPED)
    assert any(name.startswith("rope-") and int(name.removeprefix("rope-")) <= 62 for name in SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_file_is_small_and_says_what_made_it(name):
    path = ZOO[name].weights
    numbers, about = read_arrays(path)
    train = ADDERS[name].train
    assert path.stat().st_size < MOST_BYTES
    assert about["command"] == f"glassformer run {name}"
    assert train.first_seed <= about["seed"] < train.first_seed + train.seeds
    free = sum(one.free for one in list_parameters(ZOO[name].architecture).values())
    assert free == int(name.rpartition("-")[2]) and set(numbers) == set(
        list_parameters(ZOO[name].architecture)
    )
    assert set(about["tested"]) == {"board", "random", *HARD}
    assert about["tested"]["random"][1] >= 10_000_000


@pytest.mark.parametrize("name", SHIPPED)
def test_the_board_and_hard_pairs(name):
    model = load_model(name)
    report = measure_addition(model, model.addition, hard=1_000)
    pairs = 10_010 if is_board_task(model.addition) else 10_000  # the board's edge cases are sums
    assert (report.protocol.passed, report.protocol.total) == (pairs, pairs)
    assert {kind: score.passed for kind, score in report.distributions.items()} == dict.fromkeys(HARD, 1_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_million_other_pairs(name):
    model = load_model(name)
    report = measure_addition(model, model.addition, seed=31, pairs=1_000_000, hard=100_000)
    assert report.protocol.passed == report.protocol.total
    assert all(score.passed == score.total for score in report.distributions.values())
