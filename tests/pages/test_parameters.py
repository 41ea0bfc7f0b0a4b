"""The parameters panel: lossless values, and a change by drag, key, slider or field that everything follows."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.model import Model
from glassformer.runs.load import load_model

from .pages import SHOWN, page_of, wait_drawn

KEY = "ff.up.weight[0,1]"
CELL = f'#panel-parameters [data-key="{KEY}"]'
SLOPE_TOLERANCE = 1e-5  # of a central difference against another one with its own step


@pytest.fixture
def page(shared_page):
    page = shared_page(page_of("microadder-57"))
    wait_drawn(page, "parameters")
    return page


def choose(page):
    page.locator(CELL).click()
    page.wait_for_function(f"key => {SHOWN}.chosen === key", arg=KEY)
    page.wait_for_selector("#panel-parameters:not([data-stale]) .parameter-margin-slope")


def changed(page):
    return page.evaluate(f"{SHOWN}.changes")


def stored():
    return float(load_model("microadder-57").params["ff.up.weight"][0, 1])


def test_dragging_a_cell_moves_the_answer_and_the_error(page):
    choose(page)
    before = page.inner_text("#panel-parameters .parameter-test")
    box = page.locator(CELL).bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 10, steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => {SHOWN}.changes['{KEY}'] !== undefined")
    assert changed(page)[KEY] == pytest.approx(stored() + 60 * abs(stored()) / 100)
    wrong, total = page.evaluate("(({wrong, total}) => [wrong, total])(glassformer.viewOf().error)")
    words = f"right on {total - wrong} of {total} test inputs"
    assert wrong > 0 and words != before
    page.wait_for_function(
        "words => document.querySelector('.parameter-test').textContent === words", arg=words
    )
    page.locator(".parameter-undo").click()
    page.wait_for_function(f"() => Object.keys({SHOWN}.changes).length === 0")
    page.wait_for_function(
        "before => document.querySelector('.parameter-test').textContent === before", arg=before
    )


def test_keys_change_reset_and_walk(page):
    choose(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    page.wait_for_function(f"() => {SHOWN}.changes['{KEY}'] !== undefined")
    assert changed(page)[KEY] == pytest.approx(stored() + 0.11 * abs(stored()))
    page.keyboard.press("Delete")
    page.wait_for_function(f"() => Object.keys({SHOWN}.changes).length === 0")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => {SHOWN}.chosen === 'ff.up.weight[0,2]'")


def test_keys_faster_than_the_drawing_all_count(page):
    choose(page)
    page.locator(CELL).evaluate(
        """cell => {
          for (const shiftKey of [false, false, true])
            cell.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", shiftKey, bubbles: true }));
        }"""
    )
    assert changed(page)[KEY] == pytest.approx(stored() + 0.12 * abs(stored()))


def test_the_field_takes_numbers_and_refuses_nonsense(page):
    choose(page)
    field = page.locator(".parameter-field")
    field.fill("-0.25")
    page.wait_for_function(f"() => {SHOWN}.changes['{KEY}'] === -0.25")
    field.fill("abc")
    field.press("Tab")
    page.wait_for_selector(".parameter-error:has-text('is not a number')")
    assert changed(page) == {KEY: -0.25} and field.input_value() == "-0.25"


def test_the_slider_survives_its_own_redraw(page):
    choose(page)
    slider = page.locator(".parameter-slider")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => {SHOWN}.changes['{KEY}'] !== undefined")
    assert page.evaluate("document.activeElement.matches('.parameter-slider')")
    assert changed(page)[KEY] > stored()


def test_slopes_are_those_of_the_forward_pass(page):
    choose(page)
    view = page.evaluate(
        "(view => ({tokens: view.tokens, place: view.place, digits: view.answer.digits}))(glassformer.viewOf())"
    )
    loaded = load_model("microadder-57")
    wanted = next(digit["wanted"] for digit in view["digits"] if digit["place"] == view["place"])

    def margin(value):
        weight = np.asarray(loaded.params["ff.up.weight"], np.float64).copy()
        weight[0, 1] = value
        shape = replace(loaded.architecture, precision="float64")
        logits = Model(shape, {**loaded.params, "ff.up.weight": weight}).forward(np.array(view["tokens"]))
        here = logits[view["place"]]
        return here[wanted] - np.delete(here, wanted).max()

    slope = (margin(stored() + 1e-5) - margin(stored() - 1e-5)) / 2e-5
    shown = page.inner_text(".parameter-margin-slope").replace("\N{MINUS SIGN}", "-")
    assert float(shown) == pytest.approx(slope, rel=1e-3, abs=SLOPE_TOLERANCE)
