"""The words of a verdict, family by family."""

from dataclasses import replace

import pytest

from glassformer.proofs.verdict import Verdict
from glassformer.proofs.verdict_words import (
    NumberFormats,
    describe_badge,
    describe_error_shares,
    describe_exported_verdict,
    describe_page_verdict,
    describe_verdict,
)
from glassformer.tasks import Addition, make_task

RULE, QUESTION, ADDITION = make_task("lucky7"), make_task("max_of", numbers=16, k=4), Addition()
NUMBERS = NumberFormats("{:.3f}".format, "{:.1%}".format)
SUM = {"a": 0, "b": 9000, "expected": 9000, "got": 15000}
CONTEXT = {"context": "0 0 0 0", "expected": ["0"], "got": "6", "tie": False}
SHARE = {"low": 15 / 65_536, "high": 15 / 65_536, "count_low": 15, "count_high": 15, "contexts": 65_536}


def proved(inputs):
    return Verdict(verdict="proved", inputs=str(inputs), arithmetic="float32", smallest_margin=0.5)


def refuted(wrong):
    return Verdict(verdict="refuted", inputs="65536", counterexample=wrong)


@pytest.mark.parametrize(
    ("task", "inputs", "line"),
    [
        (ADDITION, 10**20, "proved right on all 10^20 inputs, in float32 arithmetic"),
        (RULE, 469_070_940, "proved right on all 469,070,940 inputs, in float32 arithmetic"),
        (make_task("max_of"), 64**4, "proved right on all 16,777,216 prompts, in float32 arithmetic"),
        (make_task("modular"), 113**2, "proved right on all 12,769 prompts, in float32 arithmetic"),
    ],
)
def test_proved(task, inputs, line):
    assert describe_verdict(proved(inputs), task) == line


def test_refuted():
    assert describe_verdict(refuted(SUM), ADDITION) == "refuted: 0 + 9000 = 9000, the model says 15000"
    assert (
        describe_verdict(refuted(CONTEXT), QUESTION)
        == "refuted: after 0 0 0 0 the right token is 0, the model says 6"
    )
    tie = CONTEXT | {"expected": ["2", "4"], "tie": True}
    line = "refuted: after 0 0 0 0 the right token is 2 or 4, but a wrong token has an equally large logit"
    assert describe_verdict(refuted(tie), RULE) == line


def test_undecided():
    left = Verdict(verdict="undecided", classes={"total": 9, "proved": 7, "refuted": 0, "undecided": 2})
    assert (
        describe_verdict(left, ADDITION) == "undecided (2 classes are left; a longer --time may decide them)"
    )
    assert describe_verdict(replace(left, reason="no time"), RULE) == "undecided (no time)"
    sentence = describe_page_verdict(replace(left, inputs="100"), Addition(digits=1), 4, NUMBERS)
    assert sentence == (
        "Undecided over 100 pairs of numbers of up to 1 digits: 2 of 9 classes of inputs are left. "
        "No input that was tried fails."
    )


def test_shares():
    found = replace(refuted(CONTEXT), exact_error=SHARE | {"weighted": SHARE}, details={"lawful": "proved"})
    of_prompts = "exactly 15 (0.0229%) of all 65,536 prompts are answered wrongly"
    assert describe_error_shares(found, QUESTION) == [of_prompts]
    assert describe_error_shares(found, RULE) == [
        "exactly 15 (0.0229%) of all 65,536 full contexts break the rule",
        "weighted by how often the task produces them: 0.0229% of contexts do",
    ]
    between = SHARE | {"high": 0.5, "count_high": 32_768, "weighted": None}
    (line,) = describe_error_shares(replace(found, exact_error=between, details={}), RULE)
    assert line == (
        "at least 15 (0.0229%) of all 65,536 full contexts break the rule; 32,753 of 65,536 are not decided yet"
    )
    near = replace(found, exact_error=between | {"high": 25 / 65_536, "count_high": 25}, details={})
    assert describe_error_shares(near, RULE) == [
        "between 15 and 25 (0.0229% to 0.0381%) of all 65,536 full contexts break the rule"
    ]
    assert describe_error_shares(proved(100), ADDITION) == []


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (ADDITION, "Proved: right on all 100 pairs of numbers of up to 10 digits, in float32"),
        (
            RULE,
            "Proved: right wherever the rule demands something, in all 100 contexts of 1 to 8 tokens, in float32",
        ),
        (QUESTION, "Proved: right on all 100 prompts, in float32"),
    ],
)
def test_a_pages_sentence(task, sentence):
    assert (
        describe_page_verdict(proved(100), task, 8, NUMBERS) == f"{sentence}; the smallest margin is 0.500."
    )


