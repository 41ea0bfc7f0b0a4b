"""An option that would have no effect is refused, and what cannot be read is one sentence."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.core.atomic import read_arrays, write_arrays

RUNS = Path(__file__).parents[1] / "pictures" / "runs"
RULE, DEEP = RUNS / "lucky7", "[" * 3000


def sentence(capsys, words):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert len(err) < 500
    return err.removeprefix("glassformer: ").rstrip("\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["run", "lucky7", "--.steps", "1"],
            "--.steps is no setting; a setting is written as --train.steps 500",
        ),
        (["run", "lucky7", "--...", "1"], "--... is no setting"),
        (["run", "lucky7", "--train.", "1"], "--train. is no setting"),
        (["run", "lucky7", "--train..steps", "1"], "--train..steps is no setting"),
        (["sweep", "lucky7", "--.steps", "1"], "--.steps is no setting"),
        (["run", "lucky7", "--" + ".".join("a" * 3000), "1"], "--a.a.a"),
        (["run", "lucky7", "--out", ""], "--out is empty (glassformer run --help)"),
        (["draw", str(RULE), "--only", ""], "--only is empty"),
        (["page", ""], "TARGET is empty"),
        (["test", str(RULE), "--pairs", "10"], "--pairs is for adders"),
        (["test", str(RULE), "--hard", "1"], "--hard is for adders"),
        (["test", "glass-8", "--positions", "10"], "--positions is for rules"),
        (
            ["draw", str(RULE), "--dims", "0,9"],
            "--dims must be two of the dimensions 0 to 1, but it is (0, 9)",
        ),
        (["prove", "glass-8", "--population", "--out", "x.json"], "--out is for one model"),
        (["prove", "glass-8", "--population", "--real"], "--real is for one model"),
        (
            ["run", "lucky7", "--model.layers.².residual", "false"],
            "--model.layers.².residual: there is no number ²",
        ),
        (["run", "lucky7", "--task.p", DEEP], "the value '[[["),
        (["run", "lucky7", "--task.p", "1" * 5001], "the value '111"),
        (["run", "my.py", "--rule", "other.py"], "my.py is a rule already"),
        (["check", "."], ". is a folder, not a file"),
        (["test", "x" * 300], "xxx"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_one_sentence(capsys, here, words, said):
    assert sentence(capsys, words).startswith(said)
    assert list(here.iterdir()) == []


def test_a_certificate_that_is_not_written_is_said(capsys):
    """even_to_odd_transition is proved, or at least not refuted: no certificate, and the words say so."""
    main(["prove", str(RUNS / "even_to_odd_transition"), "--out", "x.json", "--time", "5"])
    out = capsys.readouterr().out
    assert Path("x.json").exists() == ("next: glassformer check" in out)
    assert Path("x.json").exists() or "no certificate was written" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": {"ties": [{}]}}, "model.ties.0 must say its name"),
        ({"task": {"name": "lucky7", "high": 10**9}}, "task.high must be such that"),
        ({"task": {"name": "lucky7", "p": 10**400}}, ""),
        ({"task": 3}, "task must be"),
        (DEEP, "nested too deep"),
        ("[1]", "are not a table"),
    ],
)
def test_metadata_that_fit_nothing_are_one_sentence(capsys, here, change, said):
    from safetensors.numpy import save_file

    arrays, about = read_arrays(RULE / "params.safetensors")
    if isinstance(change, str):
        save_file({"x": np.zeros(2)}, "w.safetensors", {"glassformer": change})
    else:
        write_arrays(here / "w.safetensors", arrays, about | change)
    assert said in sentence(capsys, ["test", "w.safetensors"])
