"""The attention panel: matrices and sums are those of Python's pass, and a cell keeps what it was asked for."""

from .pages import SHOWN, page_of, payload, wait_drawn
from .tables import rows_of, trace_of


def opened(shared_page, target, **options):
    page = shared_page(page_of(target), **options)
    wait_drawn(page, "attention")
    return page


def test_the_cursors_largest_weight_is_explained_first(shared_page):
    page = opened(shared_page, "plus_last_even")
    weights = trace_of(page, "plus_last_even")["attn.weights.0"]
    best = int(weights[-1].argmax())
    name = page.evaluate("place => glassformer.viewOf().labels[place] + '@p' + place", best)
    assert f"attends to {name}" in page.locator("#panel-attention .detail h3").inner_text()


def test_a_cell_that_is_pointed_at_is_explained_and_a_click_keeps_it(shared_page):
    page = opened(shared_page, "plus_last_even")
    heading = page.locator("#panel-attention .detail h3")
    first = heading.inner_text()
    page.locator('#panel-attention [data-key="weights 3 1"]').hover()
    assert heading.inner_text() != first
    page.locator('#panel-attention [data-key="weights 3 1"]').click()
    page.wait_for_function(f"() => {SHOWN}.place === 3 && {SHOWN}.key === 1")
    page.wait_for_function(
        "text => document.querySelector('.detail h3').textContent.includes(text)", arg="@p1:"
    )


def test_the_arrow_keys_walk_the_cells(shared_page):
    page = opened(shared_page, "plus_last_even")
    page.locator('#panel-attention [data-key="scores 2 2"]').focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.key") == "scores 2 1"
    assert "@p2 attends to" in page.locator("#panel-attention .detail h3").inner_text()


def test_an_adder_shows_the_rows_that_write_and_all_on_demand(shared_page):
    page = opened(shared_page, "microadder-57")
    places = {row["query place"] for row in rows_of(page, "attention")}
    assert places == {"=", *(f"z{k}" for k in range(10))}
    page.get_by_role("button", name="all positions").click()
    page.wait_for_function(
        "() => document.querySelectorAll('[data-matrix=scores] [data-key^=\"scores 5 \"]').length === 6"
    )
    assert len({row["query place"] for row in rows_of(page, "attention")}) > 30


def test_a_model_without_attention_says_so(shared_page):
    content = payload("lucky7")
    content["model"]["layers"][0] |= {"attention": False, "heads": 0}
    page = shared_page(page_of("lucky7", model=content["model"]))
    wait_drawn(page, "attention")
    assert page.locator("#panel-attention p.missing").inner_text() == "This model has no attention."


def test_a_wide_matrix_scrolls_inside_its_card_on_a_phone(shared_page):
    page = opened(shared_page, "microadder-57", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wider = "matrix => matrix.scrollWidth > matrix.clientWidth"
    assert page.locator("[data-matrix=weights]").evaluate(wider)
