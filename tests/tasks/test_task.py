"""The protocol: every registered task answers every member of it, whatever its family."""

from dataclasses import dataclass, fields
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import TASKS, Question, Sequences, Task, TaskWords, make_task, register
from glassformer.tasks.task import Family, is_built_in

NAMES = sorted(TASKS)
DATA = Sequences(50, 40, 50)
SMALL = {"max_of": {"numbers": 8, "k": 3}, "modular": {"p": 11}, "addition": {"digits": 2}}
each = pytest.mark.parametrize("name", NAMES)


def small(name):
    task = make_task(name, **SMALL.get(name, {}))
    context = task.usual_settings().get("model", {}).get("context")
    return task, context or (task.written().length - 1 if task.family == "addition" else 8)


def test_every_family_has_a_task():
    assert {task.family for task in TASKS.values()} == set(get_args(Family))


@each
def test_a_task_is_known_by_its_name(name):
    task = make_task(name)
    assert (task.name, type(task)) == (name, TASKS[name])
    assert isinstance(task, Task)
    assert is_built_in(name) and task.is_data
    assert task == make_task(name, **{one.name: getattr(task, one.name) for one in fields(task)})
    assert hash(task) == hash(make_task(name))


@each
def test_words_are_there(name):
    task = make_task(name)
    assert isinstance(task.words, TaskWords)
    filled = [
        getattr(task.words, one.name) for one in fields(TaskWords) if one.name not in ("counted", "fails")
    ]
    assert all(isinstance(word, str) and word for word in filled)
    assert bool(task.words.counted) == bool(task.words.fails)
    assert task.describe()
    assert task.best_by and all(isinstance(score, str) for score in task.best_by)
    assert isinstance(task.proves_seeds, bool) and isinstance(task.has_one_answer, bool)


@each
def test_labels_are_unique(name):
    task, _ = small(name)
    labels = task.tokens()
    assert all(isinstance(label, str) and label for label in labels)
    assert len(set(labels)) == len(labels) or task.family == "addition"  # `+` and `=` may share a token


@each
def test_inputs_fit_the_model_that_they_are_for(name):
    task, context = small(name)
    task.require_fit(context, DATA)
    assert task.count_inputs(context) > 0
    assert task.name_inputs("72", context).startswith("72 ")
    assert 0 < task.positions(context) <= context
    tokens, asked = task.random_inputs(context, 20)
    assert tokens.shape[1] >= 20 and 1 <= asked <= len(tokens) <= context
    assert tokens.min() >= 0 and tokens.max() < len(task.tokens())
    np.testing.assert_array_equal(tokens, task.random_inputs(context, 20)[0])  # the same every time
    np.testing.assert_array_equal(task.example_inputs(context, 20), task.example_inputs(context, 20))
    assert 1 <= task.held_out(20) <= 20


@each
def test_training_data_are_tokens_of_the_task(name):
    task, context = small(name)
    sampler = task.sampler(DATA, context)
    assert (sampler.vocab, sampler.size) == (len(task.tokens()), context + 1)
    drawn = np.asarray(sampler.draw(sampler.shared(jax.random.key(0)), jax.random.key(1), jnp.arange(2), 4))
    assert drawn.shape == (2, context + 1, 4)
    assert drawn.min() >= 0 and drawn.max() < len(task.tokens())


def test_errors_name_what_is_there():
    with pytest.raises(UserError, match=r"no task called 'modulr'; did you mean 'modular'\?"):
        make_task("modulr")
    with pytest.raises(UserError, match="no setting of modular called 'P'; valid: balance, p"):
        make_task("modular", P=7)
    with pytest.raises(UserError, match="p must be an integer"):
        make_task("modular", p=True)


def test_a_name_is_taken_once(registry):
    def make(label):
        @dataclass(frozen=True)
        class Mine(Question):
            name = label

        return Mine

    with pytest.raises(UserError, match="there is a task called 'modular' already; give Mine another name"):
        register(make("modular"))
    with pytest.raises(UserError, match="the name of Mine must be a text"):
        register(make(""))
    assert register(make("mine")) is TASKS["mine"]
    assert not is_built_in("mine")
