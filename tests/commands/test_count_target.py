"""What is counted, and at which numbers."""

import pytest

from glassformer.cli.program import main
from glassformer.commands.count_target import name_category
from glassformer.zoo import ZOO
from tests.commands.answers import COUNT_FIELDS, UNTRAINED_FIELDS, answer, check_fields

pytestmark = pytest.mark.usefixtures("at_home")


def test_count_of_an_architecture_without_weights(capsys, monkeypatch):
    """At first values b = 0 would hide most of the rank; at random numbers z_hi alone is dead."""
    monkeypatch.setattr(type(ZOO["microadder-57"]), "weights", None)
    content = answer(capsys, "count", "microadder-57")
    check_fields(content, UNTRAINED_FIELDS)
    assert (content["bits"], content["category"]) == (None, "not trained")
    assert (content["at"], content["unique"], content["nonzero"]) == ("random parameters", 57, 57)
    assert (content["rank"], content["dead"]) == (46, ["position.z_hi"])
    assert (content["rank_contexts"], content["rank_settled"]) == (256, True)
    assert main(["count", "microadder-57"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("dead: position.z_hi\ncounted at random parameters\n")
    assert "learned and chosen together 62\ncategory not trained;" in said


def test_count_of_a_hand_built_model(capsys):
    content = answer(capsys, "count", "nanogpt-58")
    assert (content["unique"], content["at"]) == (58, "hand-built parameters")


def test_the_category_by_hand():
    assert name_category("shipped weights", 8, "learned") == "trained: all"
    assert name_category("trained weights", 8, "given") == "hybrid: routing given"
    assert name_category("hand-built parameters", 8, "learned") == "hand-built"
    assert name_category("trained weights", 0, "given") == "hand-built"  # nothing is left to train
    assert name_category("random parameters", 36, "learned") == "not trained"


@pytest.mark.slow
def test_count_of_the_whole_zoo(capsys, monkeypatch):
    few = {name: ZOO[name] for name in ("glass-23", "nanogpt-58", "rope-44")}
    monkeypatch.setattr("glassformer.commands.count_target.ZOO", few)
    models = answer(capsys, "count", "zoo")["models"]
    assert [(model["id"], model["unique"]) for model in models] == [
        ("glass-23", 23),
        ("nanogpt-58", 58),
        ("rope-44", 44),
    ]
    for model in models[:2]:
        check_fields(model, COUNT_FIELDS)
    check_fields(models[2], UNTRAINED_FIELDS)
    assert main(["count", "zoo"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        "model",
        "stored",
        "unique",
        "nonzero",
        "learned",
        "constants",
        "both",
        "bits",
        "rank",
        "category",
        "at",
        "dead",
    ]
    assert [line.split()[2] for line in lines] == ["23", "58", "44"]


def test_count_of_a_large_model_leaves_the_rank_out(capsys):
    content = answer(capsys, "count", "parity_based")
    assert (content["rank"], content["dead"]) == (None, None)
    assert main(["count", "parity_based"]) == 0
    assert "dead: not computed (too many parameters)" in capsys.readouterr().out
