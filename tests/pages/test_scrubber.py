"""The scrubber: every checkpoint by keys, drag, play and click; the final model is its last stop."""

import pytest

from .pages import SHOWN, page_of, payload, with_seeds


@pytest.fixture
def page(shared_page):
    return shared_page(page_of("plus_last_even"))


def steps():
    return payload("plus_last_even")["training"]["steps"]


def at_step(page, step):
    page.wait_for_function(f"step => {SHOWN}.step === step", arg=step)


def test_it_begins_at_the_chosen_model(page):
    assert page.input_value("#scrub") == str(len(steps()))
    assert "final model" in page.inner_text(".scrub-words")


def test_a_click_in_the_curve_goes_there(page):
    box = page.locator("#scrubber .curve svg").bounding_box()
    page.mouse.click(box["x"] + 1, box["y"] + 5)
    at_step(page, steps()[0])
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + 5)
    at_step(page, steps()[-1])
    page.mouse.click(box["x"] + box["width"] - 1.5, box["y"] + 5)
    at_step(page, None)


@pytest.mark.parametrize("target", ["plus_last_even", "lucky7"])
def test_nothing_moves_under_the_pointer(shared_page, target):
    page = shared_page(page_of(target))
    before = page.locator("#scrub").bounding_box()
    page.evaluate("() => glassformer.store.set({ step: glassformer.payload.training.steps[0] })")
    page.wait_for_selector("#header .changed:has-text('is shown')")
    page.wait_for_selector("#badge:has-text('not the one shown')")
    assert page.locator("#scrub").bounding_box() == before


def test_playing_goes_from_the_start_to_the_end_and_stops(page):
    page.select_option(".scrub-speed", "5")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("p")
    page.wait_for_selector("#play[aria-label='Pause']")
    page.wait_for_function(f"() => {SHOWN}.step !== null")
    page.wait_for_selector("#play[aria-label='Play the training']")
    at_step(page, None)


def test_a_pause_stays_where_it_is(page):
    page.click("#play")
    page.wait_for_function(f"() => {SHOWN}.step !== null")
    page.click("#play")
    page.wait_for_selector("#play[aria-label='Play the training']")
    assert page.evaluate(f"{SHOWN}.step") in steps()


def test_another_seed_has_no_checkpoints(open_page):
    page = open_page(page_of("plus_last_even", population=with_seeds("plus_last_even")), hash="seed=2")
    page.wait_for_selector("#scrub:disabled")
    assert "final model of seed 2" in page.inner_text("#scrubber")
    page.click("#scrubber .link")
    page.wait_for_selector("#scrub:enabled")
    assert page.evaluate(f"{SHOWN}.seed") is None


def test_a_model_without_a_training_says_so(shared_page):
    page = shared_page(page_of("microadder-57"))
    assert page.inner_text("#scrubber") == payload("microadder-57")["missing"]["training"].replace("`", "")
    assert page.locator("#scrub").count() == 0


def test_thinned_checkpoints_are_said(open_page):
    note = "12 of 2,000 checkpoints are here, evenly, to keep the page small."
    training = payload("plus_last_even")["training"] | {"note": note}
    assert note in open_page(page_of("plus_last_even", training=training)).inner_text("#scrubber")
