"""The way of the data is one direction: nothing on the left imports anything on the right."""

import ast
from pathlib import Path

import pytest

import glassformer

ROOT = Path(glassformer.__file__).parent
WAY = (
    *("core", "scale", "tasks", "models", "zoo", "training", "runs", "verify", "proofs", "checker", "sweeps"),
    *("exports", "pictures", "pages", "lens", "commands", "cli", "__main__"),
)


def imported(source: str) -> set[str]:
    """The parts of glassformer that a module imports, at its top or later.

    >>> sorted(imported("from glassformer.models.ops import Value\\nimport glassformer.zoo"))
    ['models', 'zoo']
    """
    names = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "glassformer":
            names.update(f"glassformer.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[1] for name in names if name.startswith("glassformer.")}


@pytest.mark.parametrize("part", WAY)
def test_nothing_imports_what_stands_to_its_right(part):
    files = [*(ROOT / part).rglob("*.py"), *ROOT.glob(f"{part}.py")]
    assert files
    right = {*WAY[WAY.index(part) + 1 :]}
    turned = {str(path.relative_to(ROOT)): imported(path.read_text()) & right for path in files}
    assert {name: parts for name, parts in turned.items() if parts} == {}


def test_every_part_has_its_place_on_the_way():
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} == {*WAY}
