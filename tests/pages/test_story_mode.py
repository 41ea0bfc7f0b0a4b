"""Story mode: Space moves on, a chapter shows what it speaks of, and a field keeps its keys."""

import pytest

from .pages import SHOWN, page_of, payload


def chapters():
    step = payload("plus_last_even")["training"]["steps"][2]
    return [
        {"title": "First", "text": "The whole.", "panel": "", "state": {}},
        {"title": "Second", "text": "An input.", "panel": "proof", "state": {"input": "4 7 +"}},
        {"title": "Third", "text": "A step.", "panel": "population", "state": {"step": step}},
    ]


@pytest.fixture
def page(shared_page):
    return shared_page(page_of("plus_last_even", story=chapters()), reduced_motion="reduce")


def at_chapter(page, number):
    page.wait_for_function(f"number => {SHOWN}.chapter === number", arg=number)


def told(page, title):
    page.wait_for_function(
        "title => document.querySelector('#story .title').textContent.startsWith(title)", arg=title
    )


def test_the_untouched_page_tells_the_first_chapter(page):
    told(page, "First")
    assert "The whole." in page.inner_text("#story")
    assert "reading" not in (page.get_attribute("#story", "class") or "")
    assert (
        page.evaluate(
            "document.querySelector('#story').compareDocumentPosition(document.querySelector('#bar'))"
        )
        == 4
    )


def test_space_moves_on_and_shift_space_back(page):
    page.keyboard.press("Space")
    at_chapter(page, 0)
    page.wait_for_selector("#story.reading")
    page.keyboard.press("Space")
    told(page, "Second")
    assert page.evaluate(f"{SHOWN}.input") == "4 7 +"
    page.wait_for_selector("#panel-proof.pointed")
    page.wait_for_function(
        "() => Math.abs(document.querySelector('#panel-proof').getBoundingClientRect().top) < innerHeight / 2"
    )
    page.keyboard.press("Shift+Space")
    told(page, "First")
    at_chapter(page, 0)


def test_a_chapter_shows_its_own_state_whatever_was_open(page):
    page.click("#story [data-key='dot-2']")
    at_chapter(page, 2)
    assert page.evaluate(f"{SHOWN}.step") == chapters()[2]["state"]["step"]
    page.click("#story [data-key='dot-1']")
    at_chapter(page, 1)
    assert page.evaluate(f"[{SHOWN}.step, {SHOWN}.input]") == [None, "4 7 +"]


def test_escape_leaves_and_the_end_leaves(page):
    page.keyboard.press("Space")
    at_chapter(page, 0)
    page.keyboard.press("Escape")
    at_chapter(page, None)
    page.wait_for_selector("#story:not(.reading)")
    page.click("#story [data-key='dot-2']")
    page.wait_for_selector("#story [data-key='next']:has-text('Done')")
    page.click("#story [data-key='next']")
    at_chapter(page, None)


def test_the_focus_stays_on_the_button(page):
    page.focus("#story [data-key='next']")
    page.keyboard.press("Space")
    page.wait_for_selector("#story.reading")
    page.keyboard.press("Space")
    told(page, "Second")
    assert page.evaluate("document.activeElement.dataset.key") == "next"


def test_a_field_keeps_its_space(page):
    page.focus("#input-text")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    assert page.evaluate(f"{SHOWN}.chapter") is None
    assert page.input_value("#input-text").endswith(" ")


def test_a_link_opens_its_chapter(open_page):
    page = open_page(page_of("plus_last_even", story=chapters()), hash="chapter=1&panel=proof")
    told(page, "Second")
    page.wait_for_selector("#story.reading")


def test_a_question_mark_lists_the_keys(page):
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    assert "next chapter" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")


def test_a_page_without_a_story_has_no_card(open_page):
    page = open_page(page_of("plus_last_even", story=[]))
    page.keyboard.press("Space")
    assert page.locator("#story").count() == 0
    assert page.evaluate(f"{SHOWN}.chapter") is None
