"""The examples of both pages run as they stand."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["proof.md", "certificate.md"])
def test_examples(name):
    page = DOCS / name
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried) == (0, page.read_text().count(">>> "))
