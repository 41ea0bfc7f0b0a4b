"""The examples of the pages run as they stand."""

import doctest
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def run(page):
    text = (DOCS / page).read_text()
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert (failed, tried) == (0, text.count(">>> "))


def test_tasks():
    run("tasks.md")


def test_add_a_rule(tmp_path, monkeypatch, registry):
    (source,) = re.findall(r"```python\n(.*?)```", (DOCS / "add-a-rule.md").read_text(), re.DOTALL)
    (tmp_path / "doubles.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    run("add-a-rule.md")
