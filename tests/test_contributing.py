"""What CONTRIBUTING.md says of the tree: its paths are there, and another question touches three files."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "glassformer"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = re.compile(r"\bmax_of\b|\bMaxOf\b")
THREE = ["runs/questions.py", "tasks/__init__.py", "tasks/max_of.py"]
FILE = re.compile(r"`([\w./-]+\.(?:py|md|js|toml|lock|json))`")
FOLDER = re.compile(r"`([\w./-]+/)`")
MINE = {"tasks/mine.py", "tests/tasks/test_mine.py", "median.py", "my_rule.py"}  # files of the reader's own


def test_a_question_touches_three_files():
    """One of its own, the list of tasks, the list of configurations; no other file knows its name."""
    named = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".js") and NAMED.search(path.read_text(encoding="utf-8"))
    ]
    assert sorted(named) == THREE
    assert "touches 3 files in `src/glassformer`" in " ".join(TEXT.split())
    assert all(f"`{name}`" in TEXT for name in THREE)


def test_files_and_folders_that_it_names_exist():
    named = [*FILE.findall(TEXT), *FOLDER.findall(TEXT)]
    assert len(named) > 30
    assert [name for name in named if name not in MINE and not is_there(name)] == []


def is_there(name: str) -> bool:
    """In the repository, or below the package."""
    return (ROOT / name).exists() or (SOURCE / name).exists()


def test_links_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_targets_that_it_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make ([\w-]+)`|^    make ([\w-]+)", TEXT, re.MULTILINE)):
        assert re.search(rf"^{''.join(target)}:", makefile, re.MULTILINE), target
