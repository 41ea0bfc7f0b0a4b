"""The badge and the proof panel say what the run's proof says, and a worst input is a click away."""

import json
import re

from .pages import SHOWN, page_of, payload, wait_drawn


def numbers_of(page, panel):
    """The table that a panel would save."""
    with page.expect_download() as download:
        page.click(f"#panel-{panel} .menu summary")
        page.click(f"#panel-{panel} [data-format=JSON]")
    return json.loads(download.value.path().read_text())


def test_a_refuted_models_badge_loads_its_counterexample(shared_page):
    page = shared_page(page_of("nanogpt-58"))
    example = payload("nanogpt-58")["proof"]["counterexample"]
    assert f"gives {example['got']}, not {example['expected']}" in page.inner_text("#badge")
    page.fill("#input-a", "1")
    page.wait_for_function(f"input => {SHOWN}.input !== input", arg=example["input"])
    page.click("#badge")
    page.wait_for_function(f"input => {SHOWN}.input === input", arg=example["input"])


def test_a_model_without_a_proof_says_how_to_get_one(open_page):
    missing = {"proof": "No proof was made: `glassformer prove x` makes one."}
    page = open_page(page_of("plus_last_even", proof=None, missing=missing))
    assert "No proof" in page.inner_text("#badge")
    assert "glassformer prove x makes one" in page.inner_text("#badge")
    wait_drawn(page, "proof")
    assert missing["proof"].replace("`", "") in page.inner_text("#panel-proof").replace("`", "")


def test_every_answer_digit_has_its_margin(shared_page):
    page = shared_page(page_of("microadder-57"))
    wait_drawn(page, "proof")
    rows = numbers_of(page, "proof")["rows"]
    steps = payload("microadder-57")["proof"]["steps"]
    assert [row[2] for row in rows if row[0] == "digit margin"] == [step["margin"] for step in steps]
    assert len(steps) == 11


def test_the_words_of_the_picture_are_made_from_the_data(shared_page):
    page = shared_page(page_of("plus_last_even"))
    wait_drawn(page, "proof")
    words = page.get_attribute("#panel-proof figure", "aria-label")
    assert re.search(r"181 classes 181 are proved.*smallest margin is 0\.8007.*0 of 256 are wrong", words)
