"""What work will take is known before it starts, and every integer has an end."""

import dataclasses
import typing
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.cli.program import main
from glassformer.core.errors import UserError
from glassformer.runs import budget
from glassformer.runs.budget import ResourceCost, estimate_run_cost, require_affordable
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.resolve import resolve_run
from glassformer.runs.tree import from_tree
from glassformer.tasks import TASKS, Task

HUGE = 10**18


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_named_configuration_is_affordable(name):
    cost = estimate_run_cost(CONFIGURATIONS[name])
    assert 1e5 < cost.memory < 4e9
    assert cost.disk < 2e9
    assert 0.01 < cost.seconds < 24 * 3600
    require_affordable(replace(cost, memory=0.0), Path(), "this")


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        (ResourceCost(memory=1e15), "it would take about 1,000 TB of memory, there are "),
        (ResourceCost(disk=1e18), "it would take about 1,000,000 TB on the disk, there are "),
        (
            ResourceCost(seconds=1e12),
            "it would take at least 31,710 years here, the limit is 7 days; --no-limit",
        ),
    ],
)
def test_what_the_machine_does_not_have_is_one_sentence(tmp_path, cost, sentence):
    with pytest.raises(UserError) as error:
        require_affordable(cost, tmp_path / "a" / "b", "it")
    assert str(error.value).startswith(sentence)
    require_affordable(cost, tmp_path, "it", no_limit=True)
    assert not (tmp_path / "a").exists()


def test_more_of_anything_costs_more():
    run = CONFIGURATIONS["plus_last_even"]
    base = estimate_run_cost(run)
    for field in ("seeds", "steps", "batch", "held_out"):
        train = replace(run.train, **{field: 50 * getattr(run.train, field)})
        more = estimate_run_cost(replace(run, train=train))
        assert more.seconds > base.seconds, field
        assert more.memory > base.memory, field
    assert estimate_run_cost(replace(run, data=replace(run.data, count=10**8))).memory > 1e9


def integer_settings():
    """Every integer of a configuration by its path, in a tree that holds one of each kind of part."""
    found = []

    def walk(kind, path, seen):
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            hint = hints[field.name]
            options = typing.get_args(hint) if typing.get_origin(hint) is not None else (hint,)
            if int in (hint, *options) and bool not in (hint, *options):
                found.append((kind, (*path, field.name)))
            for option in options:
                for one in TASKS.values() if option is Task else (option,):
                    if isinstance(one, type) and dataclasses.is_dataclass(one) and one not in seen:
                        walk(one, (*path, field.name), (*seen, one))

    walk(Run, (), (Run,))
    return found


# Whose bound depends on the rest of the model, and is said when its parts are put together.
LATER = {"tokens", "reads", "at", "period", "loud", "times", "place"}


@pytest.mark.parametrize(
    ("kind", "path"),
    [pytest.param(*one, id=f"{one[0].__name__}.{'.'.join(one[1])}") for one in integer_settings()],
)
def test_every_integer_setting_has_an_upper_bound(kind, path):
    if path[-1] in LATER:
        pytest.skip("bounded by the model that it is a part of")
    tag = {"name": kind.name} if issubclass(kind, Task) else {}
    with pytest.raises(UserError):
        from_tree(kind, tag | {path[-1]: HUGE}, ".".join(path[:-1]) or "x")


@pytest.mark.parametrize(
    "words",
    [
        "run lucky7 --train.batch 10000000000",
        "run lucky7 --train.batch 10000000",
        "run lucky7 --data.count 10000000000",
        "run lucky7 --data.count 99999999",
        "run lucky7 --task.high 1000000000",
        "run lucky7 --steps 1000000000000",
        "run lucky7 --train.held_out 100000000000",
        "run lucky7 --seeds 1000000000",
        "run lucky7 --model.width 1000000000",
        "run lucky7 --model.context 2000 --data.min_length 2048 --data.max_length 2048 --train.batch 1000000",
        "test glass-8 --pairs 1000000000000000",
        "sweep lucky7 --seeds 100000000",
        "sweep lucky7 --grid train.steps=1,2 --seeds 1000000 --block 1",
        "sweep lucky7 --train.held_out 100000000 --seeds 64",
    ],
)
def test_a_careless_number_is_refused_before_anything_is_made(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(budget, "measure_free_memory", lambda: 16e9)
    assert main(words.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_free_memory_and_disk_are_numbers_of_this_machine(tmp_path):
    assert 1e6 < budget.measure_free_memory() < 1e15
    assert 0 < budget.measure_free_disk(tmp_path / "not" / "there") < 1e18


@pytest.mark.parametrize(
    ("part", "kind", "setting"),
    [
        ("position", "circle", "period"),
        ("position", "circle", "at"),
        ("position", "circle", "loud"),
        ("head", "lowest", "tokens"),
        ("head", "parabolic", "reads"),
    ],
)
def test_a_bound_that_depends_on_the_model_is_said_with_the_model(part, kind, setting):
    with pytest.raises(UserError, match=setting):
        resolve_run("lucky7", {f"model.{part}.kind": kind, f"model.{part}.{setting}": str(HUGE)})
