"""`list`: which lists there are."""

import pytest

from glassformer.cli.program import main
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import TASKS
from glassformer.zoo import ZOO
from tests.commands.answers import answer

pytestmark = pytest.mark.usefixtures("at_home")


def test_lists(capsys):
    content = answer(capsys, "list")
    assert list(content) == ["tasks", "models", "figures", "runs"]
    assert {item["id"] for item in content["tasks"]} == {*TASKS}
    built = [name for name, entry in ZOO.items() if entry.build]
    assert [item["id"] for item in content["models"]] == [*CONFIGURATIONS, *built]
    for items in content.values():
        assert all(item["id"] and item["about"] for item in items)
    models = {item["id"]: item for item in content["models"]}
    assert models["plus_last_even"]["parameters"] == 250
    assert (models["successor"]["trained"], models["plus_last_even"]["trained"]) == (True, False)
    assert models["successor"]["verdict"] == "refuted"
    assert models["plus_last_even"]["verdict"] is None
    assert models["glass-39"]["verdict"] == "proved"
    assert (models["glass-39"]["parameters"], models["glass-39"]["kind"]) == (39, "trained adder")
    assert models["glass-39"]["trained"] == (ZOO["glass-39"].weights is not None)
    assert (models["nanogpt-58"]["trained"], models["nanogpt-58"]["kind"]) == (True, "hand-built adder")


def test_lists_of_one_kind(capsys):
    assert list(answer(capsys, "list", "tasks")) == ["tasks"]
    settings = {item["id"]: item["about"] for item in answer(capsys, "list", "settings")["settings"]}
    assert settings["task.p"] == "0.3"
    assert main(["list", "tasks"]) == 0
    assert "  plus_last_even" in capsys.readouterr().out
