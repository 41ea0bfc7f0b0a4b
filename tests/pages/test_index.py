"""The index over a folder of runs: every run has a row, sorted and filtered, and no name is read as HTML."""

import json
import os
import shutil

import pytest

import glassformer
from glassformer.core.atomic import lock_folder
from glassformer.core.errors import UserError
from glassformer.pages.index import make_relative_link, make_run_row
from tests.pictures.conftest import RUNS as SMALL

COPIES = (
    ("plus_last_even", "plus_last_even"),
    ("lucky7", "lucky7"),
    ("step_back", "begun"),
    ("step_back", "damaged"),
)
NASTY = "a <img src=x onerror='window.bad=1'> \"&\u2028"


@pytest.fixture
def runs(tmp_path):
    """Two finished runs, one begun, one damaged, and one with a nasty name."""
    return filled(tmp_path / "runs")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The index of such a folder, for the tests that only look."""
    return glassformer.page(filled(tmp_path_factory.mktemp("index") / "runs")).files[0]


@pytest.fixture
def index(written, open_page):
    return lambda **options: open_page(written, **options)


def filled(root):
    for name, copy in (*COPIES, ("lucky7", NASTY)):
        shutil.copytree(SMALL / name, root / copy)
    (root / "begun" / "result.json").unlink()
    (root / "damaged" / "result.json").write_text("{")
    text = (root / "lucky7" / "run.toml").read_text()
    (root / NASTY / "run.toml").write_text(text.replace('about = ""', 'about = "<b>bold</b>"'))
    (root / "no run").mkdir()
    return root


def names(page):
    return page.locator("tbody th > div > :first-child").all_inner_texts()


def test_pages_are_written_where_they_are_missing(runs):
    result = glassformer.page(runs)
    assert result.files[0] == str(runs / "index.html")
    assert sorted(result.files[1:]) == sorted(
        str(runs / name / "page.html") for name in (NASTY, "damaged", "lucky7", "plus_last_even")
    )
    assert glassformer.page(runs).files == [str(runs / "index.html")]


def test_a_run_in_use_is_skipped_and_said(runs):
    with lock_folder(runs / "lucky7"):
        result = glassformer.page(runs)
    assert result.skipped["lucky7"].startswith("another process is working in")
    assert "another process is working in" in (runs / "index.html").read_text()
    assert (runs / "plus_last_even" / "page.html").exists()


def test_rows_are_read_from_the_results(runs):
    found = make_run_row(runs / "plus_last_even", runs)
    result = json.loads((runs / "plus_last_even" / "result.json").read_text())
    assert found["accuracy"] == result["argmax_accuracy"]
    assert found["parameters"] == 250
    assert (found["task"], found["verdict"], found["problem"]) == ("plus_last_even", result["verdict"], None)


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("result.json", "[1, 2]", "result.json is damaged"),
        ("result.json", "{", "result.json is damaged"),
        ("result.json", "[" * 100_000, "result.json is damaged"),
        ("run.toml", "name = ", "run.toml is damaged"),
        ("result.json", None, "not finished: run the same command again to resume"),
    ],
)
def test_what_is_wrong_with_a_run_is_its_row(small_run, file, content, problem):
    folder = small_run("lucky7")
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    assert make_run_row(folder, folder.parent)["problem"] == problem


def test_values_of_the_wrong_kind_are_none(small_run):
    folder = small_run("lucky7")
    strange = {
        "parameters": "many",
        "seeds": True,
        "argmax_accuracy": [1],
        "verdict": "<b>",
        "proof": {"smallest_margin": 1e999},
    }
    (folder / "result.json").write_text(json.dumps(strange))
    (folder / "run.toml").write_text("about = 3\ntask = 4\n")
    found = make_run_row(folder, folder.parent)
    assert {found[name] for name in ("parameters", "seeds", "verdict", "margin", "task")} == {None}
    assert found["accuracy"]["value"] is None
    assert found["about"] == ""


def test_links_lead_to_the_pages_from_wherever_the_index_is(runs, tmp_path, open_page):
    out = tmp_path / "elsewhere" / "all.html"
    page = open_page(glassformer.page(runs, out=out).files[0])
    page.get_by_role("link", name=NASTY.split("\u2028")[0]).click()
    page.wait_for_url("**/page.html*")
    assert page.evaluate("window.bad") is None
    page.wait_for_function("() => window.glassformer !== undefined")


def test_a_link_is_never_an_address_of_another_kind(tmp_path):
    folder = tmp_path / "javascript:alert(1)"
    assert make_relative_link(folder / "page.html", tmp_path) == "./javascript%3Aalert%281%29/page.html"
    strange = tmp_path / os.fsdecode(b"\xff")
    assert make_relative_link(strange / "page.html", tmp_path) == "./%FF/page.html"


def test_every_run_has_a_row(index):
    page = index()
    assert {"begun", "damaged", "lucky7", "plus_last_even"} <= set(names(page))
    assert page.get_by_role("status").inner_text() == "5 runs"
    texts = dict(zip(names(page), page.locator("tbody tr").all_inner_texts(), strict=True))
    assert "not finished" in texts["begun"]
    assert "result.json is damaged" in texts["damaged"]
    assert "proved" in texts["plus_last_even"]
    assert "250" in texts["plus_last_even"]


def test_names_and_texts_are_texts(index):
    page = index()
    assert page.evaluate("window.bad") is None
    assert page.locator("img, tbody b").count() == 0
    shown = page.locator("tbody a", has_text="onerror").evaluate("(e) => e.textContent")
    assert shown == NASTY
    assert page.get_by_text("<b>bold</b>").count() == 1


def test_columns_sort_by_click_and_by_key(index):
    page = index()
    sizes = page.locator("tbody td.index-parameters").all_inner_texts
    page.get_by_role("button", name="parameters").click()
    assert sizes() == ["245", "245", "250"]
    page.get_by_role("button", name="parameters").press("Enter")
    assert sizes() == ["250", "245", "245"]
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("parameters")
    assert set(names(page)[3:]) == {"begun", "damaged"}  # without a number: last, either way
    page.wait_for_function("() => location.hash === '#sort=parameters&down=true'")


def test_a_link_shows_what_its_sender_saw(index):
    page = index(hash="sort=accuracy&down=true&filter=even")
    assert names(page) == ["plus_last_even"]
    assert page.get_by_role("searchbox").input_value() == "even"
    assert page.get_by_role("status").inner_text() == "1 of 5 runs"


def test_a_link_that_asks_for_nonsense_is_ignored(index):
    page = index(hash="sort=__proto__&down=3&theme=red&x=%ff")
    assert page.get_by_role("status").inner_text() == "5 runs"


def test_the_filter_takes_words_in_any_order(index):
    page = index()
    page.get_by_role("searchbox").fill("refuted LUCKY")
    assert set(names(page)) == {"lucky7", *(name for name in names(page) if "onerror" in name)}
    page.get_by_role("searchbox").fill("no such run")
    assert names(page) == []


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_all_without_scrolling_sideways(index, dark):
    page = index(width=390, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    page.get_by_role("button", name="Light" if dark else "Dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds neither a run"):
        glassformer.page(tmp_path)
