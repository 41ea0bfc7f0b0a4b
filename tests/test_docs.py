"""docs/*.md: links and their headings exist, and so do the files of the tree that the pages name; the glossary is in order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "glassformer"
PAGES = sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|js|md|toml|csv))`")
BASES = (ROOT, SOURCE, SOURCE.parent, SOURCE / "pages")  # what a path may be relative to


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in path:
            continue
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or target.suffix != ".md" or anchor in headings(target), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_it_names_exist(page):
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not any((base / name).exists() for base in BASES)] == []


def test_the_glossary_is_in_order_and_says_each_word_once():
    rows = re.findall(
        r"^\| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    words = [row.lower() for row in rows if row != "word"]
    assert len(words) > 80
    assert words == sorted(set(words))
