"""The story of a question: its numbers are the model's own, and its parts add up."""

import numpy as np
import pytest

from glassformer.model.model import in_float64
from glassformer.page.story import Tale
from glassformer.page.story_question import Prompt, best_two, lead_shares
from glassformer.page.words import short
from glassformer.tasks import tabulate

from .questions import NAMES, load_question, question_payload

PANELS = {"prediction", "geometry", "attention", "parameters", "proof", "population"}


@pytest.mark.parametrize("name", NAMES)
def test_chapters_open_panels_that_exist(name):
    page = question_payload(name)
    assert 5 <= len(page["story"]) <= 8
    for one in page["story"]:
        assert one["panel"] in PANELS and "NaN" not in one["text"] and "None" not in one["text"]


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_and_its_margin_are_the_models_own(name):
    page, loaded = question_payload(name), load_question(name)
    story = {one["title"]: one["text"] for one in page["story"]}
    tokens = tabulate(loaded.task).ids(page["start"]["input"])
    logits = in_float64(loaded).trace(tokens)["logits"][-1]
    best, second = np.argsort(-logits)[:2]
    assert f"The answer is {page['tokens'][best]['label']}." in story["What is asked"]
    assert f"The largest logit is {short(logits[best])}" in story["What comes out"]
    assert f"is {short(logits[best] - logits[second])}." in story["What comes out"]


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_add_up_to_the_lead(name):
    loaded = load_question(name)
    prompt = Prompt(Tale(loaded, question_payload(name)), tabulate(loaded.task))
    first, second = best_two(prompt)
    shares = lead_shares(prompt, first, second)
    assert [one.name for one in shares] == [
        "the last token adds",
        "attention adds",
        "the feed-forward layer adds",
        "the head's bias",
    ]
    lead = prompt.logits[first] - prompt.logits[second]
    assert sum(one.gap for one in shares) == pytest.approx(lead, rel=1e-9)
