"""The summary of a run: seeds that were chosen are not shown as a rate."""

from dataclasses import replace

import pytest

from glassformer.commands.report import list_summary_lines
from glassformer.commands.run_result import RunResult
from glassformer.runs.adders import ADDERS, begins_where_some_succeed
from glassformer.runs.configurations import CONFIGURATIONS

ALL_RIGHT = {"value": 1.0, "low": 0.99, "high": 1.0, "positions": 9}


def summarise(run):
    measures = {"seeds_right": 5, "seeds_at_999": 5, "argmax_accuracy": ALL_RIGHT, "distributions": {}}
    result = RunResult(
        folder="runs/any-8",
        seconds=1.0,
        seeds=run.train.seeds,
        best_seed=run.train.first_seed,
        argmax_accuracy=ALL_RIGHT,
        loss=0.1,
        model_steps_per_second=None,
        verdict=None,
        parameters=8,
        measures={**measures, "board": None},
    )
    return list_summary_lines(run, result)


@pytest.mark.parametrize(
    ("first", "seeds", "expected"),
    [
        (164, 8, ["seeds 164 to 171 were chosen because some of them succeed"]),
        (164, 1, ["seed 164 was chosen because it is near some that succeed"]),
        (0, 8, []),
    ],
)
def test_chosen_seeds_are_said_to_be(first, seeds, expected):
    run = ADDERS["any-8"]
    run = replace(run, train=replace(run.train, first_seed=first, seeds=seeds))
    said = [line for line in summarise(run) if "chosen" in line]
    assert [line.partition(";")[0] for line in said] == expected
    assert all("`glassformer sweep any-8`" in line for line in said)


def test_only_adders_have_chosen_seeds():
    assert {name for name, run in CONFIGURATIONS.items() if begins_where_some_succeed(run)} < {*ADDERS}
