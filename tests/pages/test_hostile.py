"""Nonsense: typed, pasted, or in a link. It changes nothing that was good, says one sentence, and throws nothing."""

import json
from urllib.parse import quote

import pytest

from .pages import SHOWN, page_of

HUGE = "9" * 50_000
SCRIPT = "<script>window.bad=1</script>"
NUMBER_WORDS = """() => {
  const shown = document.body.innerText;
  const drawn = [...document.querySelectorAll("svg *")].flatMap((one) => [...one.attributes].map((it) => it.value));
  return [shown, ...drawn].filter((text) => /NaN|Infinity|undefined|∞/.test(text));
}"""


def state(page, key):
    return page.evaluate(f"{SHOWN}.{key}")


@pytest.mark.parametrize(
    "text", ["", " ", "12 99", "4 7 + x", "1 " * 40, "-3", "1e5", "😀", SCRIPT, HUGE, "4;7"]
)
def test_what_is_no_input_of_a_rule_is_said_in_a_sentence(shared_page, text):
    page = shared_page(page_of("plus_last_even"))
    before = state(page, "input")
    page.fill("#input-text", text)
    said = page.inner_text("#input-error")
    assert "type 1 to 8 of the tokens" in said
    assert len(said) < 200
    assert state(page, "input") == before
    assert page.evaluate("window.bad") is None


@pytest.mark.parametrize(
    ("a", "said"),
    [
        ("", "A number is missing"),
        ("-3", "“-3” is not a whole number"),
        ("1e5", "“1e5” is not a whole number"),
        (SCRIPT, "is not a whole number"),
        ("1+2+3", "is not a sum"),
        (HUGE, "has more than 10 digits"),
    ],
)
def test_what_is_no_number_of_an_adder_is_named(shared_page, a, said):
    page = shared_page(page_of("microadder-57"))
    before = state(page, "input")
    page.fill("#input-a", a)
    words = page.inner_text("#input-error")
    assert said in words
    assert words.endswith("type two whole numbers of up to 10 digits, such as 57+68.")
    assert len(words) < 200
    assert state(page, "input") == before


def test_a_sum_is_typed_or_pasted_as_it_is_written(shared_page):
    page = shared_page(page_of("microadder-57"))
    page.fill("#input-a", "")
    page.locator("#input-a").press_sequentially("57")
    page.keyboard.type("+68")
    assert state(page, "input") == "57+68"
    page.evaluate(
        """() => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", " 999 + 1 = ");
          const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          document.querySelector("#input-b").dispatchEvent(paste);
        }"""
    )
    assert state(page, "input") == "999+1"
    assert (page.input_value("#input-a"), page.input_value("#input-b")) == ("999", "1")


def test_a_link_with_nonsense_is_read_as_far_as_it_can_be(open_page):
    changes = quote(json.dumps({"x": 1, "token.weight[0,0]": 1e31}))
    wish = f"step=abc&seed=-1&place=1e9&changes={changes}&dims=[9,9]&chosen=__proto__&theme=<b>&everyRow=true"
    page = open_page(page_of("plus_last_even"), hash=f"{wish}&input={quote(SCRIPT)}&__proto__=1&stranger=2")
    assert page.evaluate("JSON.stringify(glassformer.store.get())") == page.evaluate(
        "JSON.stringify({...glassformer.lab.firstState(), everyRow: true})"
    )
    said = page.inner_text("#notice")
    assert said.startswith("The link asks for ")
    assert "step “abc”, seed “-1”, place “1e9” and 5 more" in said
    assert page.evaluate("window.bad") is None
    page.fill("#input-text", "4 7 +")
    assert page.inner_text("#notice") == ""


def test_what_a_new_address_cannot_say_stays(open_page):
    page = open_page(page_of("plus_last_even"), hash="input=4+7+%2B&theme=dark")
    page.evaluate("location.hash = 'input=nonsense&theme=dark'")
    page.wait_for_function("() => document.querySelector('#notice').textContent !== ''")
    assert state(page, "input") == "4 7 +"
    assert "input “nonsense”" in page.inner_text("#notice")
    page.go_back()
    page.wait_for_function("() => document.querySelector('#notice').textContent === ''")
    assert (state(page, "input"), state(page, "theme")) == ("4 7 +", "dark")


@pytest.mark.parametrize(
    ("target", "key"), [("plus_last_even", "token.weight[0,0]"), ("microadder-57", "token.amplitude[]")]
)
def test_the_largest_number_draws_and_larger_ones_are_refused(open_page, target, key):
    page = open_page(page_of(target), hash=f"chosen={quote(key)}")
    page.evaluate("document.getElementById('panel-parameters').scrollIntoView()")
    for text in ("nan", "Infinity", "1e31", "1e308", "1,5", "<b>", HUGE):
        page.fill(".parameter-field", text)
        page.dispatch_event(".parameter-field", "change")
        assert "is not a number up to 1e+30" in page.inner_text(".parameter-error")
        assert len(page.inner_text(".parameter-error")) < 200
        assert state(page, "changes") == {}
    page.fill(".parameter-field", "-1e30")
    assert state(page, "changes") == {key: -1e30}
    page.emulate_media(media="print")  # every panel is drawn
    page.wait_for_function("() => !document.querySelector('.panel:not([data-draws])')")
    assert page.evaluate(NUMBER_WORDS) == []
