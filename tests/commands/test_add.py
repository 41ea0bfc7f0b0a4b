"""`add`: one sum, as data and in words."""

from dataclasses import replace

from glassformer.cli.program import main
from glassformer.runs.load import load_model
from glassformer.tasks import make_rule
from tests.commands.answers import silent_answer as answer
from tests.commands.process import glassformer


def test_a_sum_as_data(capsys, adder):
    adder(layout="msb")
    content = answer(capsys, "add", "fake", "57", "068")
    assert {name: content[name] for name in ("a", "b", "expected", "got", "right", "margin")} == {
        "a": 57,
        "b": 68,
        "expected": 125,
        "got": 125,
        "right": True,
        "margin": 1.0,
    }
    assert content["digits"][0] == {"place": 2, "token": 1, "label": "1", "margin": 1.0}
    assert [digit["label"] for digit in content["digits"]] == ["1", "2", "5"]


def test_formulas_add_longer_numbers(capsys):
    content = answer(capsys, "add", "hand-6", "99999999999", "1", "--digits", "11")
    assert content["got"] == 10**11 and len(content["digits"]) == 12


def test_a_sum_in_words(capsys, adder):
    adder(lambda x, y: x[0] == 7)
    assert main(["add", "fake", "56", "68"]) == 0
    assert capsys.readouterr().out.startswith(
        "56 + 68 = 124 (right)\n  smallest margin 1, at the digit '4' of 10^0\n"
    )
    assert main(["add", "fake", "57", "68"]) == 1
    assert capsys.readouterr().out.startswith("57 + 68 = 126 (wrong, expected 125)\n")
    assert answer(capsys, "add", "fake", "57", "68", status=1)["right"] is False


def test_the_published_hand_built_adder_and_its_mistake(capsys, here):
    content = answer(capsys, "add", "nanogpt-58", "5388742030", "746297626", status=1)
    assert (content["expected"], content["got"]) == (6_135_039_656, 6_135_045_656)
    assert load_model("nanogpt-58").add(57, 68) == 125
    tested = answer(capsys, "test", "nanogpt-58", "--hard", "0", status=1)
    assert tested["target"] == "nanogpt-58"
    assert tested["passed"] == 9_295  # of 10,010, in float32 as in float64 (docs/hand-built.md)


def test_a_rule_model_cannot_add(capsys, monkeypatch, here):
    loaded = replace(load_model("glass-8"), task=make_rule("successor"), origin="runs/mine")
    monkeypatch.setattr("glassformer.runs.load.load_model", lambda target, model: loaded)
    assert main(["add", "runs/mine", "1", "2"]) == 2
    assert capsys.readouterr().err == "glassformer: runs/mine cannot add: it was made for successor\n"


def test_a_refused_number_in_a_process_of_its_own():
    refused = glassformer("add", "nanogpt-58", "99999999999", "1")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "glassformer: a must be an integer between 0 and 9999999999, but it is 99999999999\n"
    )


def test_an_adder_of_every_length_names_no_largest_number(capsys, here):
    assert main(["add", "any-8", "abc", "1"]) == 2
    assert "an integer from 0 up with at most 1,000,000 digits, but it is 'abc'" in capsys.readouterr().err
