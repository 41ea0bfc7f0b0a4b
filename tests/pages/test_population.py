"""The population panel: every seed a mark, and where the weights are kept a click opens one."""

import pytest

from .pages import SHOWN, page_of, payload, wait_drawn, with_seeds


@pytest.fixture
def page(open_page):
    page = open_page(page_of("plus_last_even", population=with_seeds("plus_last_even")))
    wait_drawn(page, "population")
    return page


def test_every_seed_has_a_mark(page):
    rows = payload("plus_last_even")["population"]["rows"]
    marks = page.locator("#panel-population [data-seed]")
    assert sorted(int(mark.get_attribute("data-seed")) for mark in marks.all()) == [
        row["seed"] for row in rows
    ]


def test_a_seed_is_opened_by_a_click_and_closed_by_the_chosen_one(page):
    page.locator("#panel-population [data-seed='1']").click(force=True)
    page.wait_for_function(f"() => {SHOWN}.seed === 1")
    page.wait_for_selector("#header .changed:has-text('seed 1 is shown')")
    name = next(iter(payload("plus_last_even")["weights"]))
    moved = page.evaluate("name => glassformer.viewOf().params[name].data[0]", name)
    page.select_option("#population-seed", "7")
    page.wait_for_function(f"() => {SHOWN}.seed === null")
    own = page.evaluate("name => glassformer.viewOf().params[name].data[0]", name)
    assert moved - own == pytest.approx(-3.0)


def test_a_seed_is_opened_by_enter(page):
    page.locator("#panel-population [data-seed='2']").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {SHOWN}.seed === 2")
    page.wait_for_function("() => document.activeElement.dataset.seed === '2'")


def test_the_axes_are_chosen(page):
    before = page.locator("#panel-population [data-seed='2'] circle").first.get_attribute("cy")
    page.select_option("#population-y", "margin")
    page.wait_for_function(
        "before => document.querySelector('#panel-population [data-seed=\"2\"] circle').getAttribute('cy') !== before",
        arg=before,
    )
    assert "smallest margin" in page.locator("#panel-population figure").text_content()


def test_without_weights_no_seed_can_be_opened(open_page):
    kept = {"params": None, "note": "The weights were not kept."}
    page = open_page(page_of("plus_last_even", population=payload("plus_last_even")["population"] | kept))
    wait_drawn(page, "population")
    assert page.locator("#population-seed").count() == 0
    assert kept["note"] in page.inner_text("#panel-population .note")
    page.locator("#panel-population [data-seed='2']").click(force=True)
    assert page.evaluate(f"{SHOWN}.seed") is None


def test_a_model_alone_says_so(open_page):
    page = open_page(page_of("microadder-57"))
    wait_drawn(page, "population")
    sentence = payload("microadder-57")["missing"]["population"].replace("`", "")
    assert sentence in page.inner_text("#panel-population").replace("`", "")
