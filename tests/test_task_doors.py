"""Everything right of tasks/ speaks to the protocol: none asks what class or kind a task is."""

import ast
import re
from pathlib import Path

import glassformer
from glassformer.pages.modules import ASSETS

ROOT = Path(glassformer.__file__).parent
TASKS = {"Rule", "Addition", "Question", "Strings", "Tabulated", "TabulatedQuestion"}
# A script may name a family where the families are, and compare with no name of one elsewhere.
FAMILY = "[\"'](?:rule|question|addition|adder)[\"']"
KIND = re.compile(rf"(?:payload|view|lab)\.(?:kind|family)\s*[!=]==?|(?:kind|family)\s*[!=]==?\s*{FAMILY}")


def asked_classes(source: str) -> list[str]:
    """The tasks that a module asks for by `isinstance` or `issubclass`.

    >>> asked_classes("isinstance(task, Rule | Addition)")
    ['Addition', 'Rule']
    """
    found = list[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            named = {
                getattr(one, "id", getattr(one, "attr", "")) for arg in node.args[1:] for one in ast.walk(arg)
            }
            found += sorted(named & TASKS)
    return found


def test_no_module_outside_tasks_asks_for_a_tasks_class():
    others = [path for path in ROOT.rglob("*.py") if path.parent != ROOT / "tasks"]
    asked = {str(path.relative_to(ROOT)): asked_classes(path.read_text(encoding="utf-8")) for path in others}
    assert {name: classes for name, classes in asked.items() if classes} == {}


def test_the_search_finds_what_it_looks_for():
    assert asked_classes("isinstance(x, Rule)") == ["Rule"]
    assert asked_classes("isinstance(x, (tasks.Addition, int))") == ["Addition"]
    assert asked_classes("isinstance(x, Ruler)") == []
    for line in ('payload.kind === "rule"', "if (view.family !== other)", 'kind == "adder"'):
        assert KIND.search(line)


def test_no_script_asks_for_the_kind_of_a_task():
    scripts = [path for path in ASSETS.rglob("*.js") if not {"families", "spectra"} & set(path.parts)]
    asked = [
        str(path.relative_to(ASSETS)) for path in scripts if KIND.search(path.read_text(encoding="utf-8"))
    ]
    assert len(scripts) > 50 and asked == []
