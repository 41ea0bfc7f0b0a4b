"""What a page asks of a family: every family of tasks answers, and in the shape that types.js promises."""

import re
from typing import get_args

import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.pages.families import FAMILIES, find_family
from glassformer.pages.modules import ASSETS
from glassformer.pages.task_part import make_task_part
from glassformer.tasks import make_task
from glassformer.tasks.task import Family

TASKS = [make_task("plus_last_even"), make_task("max_of", numbers=6, k=2), make_task("addition", digits=2)]


def test_every_family_of_tasks_has_a_page():
    assert set(FAMILIES) == set(get_args(Family))


def test_python_and_javascript_have_the_same_families():
    table = (ASSETS / "families" / "families.js").read_text(encoding="utf-8")
    names = re.search(r"const FAMILIES = \{(.*?)\}", table, re.DOTALL)
    assert names is not None
    assert set(re.findall(r"(\w+):", names[1])) == set(FAMILIES)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_words_of_a_task_are_on_its_page(task):
    assert make_task_part(task)["words"]["demand"] == task.words.demand


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_first_input_can_be_typed(task):
    start = find_family(task).first_start(task)
    assert start["input"] and start["why"]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_tests_are_the_same_at_every_call(task):
    family, shape = (
        find_family(task),
        make_reference_architecture(len(task.tokens()), context=task.positions(8)),
    )
    if task.family == "question":
        shape = make_reference_architecture(len(task.tokens()), context=task.length - 1)
    first, again = (family.pack_tests(family.draw_tests(task, shape)) for _ in range(2))
    assert first == again and "drawn once" in first["about"]
