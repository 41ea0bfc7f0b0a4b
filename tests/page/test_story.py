"""The guided reading: its chapters open panels that exist, and its numbers are the model's own."""

import json
import re

import numpy as np
import pytest

from glassformer.page.payload import payload_of
from glassformer.page.story import looked
from glassformer.page.story_past import classes_words, passed_words
from glassformer.page.words import percent, short
from glassformer.runs.load import load

PANELS = {
    "rule": {"prediction", "geometry", "attention", "parameters", "proof", "population"},
    "adder": {"digits", "numberline", "attention", "geometry", "parameters", "proof", "population"},
}
STATE = {"input", "step", "place", "layer", "head"}


def story_of(folder_or_name, folder=None):
    page = payload_of(load(folder_or_name), folder, 1.0)
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
    loaded = load(folder)
    tokens = np.array([int(label) for label in page["start"]["input"].split()])  # labels are ids here
    double = {name: np.asarray(array, np.float64) for name, array in loaded.params.items()}
    trace = loaded.trace(tokens)
    logits = trace["logits"][-1].astype(np.float64)
    best = int(logits.argmax())
    powers = np.exp(logits - logits.max())
    text = story["What comes out"]["text"]
    assert f"of {best}: a probability of {percent(float(powers[best] / powers.sum()))}" in text
    assert f"{short(logits[best])}" in text and "the answer is wrong" in text
    weights = trace["attn.weights.0"][-1]
    told = story["Who is looked at"]
    assert (
        f"weight {short(float(weights.max()))} to {tokens[weights.argmax()]} (place {weights.argmax()})"
        in told["text"]
    )
    assert told["state"] == {"place": len(tokens) - 1, "layer": 0, "head": 0}
    start = double["token.weight"][tokens[-1]] + double["position.weight"][len(tokens) - 1]
    assert f"({short(start[0])}, {short(start[1])})" in story["What the model reads"]["text"]
    assert page["proof"]["sentence"] in story["Where it fails"]["text"]


def test_learning_is_told_from_the_curve(small_run):
    folder = small_run("plus_last_even")
    page, story = story_of(folder, folder)
    rows = page["training"]["rows"]
    first = next(row for row in rows if row["argmax_accuracy"] >= 0.99)
    told = story["How it was learned"]
    assert f"first reached 99% at step {first['step']:,}" in told["text"]
    assert told["state"]["step"] == min(step for step in page["training"]["steps"] if step >= first["step"])


def test_what_never_passed_is_not_said_to_have():
    rows = [{"step": 100, "argmax_accuracy": 0.5}, {"step": 200, "argmax_accuracy": 0.4}]
    words = passed_words(None, rows)
    assert "never reached 99%" in words and "50.0%" in words and "step 100" in words


def test_a_failing_digit_is_named_with_its_column():
    page, story = story_of("nanogpt-58")
    digit = story["The digit that fails"]
    assert "At the thousands the model writes 5 where 9 is right" in digit["text"]
    assert page["task"]["positions"][digit["state"]["place"] + 1] == "z3"
    model = load("nanogpt-58")
    tokens = np.zeros(24 + 1, np.int64)
    tokens[[page["task"]["y"][3]]] = 9  # 0 + 9000, and three noughts written
    weights = model.trace(tokens)["attn.weights.0"][24]
    x, y = page["task"]["x"][3], page["task"]["y"][3]
    assert f"weight {short(float(weights[x]))} to x3 (a 0)" in story["Where the thousands look"]["text"]
    assert f"weight {short(float(weights[y]))} to y3 (a 9)" in story["Where the thousands look"]["text"]


def test_a_proved_adder_tells_its_margin():
    page, story = story_of("microadder-57")
    assert short(page["proof"]["smallest_margin"]) in story["What is proved"]["text"]
    assert "x2 (a 1)" in story["Where the hundreds look"]["text"]
    counts = page["model"]["counts"]
    text = story["The 57 numbers"]["text"]
    assert f"With ties written out they are {counts['stored']}." in text
    assert "No logit moves with position.z_hi" in text and "now 0 wrong" in text


def test_without_a_past_there_is_no_chapter_of_it():
    _, story = story_of("microadder-57")
    assert not {"How it was learned", "The other seeds"} & set(story)


def test_no_sentence_says_what_was_not_measured(small_run):
    folder = small_run("plus_last_even")
    for page, _ in (story_of(folder, folder), story_of("glass-29")):
        for one in page["story"]:
            assert not re.search(r"\b(copies|learns to|understands|detects|knows|because)\b", one["text"])


def test_attention_in_words():
    assert looked(np.array([0.25] * 4), str, 2) == "all 4 places the same weight, 0.25"
    assert looked(np.array([0.005, 0.9, 0.095]), str, 3) == "weight 0.9 to 1 and weight 0.095 to 2"
    assert looked(np.array([0.001, 0.002]), str, 3) == "no place a weight of 0.01 or more"


def test_classes_in_words():
    counts = {"total": 1440, "proved": 1310, "refuted": 30, "undecided": 100}
    words = (
        "Of 1,440 classes of inputs 1,310 are proved right, 30 hold inputs that fail and 100 are left open."
    )
    assert classes_words(counts) == words
    assert classes_words({"total": 0, "proved": 0, "refuted": 0, "undecided": 0}) == ""
