"""Which panels a page has, and in which order: by its family, by what a panel says, and by the list of main.js."""

import re

import pytest

from glassformer.pages.modules import ASSETS, join_modules
from glassformer.pages.write import make_html

from .pages import page_of
from .questions import question_payload

STRINGS = ["prediction", "geometry", "attention", "parameters", "proof", "population"]
ADDITION = [
    *("digits", "numberline", "prediction", "attention", "geometry", "parameters", "proof", "population"),
]
CALL = "\nwindow.panelIds = (family, panels) => panelsOf({ family }, panels).map((panel) => panel.id);"


@pytest.fixture
def list_panel_ids(open_page):
    """The ids that `panelsOf` gives a family, of panels that are only ids and families."""
    script = join_modules("pages/assets/families/families.js") + CALL
    page = open_page(f"<!doctype html><script type='module'>{script}</script>")
    return lambda family, panels: page.evaluate("(given) => panelIds(...given)", [family, panels])


def panels_of(ids, **families):
    return [{"id": name} | ({"families": families[name]} if name in families else {}) for name in ids]


@pytest.mark.parametrize(
    ("text", "ids", "narrow"),
    [
        (lambda: page_of("plus_last_even"), STRINGS, []),
        (lambda: make_html(question_payload("max3"), "max3"), STRINGS, []),
        (lambda: page_of("microadder-57"), ADDITION, ["numberline", "prediction"]),
    ],
    ids=["rule", "question", "addition"],
)
def test_every_family_has_its_panels_in_order(text, ids, narrow, shared_page):
    sections = shared_page(text()).locator("#panels > section")
    assert [one[len("panel-") :] for one in sections.evaluate_all("all => all.map((one) => one.id)")] == ids
    wide = sections.evaluate_all("all => all.map((one) => one.classList.contains('wide'))")
    assert [name for name, is_wide in zip(ids, wide, strict=True) if not is_wide] == narrow


def test_a_new_panel_is_on_every_page_where_it_stands_in_the_list(list_panel_ids):
    panels = panels_of([*ADDITION[:5], "mine", *ADDITION[5:]], digits=["addition"], numberline=["addition"])
    assert list_panel_ids("addition", panels) == [*ADDITION[:5], "mine", *ADDITION[5:]]
    for family in ("rule", "question"):
        assert list_panel_ids(family, panels).index("mine") == 3


def test_a_panel_may_be_for_some_families(list_panel_ids):
    panels = panels_of([*ADDITION, "mine"], mine=["question"])
    assert list_panel_ids("question", panels)[-1] == "mine"
    assert "mine" not in list_panel_ids("rule", panels)


@pytest.mark.parametrize(
    ("panels", "words"),
    [
        (panels_of(ADDITION[1:]), "the family 'addition' names a panel 'digits'; its page has numberline, "),
        (panels_of([*ADDITION, "proof"]), "two panels of main.js have the id 'proof'"),
        (
            panels_of([*ADDITION, "mine"], mine=["adition"]),
            "the panel 'mine' is for the family 'adition'; there are rule, question, addition",
        ),
    ],
)
def test_an_unknown_id_is_named_with_what_there_is(panels, words, list_panel_ids):
    with pytest.raises(Exception, match=words):
        list_panel_ids("addition", panels)


def test_every_panel_is_in_the_list():
    """A panel whose file is written and whose line in main.js is forgotten would not be shown."""
    files = sorted((ASSETS / "panels").glob("*.js"))
    made = [
        name
        for file in files
        for name in re.findall(r"^export const (\w+Panel)\b", file.read_text("utf-8"), re.M)
    ]
    listed = re.search(r"const PANELS = \[(.*?)\]", (ASSETS / "main.js").read_text("utf-8"), re.DOTALL)
    assert listed is not None
    assert sorted(re.findall(r"\w+", listed[1])) == sorted(made)
