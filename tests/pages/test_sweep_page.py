"""The page of a sweep in a browser: all rows, sorted, a mark a configuration, and no name is read as HTML."""

import pytest

from glassformer.pages.sweep_page import make_sweep_html
from glassformer.sweeps.folder import open_sweep_folder
from glassformer.sweeps.models import save_proved_models
from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.store import write_unit_result
from glassformer.sweeps.sweep import read_sweep_progress
from tests.sweeps.small import QUICK, known_result

NASTY = "<img src=x onerror='window.bad=1'>"
FILE = f"""
name = "sizes"
seeds = 8
block = 8
[[configuration]]
base = "successor"
[[configuration]]
base = "lucky7"
about = "{NASTY}"
[[configuration]]
base = "glass-39"
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Two of three configurations are done."""
    folder = tmp_path_factory.mktemp("sweep") / NASTY.replace("/", "")
    (folder.parent / "sizes.toml").write_text(FILE)
    sweep = open_sweep_folder(folder, make_sweep(str(folder.parent / "sizes.toml"), None, QUICK))
    for unit in sweep.units()[:2]:
        write_unit_result(folder / "units", unit, known_result(unit))
    save_proved_models(folder, read_sweep_progress(folder, sweep))
    return make_sweep_html(folder, folder)


def names(page):
    return page.locator("tbody th strong").all_inner_texts()


def test_rows_marks_and_links(text, open_page):
    page = open_page(text)
    assert names(page) == ["successor", "lucky7", "glass-39"]
    assert page.locator(".sweep-mark").count() == 2
    cells = page.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[:2] == ["758", "8"]
    assert cells[2].split("\n") == ["4, 50.0%", "15.7% to 84.3%"]
    assert page.locator("tbody a").first.get_attribute("href") == "./models/successor-seed4.safetensors"
    assert "2 of 3 work units are done" in page.locator(".sentence").inner_text()
    assert not page.evaluate("window.bad")


def test_headings_sort(text, open_page):
    page = open_page(text)
    page.get_by_role("button", name="parameters").click()
    assert names(page) == ["glass-39", "lucky7", "successor"]
    page.get_by_role("button", name="parameters").click()
    assert names(page) == ["successor", "lucky7", "glass-39"]


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_a_phone(text, open_page, dark):
    page = open_page(text, width=390, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
