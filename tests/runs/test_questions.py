"""Configurations of questions: consistent, and of the sizes that are written about them."""

import tomllib

import numpy as np
import pytest
import tomli_w

from glassformer.models.count import count_by_part
from glassformer.models.forward import list_parameters
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.questions import QUESTIONS
from glassformer.runs.resolve import resolve_run
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import TASKS
from glassformer.training.population import Population

PARAMETERS = {"max_of": 7_360, "modular": 18_930, "modular-11": 6}
PROMPTS = {"max_of": 64**4, "modular": 113**2, "modular-11": 11**2}
TINY = {"train.seeds": 1, "train.steps": 60, "train.batch": 4, "train.held_out": 8, "train.warm_up": 0}
each = pytest.mark.parametrize("name", QUESTIONS)


def test_every_question_has_a_configuration():
    assert QUESTIONS.items() <= CONFIGURATIONS.items()
    assert list(QUESTIONS) == list(PARAMETERS)
    questions = {name for name, task in TASKS.items() if task.family == "question"}
    assert questions == {run.task.name for run in QUESTIONS.values()}


@each
def test_a_configuration_fits_its_task(name):
    run = resolve_run(name)
    assert run == QUESTIONS[name]
    assert run.name == name and run.about
    assert run.task.family == "question"
    assert run.architecture.vocab == len(run.task.tokens())
    assert run.architecture.context == run.task.length - 1
    assert run.task.count_inputs(run.architecture.context) == PROMPTS[name]


@each
def test_its_parameters_are_as_many_as_is_said(name):
    assert sum(count_by_part(QUESTIONS[name].architecture).values()) == PARAMETERS[name]


@each
def test_a_configuration_survives_a_file(name):
    text = tomli_w.dumps(to_tree(QUESTIONS[name]))
    assert from_tree(Run, tomllib.loads(text), "") == QUESTIONS[name]


@each
def test_training_moves_every_parameter(name):
    """In some seed: a hinge gets no slope while it is off."""
    run = resolve_run(name, TINY)
    sampler = run.task.sampler(run.data, run.architecture.context)
    population = Population(run.architecture, sampler, run.train, np.arange(3))
    start = population.start()
    stretch = population.advance(start, 0, 60)
    assert np.isfinite(stretch.train_loss).all()
    moved = {
        key
        for before, after in zip(np.asarray(start.vectors), np.asarray(stretch.state.vectors), strict=True)
        for key, array in population.flat.unpack(before).items()
        if (array != population.flat.unpack(after)[key]).any()
    }
    fixed = {one.name for one in run.architecture.fixed}
    assert moved == set(list_parameters(run.architecture)) - fixed
