"""The page about hand-built adders: its examples run as they stand."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "hand-built.md"


def test_examples():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried) == (0, PAGE.read_text().count(">>> "))
