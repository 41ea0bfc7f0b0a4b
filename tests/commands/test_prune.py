"""`glassformer prune`: a model at its rank, proved, that every command takes, and a run that starts from it."""

import json

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.models.constants import count_constants
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.runs.load import load_model
from glassformer.runs.resolve import resolve_run

TINY = (
    "--seeds 2 --steps 2 --train.evaluate_every 2 --train.batch 4 --train.held_out 16 --train.polish_steps 0"
)
QUICK = (
    "--measure.positions 100 --measure.generated 10 --prove.seconds 1 --draw.figures none --draw.page false"
)


@pytest.fixture(scope="module")
def pruned(tmp_path_factory):
    """glass-47, whose 47 numbers have rank 46, reduced by the command."""
    folder = tmp_path_factory.mktemp("pruned")
    path = folder / "smaller.safetensors"
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    printed = []
    patch.setattr("builtins.print", lambda *words, **_: printed.append(words))
    assert main(["prune", "glass-47", "--out", str(path), "--json"]) == 0
    patch.undo()
    return json.loads(printed[-1][0]), path


def test_what_is_left_is_proved(pruned):
    said, path = pruned
    assert said["verdict"] == "proved" and said["smallest_margin"] > 0
    assert said["learned_before"] == 47 and said["learned"] == 47 - len(said["dead"]) - len(said["redundant"])
    model = load_model(path)
    assert len(model.architecture.fixed) == 47 - said["learned"] >= 1
    before, after = (count_constants(one.architecture) for one in (load_model("glass-47"), model))
    assert said["constants"] == after - before >= 0


def test_its_certificate_holds_what_is_fixed(pruned):
    model = load_model(pruned[1])
    tree = make_adder_certificate(prove_adder(model, model.addition), model, model.addition, "smaller")
    assert len(tree["model"]["architecture"]["fixed"]) == len(model.architecture.fixed)


@pytest.mark.slow
def test_a_run_starts_from_it(pruned, tmp_path, capsys):
    said, path = pruned
    run = resolve_run(said["run"])
    assert run.train.start_from == str(path) and run.model.fixed == load_model(path).architecture.fixed
    words = f"{TINY} {QUICK} --train.peak_rate 1e-9 --train.weight_decay 0 --out {tmp_path / 'again'} --json"
    assert main(["run", said["run"], *words.split()]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == said["learned"]
    again, start = load_model(tmp_path / "again"), load_model(path)
    for name, array in start.params.items():
        np.testing.assert_allclose(again.params[name], array, rtol=0.01, atol=1e-6)
    assert any(not np.array_equal(again.params[name], array) for name, array in start.params.items())


@pytest.mark.slow
def test_a_start_that_is_not_there_is_one_sentence(pruned, tmp_path, capsys):
    words = f"--train.start_from nowhere.safetensors --out {tmp_path / 'x'} {TINY}"
    assert main(["train", pruned[0]["run"], *words.split(), "--quiet"]) == 2
    assert "train.start_from names nowhere.safetensors, which is no file" in capsys.readouterr().err
