"""`glassformer prove` and `glassformer check` as they are used: words, JSON, exit statuses, bad input."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glassformer
from glassformer.cli.program import main
from glassformer.core.atomic import write_arrays
from glassformer.runs.load import load_model
from glassformer.runs.tree import to_tree
from glassformer.tasks import Sequences
from tests.commands.answers import prove_json
from tests.pictures.conftest import RUNS
from tests.proofs.questions import QUESTIONS, drawn

TASK = QUESTIONS[0]
FIELDS = {
    "verdict", "inputs", "arithmetic", "smallest_margin", "rounding_bound", "hardest", "counterexample", "classes",
    "exact_error", "seconds", "certificate",
}  # fmt: skip


def test_proved(capsys):
    found = prove_json(capsys, "glass-29")
    assert set(found) >= FIELDS
    assert (found["verdict"], found["inputs"], found["arithmetic"]) == ("proved", str(10**20), "float32")
    assert found["smallest_margin"] == pytest.approx(2.443, abs=1e-3)
    assert found["classes"] == {"total": 3440, "proved": 3440, "refuted": 0, "undecided": 0}
    hardest = found["hardest"]
    assert len(found["details"]["hardest_by_step"]) == 11
    assert load_model("glass-29").add(hardest["a"], hardest["b"]) == hardest["a"] + hardest["b"]
    assert Path(found["certificate"]).stat().st_size < 2_000_000


def test_words(capsys):
    assert main(["prove", "nanogpt-58-repaired"]) == 0
    words = capsys.readouterr().out
    assert "proved right on all 10^20 inputs, in float64 arithmetic" in words
    assert "smallest margin 0.02036" in words
    assert "next: glassformer check nanogpt-58-repaired.certificate.json" in words


def test_the_formulas_of_another_length(capsys, tmp_path):
    """Another model under the same name, which the certificate's check finds again."""
    path = str(tmp_path / "c.json")
    found = prove_json(capsys, "hand-6", "--digits", "4", "--out", path)
    assert (found["verdict"], found["inputs"]) == ("proved", str(10**8))
    assert main(["check", path]) == 0
    words = capsys.readouterr().out
    assert "two 4-digit numbers" in words and "these are the weights of hand-6" in words
    assert main(["prove", "glass-8", "--digits", "11"]) == 2
    assert "made for numbers of 10 digits" in capsys.readouterr().err


def test_refuted(capsys):
    found = prove_json(capsys, "tinyadder-95", status=1)
    wrong = found["counterexample"]
    assert (
        wrong["expected"]
        == wrong["a"] + wrong["b"]
        != wrong["got"]
        == load_model("tinyadder-95").add(wrong["a"], wrong["b"])
    )
    assert found["classes"]["refuted"] == 500
    assert found["exact_error"] is None


@pytest.mark.slow
def test_undecided(capsys):
    found = prove_json(capsys, "rope-62", "--time", "1e-9", status=3)
    assert found["verdict"] == "undecided"
    assert main(["prove", "rope-62", "--time", "1e-9"]) == 3
    assert "classes are left; a longer --time may decide them" in capsys.readouterr().out


def test_real_numbers(capsys):
    found = prove_json(capsys, "hand-10", "--real")
    assert (found["verdict"], found["arithmetic"], found["rounding_bound"]) == ("proved", "real", 0)


def test_from_python():
    result = glassformer.prove("glass-23", out="here.json")
    assert result.verdict == "proved"
    assert result.certificate == "here.json"


def test_weights_of_others(capsys, tmp_path):
    """A file with the numbers alone, and one of them nudged until a sum is wrong."""
    params = dict(load_model("glass-39").params)
    write_arrays(tmp_path / "mine.safetensors", params, {})
    assert (
        prove_json(capsys, "mine.safetensors", "--model", "glass-39")["certificate"]
        == "mine.certificate.json"
    )
    params["head.weight"] = params["head.weight"] * np.float32(1.02)
    write_arrays(tmp_path / "off.safetensors", params, {})
    found = prove_json(capsys, "off.safetensors", "--model", "glass-39", status=1)
    wrong = found["counterexample"]
    assert (
        load_model("off.safetensors", "glass-39").add(wrong["a"], wrong["b"])
        == wrong["got"]
        != wrong["expected"]
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda part: np.full_like(part, np.nan), "not finite"),
        (lambda part: np.full_like(part, 3e38), "overflows float32: the weights are too large"),
    ],
)
def test_bad_numbers(capsys, tmp_path, change, says):
    params = dict(load_model("glass-39").params)
    write_arrays(
        tmp_path / "bad.safetensors", params | {"attn.q.weight": change(params["attn.q.weight"])}, {}
    )
    assert main(["prove", "bad.safetensors", "--model", "glass-39"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_bad_options(capsys):
    assert main(["prove", "glass-39", "--time", "0"]) == 2
    assert "time must be above 0 seconds" in capsys.readouterr().err
    assert main(["prove", "glass-93"]) == 2
    assert "did you mean 'glass-" in capsys.readouterr().err
    assert main(["prove", "glass-39", "--population"]) == 2
    assert "has no population" in capsys.readouterr().err


def write_question(path, seed):
    """A file of random numbers that answer prompts."""
    model = drawn(TASK, seed)
    about = {
        "format": 1,
        "task": to_tree(TASK),
        "data": to_tree(Sequences()),
        "model": to_tree(model.architecture),
    }
    write_arrays(path, model.params, about)


def test_a_question(capsys, tmp_path):
    write_question(tmp_path / "mine.safetensors", 0)
    found = prove_json(capsys, "mine.safetensors", status=1)
    assert set(found) >= FIELDS
    assert (found["inputs"], found["exact_error"]["contexts"]) == ("27", 27)
    assert main(["prove", "mine.safetensors"]) == 1
    words, wrong = capsys.readouterr().out, found["counterexample"]
    (answer,) = wrong["expected"]
    assert (
        f"refuted: after {wrong['context']} the right token is {answer}, the model says {wrong['got']}"
        in words
    )
    count, share = found["exact_error"]["count_low"], found["exact_error"]["low"]
    assert f"exactly {count} ({share:.4%}) of all 27 prompts are answered wrongly" in words
    assert "weighted" not in words


def test_seeds_of_a_question(capsys, tmp_path):
    models = [drawn(TASK, seed) for seed in range(3)]
    write_question(tmp_path / "params.safetensors", 0)
    everyone = {name: np.stack([model.params[name] for model in models]) for name in models[0].params}
    write_arrays(tmp_path / "population.safetensors", everyone | {"seed": np.array([4, 5, 6])}, {})
    found = prove_json(capsys, "params.safetensors", "--population", status=1)
    assert (found["seeds"], found["proved"], found["refuted"]) == (3, 0, 3)
    assert [set(row) for row in found["rows"]] == [{"seed", "verdict", "margin_bound", "counterexample"}] * 3
    assert main(["prove", "params.safetensors", "--population", "--quiet"]) == 1
    assert "0 of 3 seeds proved right on every prompt" in capsys.readouterr().out


def test_a_rule_has_no_proof_of_all_seeds(capsys):
    assert main(["prove", str(RUNS / "lucky7"), "--population"]) == 2
    assert "--population is for adders and questions" in capsys.readouterr().err


def test_proofs_and_checks_need_no_jax():
    code = "import sys; from glassformer.cli.program import main\n"
    code += "main(['prove', 'glass-23', '--quiet']); main(['check', 'glass-23.certificate.json'])\n"
    code += "print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
