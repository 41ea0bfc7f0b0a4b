"""Every family is measured by a module of its own, behind one protocol."""

import json
from inspect import signature

import pytest

from glassformer.tasks import Sequences, make_task
from glassformer.verify import addition, question, rule
from glassformer.verify.families import Measurer, choose_measurer
from tests.verify.fakes import Adder, Uniform

DATA = Sequences(100, 20, 30)
FAMILIES = {
    "lucky7": (rule, lambda task: Uniform(len(task.tokens()), 8)),
    "modular": (question, lambda task: Uniform(len(task.tokens()), 3)),
    "addition": (addition, Adder),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_its_module(name):
    module, _ = FAMILIES[name]
    assert choose_measurer(make_task(name)) is module
    for member in ("measure", "describe_measures"):
        wanted, offered = (signature(getattr(one, member)).parameters for one in (Measurer, module))
        assert list(wanted)[1:] == list(offered)


@pytest.mark.parametrize("name", FAMILIES)
def test_measures_are_plain_data_with_words(name):
    module, make = FAMILIES[name]
    task = make_task(name)
    found = module.measure(make(task), task, DATA, 200, 5)
    assert json.loads(json.dumps(found))
    assert {"value", "low", "high", "positions"} <= set(found["argmax_accuracy"])
    assert all(isinstance(line, str) and line for line in module.describe_measures(found))
