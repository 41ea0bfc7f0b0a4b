"""`test` of a run: its data and its words."""

import pytest

from glassformer.cli.program import main
from tests.commands.answers import RUN_FIELDS, SETTINGS, answer, check_fields

pytestmark = pytest.mark.usefixtures("at_home")


def test_test_of_a_run_and_of_its_weights(capsys):
    by_folder = answer(capsys, "test", "runs/successor", "--positions", "500")
    by_file = answer(capsys, "test", "runs/successor/params.safetensors", "--positions", "500")
    by_name = answer(capsys, "test", "successor", "--positions", "500")
    fields = {name: kind for name, kind in RUN_FIELDS.items() if name in by_folder}
    fields |= {"verdict": type(None)}  # a measurement is no proof
    check_fields(by_folder, fields)
    assert {"argmax_accuracy", "sampled_error", "loss", "entropy_floor", "verdict", "seconds"} <= set(fields)
    timeless = [
        {k: v for k, v in c.items() if k not in ("seconds", "target")} for c in (by_folder, by_file, by_name)
    ]
    assert timeless[0] == timeless[1] == timeless[2]


def test_test_uses_data_that_run_did_not(capsys):
    own = answer(capsys, "run", "successor", *SETTINGS.split())
    other = answer(capsys, "test", "successor", "--positions", "1000")
    again = answer(capsys, "test", "successor", "--positions", "1000", "--seed", "0")
    assert own["loss"] == again["loss"] != other["loss"]


def test_words_of_a_test(capsys):
    assert main(["test", "successor", "--positions", "500"]) == 0
    out = capsys.readouterr().out
    assert "source absent" not in out  # successor has no such positions
    assert "entropy floor 0.0000\n" in out
