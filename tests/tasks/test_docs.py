"""The examples of the pages run as they stand."""

import doctest
import re
from dataclasses import fields
from pathlib import Path

import pytest

from glassformer.models.count import count_by_part
from glassformer.runs.questions import QUESTIONS
from glassformer.tasks import TASKS

DOCS = Path(__file__).parents[2] / "docs"


def run(page):
    text = (DOCS / page).read_text()
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert (failed, tried) == (0, text.count(">>> "))


@pytest.mark.parametrize("page", ["tasks.md", "questions.md"])
def test_tasks(page):
    run(page)


@pytest.mark.parametrize(("page", "file"), [("add-a-rule.md", "doubles.py"), ("add-a-task.md", "median.py")])
def test_a_task_of_ones_own(tmp_path, monkeypatch, registry, page, file):
    (source,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    (tmp_path / file).write_text(source)
    monkeypatch.chdir(tmp_path)
    run(page)


def test_tables_of_questions_are_those_of_the_tree():
    page = (DOCS / "questions.md").read_text()
    for name, task in TASKS.items():
        if task.family == "question":
            settings = [one for one in fields(task) if one.name != "balance"]
            said = ", ".join(f"`{one.name}` ({one.default})" for one in settings)
            assert re.search(rf"^\| `{name}` \| .* \| {re.escape(said)} \|$", page, re.MULTILINE)
    for name, run in QUESTIONS.items():
        size = sum(count_by_part(run.architecture).values())
        prompts = run.task.count_inputs(run.architecture.context)
        row = re.search(rf"^\| `{name}` \| .* \| {size:,} \| .*$", page, re.MULTILINE)
        assert row and row[0].endswith(f" = {prompts:,} |")
