"""Pages of adders for numbers of every length: a page is for one length, and says so; another one can be had."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pages.payload import make_page_payload
from glassformer.pages.write import make_html
from glassformer.runs.load import load_model

from .pages import page_of, payload

LONG = 20


@pytest.fixture
def page(shared_page):
    return shared_page(page_of("any-8"))


def test_the_badge_says_for_which_numbers_it_is_proved(page):
    assert page.inner_text("#badge strong") == "Proved for numbers of every length"
    assert page.inner_text(".sentence") == "Adds two numbers of any length; this page is for up to 10 digits."


def test_a_longer_number_gets_the_command_for_its_page(page):
    page.fill("#input-a", "9" * 12)
    page.wait_for_selector("#input-error:not(:empty)")
    assert "glassformer page any-8 --digits 12" in page.inner_text("#input-error")


def test_an_adder_of_one_length_has_no_other_page(shared_page):
    page = shared_page(page_of("glass-8"))
    page.fill("#input-a", "9" * 12)
    page.wait_for_selector("#input-error:not(:empty)")
    assert "--digits" not in page.inner_text("#input-error")
    with pytest.raises(UserError, match="has no positions for 20"):
        make_page_payload(load_model("glass-8"), digits=LONG)


def test_a_page_for_longer_numbers_adds_them(shared_page):
    content = make_page_payload(load_model("any-8"), digits=LONG)
    page = shared_page(make_html(content, "any-8"))
    page.fill("#input-b", "1")
    page.fill("#input-a", "9" * LONG)
    page.wait_for_function(
        "sum => document.querySelector('#answer .sum').textContent === sum", arg=f"1{'0' * LONG}"
    )
    assert "up to 20 digits" in page.inner_text(".sentence")


def test_what_is_proved_for_every_length_holds_for_another_one():
    own, long = payload("any-8")["proof"], make_page_payload(load_model("any-8"), digits=LONG)["proof"]
    assert (long["verdict"], long["inputs"]) == ("proved", "all")
    assert (
        long["smallest_margin"] == own["smallest_margin"]
        and long["hardest"]["input"] == own["hardest"]["input"]
    )
    assert own["steps"] and not long["steps"]  # those are of ten digits


def test_a_shorter_page_leaves_out_a_pair_that_does_not_fit():
    short = make_page_payload(load_model("any-8"), digits=2)
    assert short["proof"]["hardest"] is None and short["proof"]["verdict"] == "proved"


def make_wrong_adder(digits):
    """any-8 as if trained on so few digits; with another head it is right on one digit and wrong on two."""
    loaded = load_model("any-8").with_digits(digits)
    return replace(loaded, params={**loaded.params, "head.u": loaded.params["head.u"] * np.float32(1.05)})


def test_a_counterexample_longer_than_training_is_shown_at_its_own_length(shared_page):
    content = make_page_payload(make_wrong_adder(1))
    wrong = content["proof"]["counterexample"]
    assert content["task"]["digits"] == 2 and not wrong["right"]
    page = shared_page(make_html(content, "wrong"))
    assert page.inner_text("#badge strong").startswith(f"Refuted: {wrong['input'].replace('+', ' + ')} gives")
