"""The digit table and the number line: every number is Python's, and the cursor goes by click, key and button."""

import json
from dataclasses import replace

import numpy as np
import pytest

from glassformer.models.adding import write_sum
from glassformer.models.blocks import to_dense
from glassformer.models.forward import finish_layer, ignore_record, read_out_logits, untie_parameters
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.runs.load import load_model

from .pages import SHOWN, page_of, wait_drawn

RELATIVE = 1e-9  # the page and NumPy, both in float64, add in another order
A, B = 9430888744, 9589815734


@pytest.fixture
def page(open_page):
    page = open_page(page_of("microadder-57"), hash=f"input={A}%2B{B}")
    wait_drawn(page, "digits")
    return page


def in_float64(name):
    loaded = load_model(name)
    return Model(replace(loaded.architecture, precision="float64"), loaded.params), loaded.task


def chosen(page):
    return page.evaluate("glassformer.viewOf().place")


def test_margins_and_weights_are_pythons(page):
    model, task = in_float64("microadder-57")
    wanted = write_sum(model, task, A, B)
    digits = page.evaluate("glassformer.viewOf().answer.digits")
    assert wanted.right and [digit["token"] for digit in digits] == [digit.token for digit in wanted.digits]
    np.testing.assert_allclose(
        [digit["margin"] for digit in digits], [digit.margin for digit in wanted.digits], rtol=RELATIVE
    )
    tokens = np.array(page.evaluate("glassformer.viewOf().tokens"))
    weights = model.trace(tokens)["attn.weights.0"][chosen(page)]
    arcs = page.locator("#panel-digits .arc").all()
    drawn = {int(arc.get_attribute("data-place")): float(arc.get_attribute("data-weight")) for arc in arcs}
    assert set(drawn) == set(np.flatnonzero(weights >= 0.001))
    np.testing.assert_allclose([drawn[place] for place in drawn], weights[list(drawn)], rtol=RELATIVE)


def test_the_cursor_goes_by_click_key_and_button(page):
    page.locator("#panel-digits .digit-column[data-column='0']").click()
    page.wait_for_function(f"() => {SHOWN}.place === 21")
    page.locator("#panel-digits .digits-stage").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => {SHOWN}.place === 22")
    page.wait_for_function("() => document.activeElement.matches('.digits-stage')")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => {SHOWN}.place === 21")
    after = page.locator("#panel-digits button:has-text('next digit')")
    after.click()
    page.wait_for_function(f"() => {SHOWN}.place === 22")
    after.evaluate("button => { button.click(); button.click(); }")  # faster than the drawing
    page.wait_for_function(f"() => {SHOWN}.place === 24")


def test_a_wrong_digit_is_marked_and_named(open_page):
    page = open_page(page_of("nanogpt-58"), hash="input=5388742030%2B746297626")
    wait_drawn(page, "digits")
    answer = page.evaluate(
        "(({got, expected, digits}) => ({got, expected, digits}))(glassformer.viewOf().answer)"
    )
    wrong = [digit for digit in answer["digits"] if digit["token"] != digit["wanted"]]
    assert wrong and answer["got"] != answer["expected"]
    assert page.locator("#panel-digits .digit-table path").count() == len(wrong)  # a cross on each
    page.locator(f"#panel-digits .digit-column[data-column='{wrong[0]['column']}']").click()
    page.wait_for_function(
        "words => document.querySelector('#panel-digits .digit-reading').textContent.includes(words)",
        arg=f"✗ {wrong[0]['token']}, not {wrong[0]['wanted']}",
    )


def test_of_many_heads_one_is_chosen(shared_page):
    page = shared_page(page_of("tinyadder-95"))
    wait_drawn(page, "digits")
    page.select_option("#panel-digits select", "0,3")
    page.wait_for_function(f"() => {SHOWN}.head === 3")
    assert page.locator("#panel-digits .arc-strip").count() == 1


def test_the_borders_are_where_the_model_changes_its_mind(page):
    """NumPy's own pass writes each band's digit on both sides of its borders, a millionth of the line away."""
    page.locator("#panel-digits .digit-column[data-column='3']").click()
    page.wait_for_function(f"() => {SHOWN}.place === 24")
    wait_drawn(page, "numberline")
    page.wait_for_function(
        "() => document.querySelector('#panel-numberline figure').ariaLabel.includes('column 3')"
    )
    rows = saved_rows(page)
    bands = [row for row in rows if row["kind"] == "band"]
    model, _ = in_float64("microadder-57")
    kept = model.trace(np.array(page.evaluate("glassformer.viewOf().tokens")))
    direction = model.params["attn.out.write"] / np.linalg.norm(model.params["attn.out.write"])
    direction = direction * np.sign(direction[np.abs(direction).argmax()])  # what attention adds is rank one
    now = kept["attn.output"][24] @ direction
    assert rows[0]["from"] == pytest.approx(now, rel=RELATIVE)
    near = 1e-6 * (bands[-1]["to"] - bands[0]["from"])
    for band in bands:
        points = np.array([band["from"] + near, band["to"] - near])
        moved = kept["attn.output"][24] + (points - now)[:, None] * direction
        assert [str(token) for token in decided(model, kept["embedded"][24], moved)] == [band["writes"]] * 2


def saved_rows(page):
    """The data of the number line, as its menu saves it."""
    page.locator("#panel-numberline .menu summary").click()
    with page.expect_download() as download:
        page.locator("#panel-numberline [data-format=JSON]").click()
    content = json.loads(download.value.path().read_text())
    return [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]


def decided(model, stream, moved):
    """The tokens that the rest of the pass writes where attention adds `moved`, `batch dim`, to the stream."""
    shape, ops = model.architecture, NumpyOps("float64")
    params = untie_parameters(shape, model.params)
    kept = np.repeat(stream[:, None, None], len(moved), 2)
    settled = finish_layer(shape.layers[-1], ops, params, "", kept, moved.T[:, None], ignore_record)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    return to_dense(read_out_logits(shape, ops, params, settled, table, ignore_record))[:, 0].argmax(0)
