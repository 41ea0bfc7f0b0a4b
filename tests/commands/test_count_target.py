"""What is counted, and at which numbers."""

import pytest

from glassformer.cli.program import main
from glassformer.zoo import ZOO
from tests.commands.answers import COUNT_FIELDS, answer, check_fields

pytestmark = pytest.mark.usefixtures("at_home")


def test_count_of_an_architecture_without_weights(capsys, monkeypatch):
    """At first values b = 0 would hide most of the rank; at random numbers z_hi alone is dead."""
    monkeypatch.setattr(type(ZOO["microadder-57"]), "weights", None)
    content = answer(capsys, "count", "microadder-57")
    check_fields(content, COUNT_FIELDS)
    assert (content["at"], content["unique"], content["nonzero"]) == ("random parameters", 57, 57)
    assert (content["rank"], content["dead"]) == (46, ["position.z_hi"])
    assert (content["rank_contexts"], content["rank_settled"]) == (256, True)
    assert main(["count", "microadder-57"]) == 0
    assert capsys.readouterr().out.endswith("dead: position.z_hi\ncounted at random parameters\n")


def test_count_of_a_hand_built_model(capsys):
    content = answer(capsys, "count", "nanogpt-58")
    assert (content["unique"], content["at"]) == (58, "hand-built parameters")


@pytest.mark.slow
def test_count_of_the_whole_zoo(capsys, monkeypatch):
    few = {name: ZOO[name] for name in ("glass-23", "nanogpt-58")}
    monkeypatch.setattr("glassformer.commands.count_target.ZOO", few)
    models = answer(capsys, "count", "zoo")["models"]
    assert [(model["id"], model["unique"]) for model in models] == [("glass-23", 23), ("nanogpt-58", 58)]
    for model in models:
        check_fields(model, COUNT_FIELDS)
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
    assert [line.split()[2] for line in lines] == ["23", "58"]


def test_count_of_a_large_model_leaves_the_rank_out(capsys):
    content = answer(capsys, "count", "parity_based")
    assert (content["rank"], content["dead"]) == (None, None)
    assert main(["count", "parity_based"]) == 0
    assert "dead: not computed (too many parameters)" in capsys.readouterr().out
