"""Sentences of a model's past and of its proof."""

from glassformer.pages.story_past import describe_input_classes, describe_passing_step


def test_what_never_passed_is_not_said_to_have():
    rows = [{"step": 100, "argmax_accuracy": 0.5}, {"step": 200, "argmax_accuracy": 0.4}]
    words = describe_passing_step(None, rows)
    assert "never reached 99%" in words and "50.0%" in words and "step 100" in words


def test_classes_in_words():
    counts = {"total": 1440, "proved": 1310, "refuted": 30, "undecided": 100}
    words = (
        "Of 1,440 classes of inputs, 1,310 are proved right, 30 contain wrong inputs and 100 are undecided."
    )
    assert describe_input_classes(counts) == words
    assert describe_input_classes({"total": 0, "proved": 0, "refuted": 0, "undecided": 0}) == ""
