"""Prediction and geometry: their numbers are those of Python's pass, and the map under h is the true winner."""

import numpy as np
import pytest

from .pages import SHOWN, page_of, payload, wait_drawn
from .tables import assert_close, rows_of, trace_of

PARTS = {
    "e": "embedded",
    "z": "mid",
    "h": "stream",
    "query": "attn.query.0",
    "key": "attn.key.0",
    "value": "attn.v",
}


def opened(open_page, target, panel="geometry", **options):
    page = open_page(page_of(target), **options)
    wait_drawn(page, panel)
    return page


def items(rows, name):
    """The values of an item, `pos dim`."""
    found = [row for row in rows if row["item"] == name]
    places = list(dict.fromkeys(row["place"] for row in found))
    return np.array([[float(row["value"]) for row in found if row["place"] == place] for place in places])


@pytest.mark.parametrize("target", ["plus_last_even", "step_back", "lucky7_no_resid"])
def test_every_point_is_the_one_of_the_pass(open_page, target):
    page = opened(open_page, target)
    rows, trace = rows_of(page, "geometry"), trace_of(page, target)
    for item, name in PARTS.items():
        assert_close(items(rows, item), trace[name])
    assert_close(items(rows, "token + position"), trace["embedded"])
    assert_close(items(rows, "weighted sum")[0], trace["attn.mixed"][-1])
    assert_close(items(rows, "bent by unit")[0], trace["ff.up"][-1])
    assert_close(items(rows, "given by unit")[0], trace["ff.hidden"][-1])


def test_an_adder_has_the_same_pictures(open_page):
    page = opened(open_page, "microadder-57")
    rows, trace = rows_of(page, "geometry"), trace_of(page, "microadder-57")
    for item in ("query", "key"):
        values = [float(row["value"]) for row in rows if row["item"] == item]
        assert_close(np.array(values), trace[f"attn.{item}.0"].ravel())
    titles = page.locator("#panel-geometry [data-picture]").evaluate_all(
        "all => all.map(one => one.dataset.picture)"
    )
    assert titles == ["embeddings", "queries and keys", "values", "hinges", "residual stream"]


def test_the_region_under_h_is_that_of_the_winner(open_page):
    page = opened(open_page, "plus_last_even")
    winner = int(trace_of(page, "plus_last_even")["logits"][-1].argmax())
    script = """picture => {
      const end = picture.querySelector(`[data-kind=h][data-place="${glassformer.viewOf().place}"]`);
      const at = { x: Number(end.getAttribute("x")) + end.getBBox().width / 2, y: Number(end.getAttribute("y")) + end.getBBox().height / 2 };
      const under = [...picture.querySelectorAll("[data-region]")].filter((one) => one.isPointInFill(new DOMPoint(at.x, at.y)));
      return under.map((one) => Number(one.dataset.region)); }"""
    assert page.locator('[data-picture="residual stream"]').evaluate(script) == [winner]


def test_parts_that_a_model_lacks_are_left_out(open_page):
    content = payload("lucky7")
    content["model"]["layers"][0] |= {"feedforward": False}
    page = open_page(page_of("lucky7", model=content["model"]))
    wait_drawn(page, "geometry")
    titles = page.locator("#panel-geometry [data-picture]").evaluate_all(
        "all => all.map(one => one.dataset.picture)"
    )
    assert titles == ["embeddings", "queries and keys", "values", "residual stream"]


def test_numbers_that_are_none_break_no_panel(open_page):
    page = opened(open_page, "plus_last_even")
    page.evaluate("""() => {
      const { lab, store, viewOf } = glassformer;
      const params = lab.paramsOf(store.get());
      params["token.weight"].data.fill(NaN);
      store.set({ input: "4 7" }); }""")
    page.wait_for_function(
        "document.querySelector('#panel-geometry').textContent.includes('no finite numbers')"
    )
    assert page.locator(".panel.failed").count() == 0


def test_chosen_dimensions_are_drawn_and_stay_in_the_link(open_page):
    page = opened(open_page, "step_back")
    page.get_by_label("stream dimension along x").select_option("1")
    page.wait_for_function(f"{SHOWN}.dims !== null && {SHOWN}.dims[0] === 1")
    dims = page.evaluate(f"{SHOWN}.dims")
    assert "dims" in page.evaluate("glassformer.store.link()")
    page.wait_for_function(
        "text => document.querySelector('#panel-geometry .note').textContent.includes(text)",
        arg=f"Embeddings: dimensions {dims[0]} and {dims[1]} of 4",
    )


def test_a_dot_moves_the_cursor(open_page):
    page = opened(open_page, "plus_last_even")
    page.locator('[data-picture="values"] [data-kind=value][data-place="0"]').click()
    page.wait_for_function(f"{SHOWN}.place === 0")


def test_probabilities_and_demands_are_pythons(open_page):
    page = opened(open_page, "plus_last_even", "prediction")
    rows, trace = rows_of(page, "prediction"), trace_of(page, "plus_last_even")
    assert_close(np.array([float(row["logit"]) for row in rows]), trace["logits"].ravel())
    powers = np.exp(trace["logits"] - trace["logits"].max(-1, keepdims=True))
    shares = powers / powers.sum(-1, keepdims=True)
    assert_close(np.array([float(row["probability"]) for row in rows]), shares.ravel())
    shown = page.locator("#panel-prediction [data-winner=true]").get_attribute("data-token")
    assert int(shown) == int(trace["logits"][-1].argmax())
    answer = page.evaluate("glassformer.viewOf().answer")
    allowed = page.locator("#panel-prediction [data-allowed=true]").evaluate_all(
        "all => all.map(one => Number(one.dataset.token))"
    )
    assert allowed == (answer["allowed"] if answer["demand"] else [])


def test_a_place_is_chosen_by_click_and_by_key(open_page):
    page = opened(open_page, "plus_last_even", "prediction")
    page.locator('#panel-prediction [data-key="place 1"]').click()
    page.wait_for_function(f"{SHOWN}.place === 1")
    page.wait_for_selector('#panel-prediction [data-key="place 1"][aria-pressed=true]')
    page.locator('#panel-prediction [data-key="place 1"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{SHOWN}.place === 2")
