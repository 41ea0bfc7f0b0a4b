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


def opened(shared_page, target, panel="geometry", **options):
    page = shared_page(page_of(target), **options)
    wait_drawn(page, panel)
    return page


def items(rows, name):
    """The values of an item, `pos dim`."""
    found = [row for row in rows if row["item"] == name]
    places = list(dict.fromkeys(row["place"] for row in found))
    return np.array([[float(row["value"]) for row in found if row["place"] == place] for place in places])


@pytest.mark.parametrize("target", ["lucky7_no_resid"])
def test_every_point_is_the_one_of_the_pass(shared_page, target):
    page = opened(shared_page, target)
    rows, trace = rows_of(page, "geometry"), trace_of(page, target)
    for item, name in PARTS.items():
        assert_close(items(rows, item), trace[name])
    assert_close(items(rows, "token + position"), trace["embedded"])
    assert_close(items(rows, "weighted sum")[0], trace["attn.mixed"][-1])
    assert_close(items(rows, "bent by unit")[0], trace["ff.up"][-1])
    assert_close(items(rows, "given by unit")[0], trace["ff.hidden"][-1])


def test_the_region_under_h_is_that_of_the_winner(shared_page):
    page = opened(shared_page, "plus_last_even")
    winner = int(trace_of(page, "plus_last_even")["logits"][-1].argmax())
    script = """picture => {
      const end = picture.querySelector(`[data-kind=h][data-place="${glassformer.viewOf().place}"]`);
      const at = { x: Number(end.getAttribute("x")) + end.getBBox().width / 2, y: Number(end.getAttribute("y")) + end.getBBox().height / 2 };
      const under = [...picture.querySelectorAll("[data-region]")].filter((one) => one.isPointInFill(new DOMPoint(at.x, at.y)));
      return under.map((one) => Number(one.dataset.region)); }"""
    assert page.locator('[data-picture="residual stream"]').evaluate(script) == [winner]


def test_strips_thinner_than_the_grid_are_drawn_true(shared_page):
    """Random points of the map: the region that covers each is that of the token which the head writes there."""
    page = opened(shared_page, "microadder-57")
    found = page.locator('[data-picture="residual stream"]').evaluate(REGIONS_AT_RANDOM)
    assert all(one["regions"] for one in found)
    thin = [one for one in found if one["winner"] not in (0, 9)]
    assert np.mean([one["winner"] in one["regions"] for one in thin]) > 0.97


REGIONS_AT_RANDOM = """picture => {
  const view = glassformer.viewOf();
  const { data, shape: [width, places] } = view.at("stream");
  const [across, up] = [...picture.querySelectorAll("text")].map((one) => one.textContent)
    .filter((one) => one.startsWith("stream[")).map((one) => parseInt(one.slice(7)));
  const ends = [...picture.querySelectorAll("rect[data-kind=h]")].map((one) => {
    const box = one.getBBox(); const place = Number(one.dataset.place);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, u: data[across * places + place], v: data[up * places + place] };
  });
  const line = (to, from) => {
    const sorted = [...ends].sort((a, b) => a[to] - b[to]); const [a, b] = [sorted[0], sorted.at(-1)];
    return (pixel) => a[from] + ((pixel - a[to]) / (b[to] - a[to])) * (b[from] - a[from]);
  };
  const [U, V] = [line("x", "u"), line("y", "v")];
  const boxes = [...picture.querySelectorAll("[data-region]")].map((one) => one.getBBox());
  const [left, top] = [Math.min(...boxes.map((one) => one.x)), Math.min(...boxes.map((one) => one.y))];
  const [right, floor] = [Math.max(...boxes.map((one) => one.x + one.width)), Math.max(...boxes.map((one) => one.y + one.height))];
  const count = 1000;
  const spots = Array.from({ length: count }, (_, i) => new DOMPoint(left + (right - left) * (((i + 1) * 0.754877) % 1), top + (floor - top) * (((i + 1) * 0.569840) % 1)));
  const states = new Float64Array(width * count);
  for (let dim = 0; dim < width; dim++) states.fill(data[dim * places + view.place], dim * count, (dim + 1) * count);
  spots.forEach((spot, i) => { states[across * count + i] = U(spot.x); states[up * count + i] = V(spot.y); });
  const logits = view.through("readout", { shape: [width, count], data: states })("logits");
  const regions = [...picture.querySelectorAll("[data-region]")];
  return spots.map((spot, i) => {
    const column = Array.from({ length: logits.shape[0] }, (_, token) => logits.data[token * count + i]);
    return { winner: column.indexOf(Math.max(...column)), regions: regions.filter((one) => one.isPointInFill(spot)).map((one) => Number(one.dataset.region)) };
  });
}"""


def test_parts_that_a_model_lacks_are_left_out(shared_page):
    content = payload("lucky7")
    content["model"]["layers"][0] |= {"feedforward": False}
    page = shared_page(page_of("lucky7", model=content["model"]))
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
        "() => document.querySelector('#panel-geometry').textContent.includes('no finite numbers')"
    )
    assert page.locator(".panel.failed").count() == 0


def test_chosen_dimensions_are_drawn_and_stay_in_the_link(shared_page):
    page = opened(shared_page, "step_back")
    page.get_by_label("stream dimension along x").select_option("1")
    page.wait_for_function(f"() => {SHOWN}.dims !== null && {SHOWN}.dims[0] === 1")
    dims = page.evaluate(f"{SHOWN}.dims")
    assert "dims" in page.evaluate("glassformer.store.link()")
    page.wait_for_function(
        "text => document.querySelector('#panel-geometry .note').textContent.includes(text)",
        arg=f"Embeddings: dimensions {dims[0]} and {dims[1]} of 4",
    )


def test_a_dot_moves_the_cursor(shared_page):
    page = opened(shared_page, "plus_last_even")
    page.locator('[data-picture="values"] [data-kind=value][data-place="0"]').click()
    page.wait_for_function(f"() => {SHOWN}.place === 0")


def test_a_place_is_chosen_by_click_and_by_key(shared_page):
    page = opened(shared_page, "plus_last_even", "prediction")
    page.locator('#panel-prediction [data-key="place 1"]').click()
    page.wait_for_function(f"() => {SHOWN}.place === 1")
    page.wait_for_selector('#panel-prediction [data-key="place 1"][aria-pressed=true]')
    page.locator('#panel-prediction [data-key="place 1"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {SHOWN}.place === 2")
