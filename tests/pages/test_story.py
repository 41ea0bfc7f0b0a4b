"""The guided reading: its chapters open panels that exist, and its numbers are the model's own."""

import json
import re

import numpy as np
import pytest

from glassformer.pages.payload import make_page_payload
from glassformer.pages.story import describe_attention_row
from glassformer.pages.words import format_number, format_page_percent
from glassformer.runs.load import load_model

PANELS = {
    "rule": {"prediction", "geometry", "attention", "parameters", "proof", "population"},
    "adder": {"digits", "numberline", "attention", "geometry", "parameters", "proof", "population"},
}
STATE = {"input", "step", "place", "layer", "head"}


def story_of(folder_or_name, folder=None):
    page = make_page_payload(load_model(folder_or_name), folder, 1.0)
    return page, {one["title"]: one for one in page["story"]}


@pytest.mark.parametrize("target", ["microadder-57", "nanogpt-58", "hand-6", "rope-62"])
def test_an_adders_chapters_open_panels_that_exist(target):
    page, _ = story_of(target)
    assert 5 <= len(page["story"]) <= 8
    for one in page["story"]:
        assert one["panel"] in PANELS["adder"] and set(one["state"]) <= STATE
        assert one["text"].endswith((".", "`")) and "  " not in one["text"]
        assert one["state"].get("place", 0) < page["model"]["places"]
    json.dumps(page["story"], allow_nan=False)


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7", "lucky7_no_resid", "step_back"])
def test_a_rules_chapters_open_panels_that_exist(small_run, name):
    folder = small_run(name)
    page, _ = story_of(folder, folder)
    assert 5 <= len(page["story"]) <= 8
    for one in page["story"]:
        assert one["panel"] in PANELS["rule"] and set(one["state"]) <= STATE
        assert one["state"].get("step") in (None, *page["training"]["steps"])
        assert "NaN" not in one["text"] and "None" not in one["text"]


def test_a_rules_numbers_are_its_own(small_run):
    folder = small_run("lucky7")
    page, story = story_of(folder, folder)
    loaded = load_model(folder)
    tokens = np.array([int(label) for label in page["start"]["input"].split()])  # labels are ids here
    double = {name: np.asarray(array, np.float64) for name, array in loaded.params.items()}
    trace = loaded.trace(tokens)
    logits = trace["logits"][-1].astype(np.float64)
    best = int(logits.argmax())
    powers = np.exp(logits - logits.max())
    text = story["The prediction"]["text"]
    assert f"of {best}: a probability of {format_page_percent(float(powers[best] / powers.sum()))}" in text
    assert f"{format_number(logits[best])}" in text and "the answer is wrong" in text
    weights = trace["attn.weights.0"][-1]
    told = story["Attention"]
    assert (
        f"weight {format_number(float(weights.max()))} to {tokens[weights.argmax()]} (position {weights.argmax()})"
        in told["text"]
    )
    assert told["state"] == {"place": len(tokens) - 1, "layer": 0, "head": 0}
    start = double["token.weight"][tokens[-1]] + double["position.weight"][len(tokens) - 1]
    assert f"({format_number(start[0])}, {format_number(start[1])})" in story["Tokens as vectors"]["text"]
    assert page["proof"]["sentence"] in story["Where it fails"]["text"]


def test_learning_is_told_from_the_curve(small_run):
    folder = small_run("plus_last_even")
    page, story = story_of(folder, folder)
    rows = page["training"]["rows"]
    first = next(row for row in rows if row["argmax_accuracy"] >= 0.99)
    told = story["How it was learned"]
    assert f"first reached 99% at step {first['step']:,}" in told["text"]
    assert told["state"]["step"] == min(step for step in page["training"]["steps"] if step >= first["step"])


def test_a_failing_digit_is_named_with_its_column():
    page, story = story_of("nanogpt-58")
    digit = story["The wrong digit"]
    assert "At the thousands the model writes 5 where 9 is right" in digit["text"]
    assert page["task"]["positions"][digit["state"]["place"] + 1] == "z3"
    model = load_model("nanogpt-58")
    tokens = np.zeros(24 + 1, np.int64)
    tokens[[page["task"]["y"][3]]] = 9  # 0 + 9000, and three noughts written
    weights = model.trace(tokens)["attn.weights.0"][24]
    x, y = page["task"]["x"][3], page["task"]["y"][3]
    assert (
        f"weight {format_number(float(weights[x]))} to x3 (a 0)"
        in story["What the thousands attend to"]["text"]
    )
    assert (
        f"weight {format_number(float(weights[y]))} to y3 (a 9)"
        in story["What the thousands attend to"]["text"]
    )


def test_a_proved_adder_tells_its_margin():
    page, story = story_of("microadder-57")
    assert format_number(page["proof"]["smallest_margin"]) in story["What is proved"]["text"]
    assert "x2 (a 1)" in story["What the hundreds attend to"]["text"]
    counts = page["model"]["counts"]
    text = story["The 57 parameters"]["text"]
    assert f"With ties written out there are {counts['stored']}." in text
    assert "No logit changes with position.z_hi" in text and "inputs of the test set, 0 are wrong now" in text


def test_without_a_past_there_is_no_chapter_of_it():
    _, story = story_of("microadder-57")
    assert not {"How it was learned", "The other seeds"} & set(story)


def test_no_sentence_says_what_was_not_measured(small_run):
    folder = small_run("plus_last_even")
    for page, _ in (story_of(folder, folder), story_of("glass-29")):
        for one in page["story"]:
            assert not re.search(r"\b(copies|learns to|understands|detects|knows|because)\b", one["text"])


def test_attention_in_words():
    assert describe_attention_row(np.array([0.25] * 4), str, 2) == "all 4 positions the same weight, 0.25"
    assert (
        describe_attention_row(np.array([0.005, 0.9, 0.095]), str, 3)
        == "weight 0.9 to 1 and weight 0.095 to 2"
    )
    assert describe_attention_row(np.array([0.001, 0.002]), str, 3) == "no position a weight of 0.01 or more"
