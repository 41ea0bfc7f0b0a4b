"""docs/api.md and docs/commands.md are those of today's functions, and what they show is so."""

import doctest

import glassformer
from glassformer.cli.verbs import VERBS
from tools.api_page import DOCS, make_api_page, make_command_page


def test_the_pages_are_those_of_todays_functions():
    """`python -m tools.api_page` writes them."""
    assert (DOCS / "api.md").read_text() == make_api_page()
    assert (DOCS / "commands.md").read_text() == make_command_page()


def test_what_the_api_page_shows_is_so():
    found = doctest.testfile(str(DOCS / "api.md"), module_relative=False)
    assert found.attempted >= 9
    assert found.failed == 0


def test_every_function_and_every_command_has_its_place():
    page, table = make_api_page(), make_command_page()
    assert all(f"\n## {name}\n" in page for name in glassformer.__all__)
    assert all(f"[`{name} " in table for name in VERBS)
    assert "`seeds`: models in the population" in page
