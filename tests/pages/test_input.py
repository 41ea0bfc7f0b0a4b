"""The input: typed, clicked, refused. What cannot be read changes nothing but the sentence that says so."""

import pytest

from .browser import NEXT_FRAME
from .pages import SHOWN, page_of, payload


@pytest.fixture
def rule(shared_page):
    return shared_page(page_of("plus_last_even"))


@pytest.fixture
def adder(shared_page):
    return shared_page(page_of("microadder-57"))


def shown(page):
    return page.evaluate(f"{SHOWN}.input")


def glance(page, text):
    """Waits for words in the answer to the input of now: the one before may have had the same."""
    page.evaluate(NEXT_FRAME)
    page.wait_for_function("text => document.querySelector('#answer').textContent.includes(text)", arg=text)


def test_the_first_input_is_the_hardest(rule):
    start = payload("plus_last_even")["start"]["input"]
    assert rule.input_value("#input-text") == start == shown(rule)
    assert rule.locator("#answer .cells .token").all_inner_texts() == start.split()


def test_typing_is_read_at_once(rule):
    rule.fill("#input-text", "4 7 +")
    glance(rule, "✓ right")
    assert shown(rule) == "4 7 +"
    assert rule.locator("#answer .token.next").inner_text() == "4"


def test_nonsense_says_what_is_valid_and_changes_nothing(rule):
    rule.fill("#input-text", "4 7 +")
    glance(rule, "✓ right")
    before = rule.inner_text("#answer")
    rule.fill("#input-text", "4 7 x")
    rule.wait_for_selector("#input-error:not(:empty)")
    assert "x" in rule.inner_text("#input-error")
    assert "0 1 2" in rule.inner_text("#input-error")
    assert rule.get_attribute("#input-text", "aria-invalid") == "true"
    assert (shown(rule), rule.inner_text("#answer")) == ("4 7 +", before)


def test_what_is_typed_before_the_next_frame_stays(rule):
    """Two keys within one frame: the second, which cannot be read, is neither overwritten nor forgiven."""
    rule.evaluate("""() => {
      const field = document.querySelector("#input-text");
      for (const text of ["4 7 +", "4 7 x"]) {
        field.value = text;
        field.dispatchEvent(new Event("input"));
      }
    }""")
    glance(rule, "✓ right")
    assert (shown(rule), rule.input_value("#input-text")) == ("4 7 +", "4 7 x")
    assert "x" in rule.inner_text("#input-error")


def test_clicks_before_the_next_frame_all_count(rule):
    rule.fill("#input-text", "4 7 +")
    glance(rule, "✓ right")
    rule.evaluate("""() => {
      const next = document.querySelector("#answer .token.next");
      (next.click(), next.click());
    }""")
    assert shown(rule) == "4 7 + 4 4"


def test_escape_brings_the_last_good_text_back(rule):
    rule.fill("#input-text", "4 7 +")
    rule.fill("#input-text", "nonsense")
    rule.press("#input-text", "Escape")
    assert rule.input_value("#input-text") == "4 7 +"
    assert rule.get_attribute("#input-text", "aria-invalid") is None
    assert rule.inner_text("#input-error") == ""


def test_tokens_are_appended_and_removed_by_clicks(rule):
    rule.fill("#input-text", "4 7")
    glance(rule, "nothing demanded")
    rule.click("#input .tokens [aria-label='Append +']")
    glance(rule, "✓ right")
    assert (shown(rule), rule.input_value("#input-text")) == ("4 7 +", "4 7 +")
    rule.click("#answer [aria-label='Remove 7 at position 1']")
    rule.wait_for_function(f"() => {SHOWN}.input === '4 +'")
    rule.click("#input [aria-label='Remove the last token']")
    rule.wait_for_function(f"() => {SHOWN}.input === '4'")
    rule.wait_for_function("() => document.querySelector('#input-text').value === '4'")


def test_a_full_window_takes_no_more(rule):
    rule.fill("#input-text", "1 2 3 4 5 6 7 8")
    rule.click("#input .tokens [aria-label='Append 9']")
    rule.wait_for_selector("#input-error:not(:empty)")
    assert shown(rule) == "1 2 3 4 5 6 7 8"


def test_the_hardest_input_comes_back(rule):
    rule.fill("#input-text", "1")
    rule.click("#worst-input")
    assert shown(rule) == payload("plus_last_even")["start"]["input"]


def test_two_numbers_give_their_sum(adder):
    adder.fill("#input-a", "57")
    adder.fill("#input-b", "68")
    glance(adder, "125")
    assert shown(adder) == "57+68"
    adder.click("#swap-input")
    adder.wait_for_function(f"() => {SHOWN}.input === '68+57'")
    assert (adder.input_value("#input-a"), adder.input_value("#input-b")) == ("68", "57")


def test_a_number_with_too_many_digits_is_refused(adder):
    before = shown(adder)
    adder.fill("#input-a", "12345678901")
    adder.wait_for_selector("#input-error:not(:empty)")
    assert "10" in adder.inner_text("#input-error")
    assert (shown(adder), adder.get_attribute("#input-a", "aria-invalid")) == (before, "true")


def test_random_numbers_are_valid(adder):
    for _ in range(5):
        before = shown(adder)
        adder.click("#random-input")
        adder.wait_for_function(f"before => {SHOWN}.input !== before", arg=before)
        a, b = map(int, shown(adder).split("+"))
        glance(adder, str(a + b))


def test_wrong_digits_are_marked(shared_page):
    page = shared_page(page_of("nanogpt-58"))
    glance(page, "✗ wrong")
    example = payload("nanogpt-58")["proof"]["counterexample"]
    assert page.inner_text("#answer .sum") == example["got"]
    wrong = sum(a != b for a, b in zip(example["got"].zfill(12), example["expected"].zfill(12), strict=True))
    assert page.locator("#answer .wrong-digit").count() == wrong
