"""The story of a question: its numbers are the model's own, and its parts add up."""

import numpy as np
import pytest

from glassformer.models.model import to_float64
from glassformer.pages.story import StorySubject
from glassformer.pages.story_question import PromptReading, compute_lead_shares, pick_top_tokens
from glassformer.pages.words import format_number
from glassformer.tasks import tabulate_automaton

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
    tokens = tabulate_automaton(loaded.task).ids(page["start"]["input"])
    logits = to_float64(loaded).trace(tokens)["logits"][-1]
    best, second = np.argsort(-logits)[:2]
    assert f"The answer is {page['tokens'][best]['label']}." in story["What is asked"]
    assert f"The largest logit is {format_number(logits[best])}" in story["The prediction"]
    assert f"is {format_number(logits[best] - logits[second])}." in story["The prediction"]


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_add_up_to_the_lead(name):
    loaded = load_question(name)
    prompt = PromptReading(StorySubject(loaded, question_payload(name)), tabulate_automaton(loaded.task))
    first, second = pick_top_tokens(prompt)
    shares = compute_lead_shares(prompt, first, second)
    assert [one.name for one in shares] == [
        "the last token adds",
        "attention adds",
        "the feed-forward layer adds",
        "the head's bias adds",
    ]
    lead = prompt.logits[first] - prompt.logits[second]
    assert sum(one.gap for one in shares) == pytest.approx(lead, rel=1e-9)
