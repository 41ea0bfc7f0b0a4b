"""The page of a question in a real browser: it reads prompts, and answers them as Python does."""

import json

import numpy as np
import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.models.margins import measure_margins
from glassformer.pages.payload import make_page_payload
from glassformer.pages.write import make_html
from glassformer.runs.config import Run
from glassformer.runs.load import make_loaded_model
from glassformer.tasks import Prompts, make_task, tabulate_automaton

from .pages import page_of, wait_drawn
from .questions import NAMES, load_question, question_payload
from .test_payload import fields

ANSWERS = """(inputs) => inputs.map((input) => {
  const { winner, right, margin, allowed } = glassformer.lab.view({ ...glassformer.lab.firstState(), input }).answer;
  return { winner, right, margin, allowed };
})"""


def wide_payload():
    """113 tokens and a mark, at random numbers: every panel must stand it."""
    run = Run(task=make_task("modular"), model=make_reference_architecture(width=4, context=3, head_size=4))
    random = np.random.default_rng(0)
    shapes = {name: one.shape for name, one in list_parameters(run.architecture).items()}
    params = {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    return make_page_payload(make_loaded_model(run, params, "wide"))


@pytest.mark.parametrize("name", NAMES)
def test_the_data_are_as_types_js_has_them(name):
    page = question_payload(name)
    json.dumps(page, allow_nan=False)
    assert page["family"] == "question"
    assert set(page) == fields("Payload")
    assert set(page["task"]) == fields("QuestionTask")
    assert set(page["task"]["words"]) == fields("Words")


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_is_answered_as_python_answers_it(shared_page, name):
    page, loaded = shared_page(make_html(question_payload(name), name)), load_question(name)
    automaton = tabulate_automaton(loaded.task)
    prompts = Prompts(automaton)
    tokens = prompts.between(0, prompts.count)
    found = page.evaluate(ANSWERS, [automaton.text(one) for one in tokens.T])
    logits = loaded.logits(tokens, last=1)[:, 0].astype(np.float64)
    wanted = prompts.answers(tokens)
    margins = measure_margins(logits, np.arange(len(logits))[:, None] == wanted)
    assert [one["winner"] for one in found] == logits.argmax(0).tolist()
    assert [one["allowed"] for one in found] == [[int(one)] for one in wanted]
    assert [one["right"] for one in found] == (margins > 0).tolist()
    np.testing.assert_allclose([one["margin"] for one in found], margins, rtol=1e-3, atol=1e-3)


def test_the_live_error_is_over_all_121_prompts(shared_page):
    page = shared_page(make_html(question_payload("mod11"), "mod11"))
    assert page.evaluate(
        "() => { const { wrong, total } = glassformer.viewOf().error; return [wrong, total]; }"
    ) == [
        0,
        121,
    ]


def test_what_is_typed_is_read_or_refused_with_what_is_valid(shared_page):
    page = shared_page(make_html(question_payload("mod11"), "mod11"))

    def read(text):
        return page.evaluate("(text) => glassformer.lab.read(text)", text)

    assert read(" 10, 3 = ") == read("10 3") == read("10 3=") == {"tokens": [10, 3, 11], "input": "10 3 ="}
    valid = "type 2 of 0 to 10, then =, separated by spaces."
    for text, words in (
        ("", "The input is empty"),
        ("7", "One token is not a prompt"),
        ("1 2 3 4", "4 tokens are not a prompt"),
        ("1 11 =", "“11” is not a token"),
        ("= 1 2", "“=” cannot be token 1"),
    ):
        assert read(text)["error"] == f"{words}: {valid}"


def test_typing_and_choosing_a_token_move_the_same_prompt(shared_page):
    page = shared_page(make_html(question_payload("mod11"), "mod11"))
    page.fill("#input-text", "10 3")
    page.wait_for_function("() => glassformer.store.get().input === '10 3 ='")
    page.wait_for_function("() => document.querySelector('#answer .token.next').textContent === '2'")
    assert page.locator("select.slot").nth(1).input_value() == "3"
    page.select_option("select.slot >> nth=0", "5")
    assert page.input_value("#input-text") == "5 3 ="
    page.wait_for_function("() => document.querySelector('#answer .token.next').textContent === '8'")
    page.fill("#input-text", "5 x")
    assert "“x” is not a token" in page.locator("#input-error").inner_text()
    assert page.evaluate("() => glassformer.store.get().input") == "5 3 ="
    page.click("#random-input")
    assert page.evaluate("() => glassformer.lab.read(glassformer.store.get().input).tokens.length") == 3
    assert page.locator("#input-error").inner_text() == ""


@pytest.mark.parametrize("width", [1280, 390])
def test_every_panel_is_drawn(open_page, width):
    for name in NAMES:
        page = open_page(make_html(question_payload(name), name), width=width)
        wait_drawn(page, "population")
        assert page.locator(".panel .failed").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert "the answer is" in page.locator("#panel-prediction").inner_text()


def test_only_the_last_place_of_a_prompt_writes(shared_page):
    page = shared_page(make_html(question_payload("max3"), "max3"))
    wait_drawn(page, "prediction")
    cards = page.locator("#panel-prediction [data-place]")
    assert cards.count() == 3
    assert [card.locator("[data-token]").count() for card in cards.all()] == [1, 1, 2]
    assert cards.nth(0).get_attribute("aria-label").endswith("is read")


def test_a_wide_vocabulary_is_listed_in_part(open_page):
    page = open_page(make_html(wide_payload(), "wide"))
    wait_drawn(page, "prediction")
    bars = page.locator("#panel-prediction [data-winner]")
    assert 12 <= bars.count() <= 14
    assert page.locator("#panel-prediction [data-allowed=true]").count() == 1
    assert page.locator("#panel-prediction [data-winner=true]").count() == 1
    assert "other tokens together" in page.locator("#panel-prediction").inner_text()
    wait_drawn(page, "geometry")
    assert page.locator("#panel-geometry circle[data-token]").count() > 100
    assert page.locator(".panel .failed").count() == 0


def test_every_family_of_the_script_has_the_same_members(shared_page):
    members = [
        shared_page(text).evaluate("() => Object.keys(glassformer.lab.family).sort()")
        for text in (
            make_html(question_payload("max3"), "max3"),
            page_of("plus_last_even"),
            page_of("nanogpt-58"),
        )
    ]
    assert members[0] == members[1] == members[2]


def test_a_refuted_prompt_is_told_as_a_question_is(open_page):
    page = open_page(make_html(wide_payload(), "wide"))
    worst = wide_payload()["proof"]["counterexample"]
    words = f"Refuted: {worst['input']} gives {worst['got']}, not {worst['expected']}"
    assert words in page.locator("#badge").inner_text()
