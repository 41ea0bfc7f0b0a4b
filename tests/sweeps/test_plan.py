"""Units are a partition of the seeds, and their names say what their results depend on."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.runs.configurations import find_configuration
from glassformer.runs.tree import to_tree
from glassformer.sweeps.identity import digest_settings
from glassformer.sweeps.plan import Sweep
from glassformer.sweeps.unit import Unit
from glassformer.tasks import make_rule
from glassformer.tasks.tabulated import to_tabulated_rule

from .small import small_sweep

RUN = find_configuration("successor")


def test_the_last_block_may_be_shorter():
    units = small_sweep().units()
    assert [(unit.configuration[-4:], unit.first_seed, unit.seeds) for unit in units] == [
        *(("0.01", 10, 2), ("0.01", 12, 2), ("0.01", 14, 1)),
        *(("0.03", 10, 2), ("0.03", 12, 2), ("0.03", 14, 1)),
    ]


@given(seeds=st.integers(1, 300), first=st.integers(0, 10**6), block=st.integers(1, 99))
def test_every_seed_is_in_one_unit(seeds, first, block):
    units = Sweep("s", seeds, first, block, (RUN,)).units()
    every = [seed for unit in units for seed in range(unit.first_seed, unit.first_seed + unit.seeds)]
    assert every == list(range(first, first + seeds))
    assert len({unit.name for unit in units}) == len(units)


def test_a_unit_trains_its_own_seeds():
    train = small_sweep().units()[1].run.train
    assert (train.first_seed, train.seeds) == (12, 2)


def test_a_unit_travels_as_its_plain_fields():
    unit = small_sweep().units()[0]
    assert unit.run.name
    assert b"Run" not in pickle.dumps(unit)
    assert pickle.loads(pickle.dumps(unit)).name == unit.name


def digest(**train):
    return digest_settings(to_tree(replace(RUN, train=replace(RUN.train, **train))))


@pytest.mark.parametrize("train", [{"device": "cpu"}, {"threads": 3}, {"seeds": 9}, {"first_seed": 4}])
def test_where_it_runs_and_which_seeds_make_no_other_configuration(train):
    assert digest(**train) == digest()


@pytest.mark.parametrize("train", [{"steps": 7}, {"peak_rate": 0.5}, {"polish_steps": 1}])
def test_what_is_trained_does(train):
    assert digest(**train) != digest()


def test_a_setting_that_is_added_with_a_default_leaves_old_names_valid():
    tree = to_tree(RUN)
    without = {key: value for key, value in tree["train"].items() if key != "grokfast_gain"}
    assert digest_settings(tree | {"train": without}) == digest_settings(tree)


def test_a_rule_of_ones_own_is_known_by_its_table():
    first, second = (to_tabulated_rule(make_rule("successor", high=high), name="mine") for high in (4, 5))
    names = {Unit("x", to_tree(replace(RUN, task=rule)), 0, 1).name for rule in (first, second)}
    assert len(names) == 2