def test_a_pages_sentence_on_a_failure():
    found = replace(refuted(CONTEXT), exact_error=SHARE, details={"lawful": "proved"})
    said = "Refuted: after 0 0 0 0 the right token is 0, the model says 6. Exactly 15 (0.0%) of all 65,536"
    assert describe_page_verdict(found, QUESTION, 4, NUMBERS) == f"{said} prompts are answered wrongly."
    assert describe_page_verdict(found, RULE, 4, NUMBERS) == f"{said} full contexts break the rule."
    none = replace(found, verdict="not_applicable", reason="two layers mix tokens.")
    sentence = "No proof: two layers mix tokens. No input that was tried fails."
    assert describe_page_verdict(none, RULE, 4, NUMBERS) == sentence


def test_a_badge():
    assert describe_badge(proved(10**20), ADDITION, "10²⁰", NUMBERS) == (
        "proved on all 10²⁰ pairs",
        "in float32 arithmetic; smallest margin 0.500",
    )
    assert describe_badge(refuted(SUM), ADDITION, "", NUMBERS) == ("refuted", "0 + 9000 comes out wrong")
    assert describe_badge(refuted(CONTEXT), QUESTION, "", NUMBERS) == ("refuted", "0 0 0 0 comes out wrong")
    open_ = Verdict(verdict="not_applicable", reason="why")
    assert describe_badge(open_, ADDITION, "", NUMBERS) == ("not proved", "why")


OWN = {"verdict": "proved", "inputs": "40000", "errors_low": 0, "errors_high": 0, "counterexample": None}


def test_lawful_contexts_come_first():
    found = replace(refuted(CONTEXT), exact_error=SHARE, lawful=OWN)
    line = (
        "proved right on every context that the rule can produce (40,000 contexts), in float32 arithmetic; "
        "of all 65,536 contexts, lawful or not, 15 (0.0229%) break the rule, e.g. after 0 0 0 0"
    )
    assert describe_verdict(found, RULE) == line
    assert describe_page_verdict(found, RULE, 4, NUMBERS) == f"P{line[1:]}."
    assert describe_exported_verdict(found, RULE, True).startswith(f"P{line[1:]}. This holds")
    assert describe_badge(found, RULE, "", NUMBERS) == (
        "proved on all 40,000 lawful contexts",
        "0.0% of all contexts break it",
    )
    assert found.main_verdict == "proved"


def test_lawful_contexts_that_fail_or_are_open():
    own = OWN | {"verdict": "refuted", "errors_low": 2, "errors_high": 9, "counterexample": CONTEXT}
    found = replace(refuted(CONTEXT), exact_error=SHARE, lawful=own)
    assert describe_verdict(found, RULE).startswith(
        "refuted on contexts that the rule can produce: after 0 0 0 0 the right token is 0, the model says 6; "
        "at least 2 (0.0050%) break it; 7 of 40,000 are not decided yet; of all 65,536 contexts"
    )
    assert describe_badge(found, RULE, "", NUMBERS)[0] == "refuted on lawful contexts"
    left = replace(found, lawful=OWN | {"verdict": "undecided", "errors_high": 9})
    assert describe_verdict(left, RULE).startswith(
        "undecided on the 40,000 contexts that the rule can produce: none is known to break it; 9 of 40,000"
    )


def test_an_exports_sentence():
    rest = "This holds for glassformer's own pass"
    end = "; this file rounds in a different order."
    margin = "with a margin of at least 0.5 between the right token and the next"
    assert describe_exported_verdict(proved(100), ADDITION, True) == (
        f"Proved right on all 100 inputs in float32, {margin}. {rest}{end}"
    )
    theirs = ", according to its run's files (glassformer check verifies a certificate)"
    assert describe_exported_verdict(refuted(CONTEXT), QUESTION, False) == (
        f"Refuted: not right on all 65,536 prompts, in float32. {rest}{theirs}{end}"
    )
    assert describe_exported_verdict(None, RULE, True).startswith("No proof of these parameters is stored")
