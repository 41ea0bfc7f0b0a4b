"""`glassformer prove --bits`: a file that is proved, honest words about the search, and bad input."""

import numpy as np
import pytest

from glassformer.cli.program import main
from glassformer.commands.prove_bits import _find_try_limit
from glassformer.models.mantissa import count_mantissa_bits
from glassformer.runs.load import load_model
from tests.commands.answers import answer

pytestmark = pytest.mark.usefixtures("at_home")


def is_near_glass_8(loaded, model, seconds):
    """In place of 65 proofs: every parameter within a hundredth, which is proved (checked below)."""
    pairs = [(loaded.params[name], array) for name, array in model.params.items()]
    return all(np.all(np.abs(one - other) <= 0.01 * np.abs(one)) for one, other in pairs)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("glassformer.commands.prove_bits._is_proved", is_near_glass_8)


@pytest.mark.usefixtures("quick")
def test_the_file_has_the_rounded_parameters_and_its_proof(capsys):
    found = answer(capsys, "prove", "glass-8", "--bits")
    assert (found["verdict"], found["bits_before"], found["is_settled"]) == ("proved", 189, True)
    assert found["bits"] == sum(one["bits"] for one in found["parameters"]) < 60
    rounded = load_model(found["file"])
    for one in found["parameters"]:
        assert float(rounded.params[one["name"]]) == one["rounded"]
        assert count_mantissa_bits(one["rounded"]) == one["bits"]
    assert main(["check", found["certificate"], "--for", found["file"]]) == 0


@pytest.mark.usefixtures("quick")
def test_words_say_that_the_search_is_greedy(capsys):
    assert main(["prove", "glass-8", "--bits"]) == 0
    said = capsys.readouterr().out
    assert "no parameter alone can be rounded further and proved within 5 s" in said


def test_a_search_that_had_no_time_says_so(capsys):
    """The first proof takes longer than a tenth of a second: the model is left as it is."""
    found = answer(capsys, "prove", "any-8", "--bits", "--time", "0.1", status=0)
    assert (found["bits"], found["is_settled"], found["proofs"]) == (found["bits_before"], False, 0)
    assert main(["prove", "any-8", "--bits", "--time", "0.1"]) == 0
    assert "the time ran out: more may give fewer bits (--time)" in capsys.readouterr().out


def test_a_try_has_ten_times_what_the_proof_of_the_model_takes(monkeypatch):
    """A rounding that no bound decides must not use up the time of all others."""
    now, given = [0.0], []

    def prove_slowly(loaded, model, seconds):
        given.append(seconds)
        now[0] += 2.0
        return True

    monkeypatch.setattr("glassformer.commands.prove_bits._is_proved", prove_slowly)
    monkeypatch.setattr("glassformer.commands.prove_bits.clock.perf_counter", lambda: now[0])
    loaded = load_model("glass-8")
    assert _find_try_limit("glass-8", loaded, 600.0) == 20.0
    assert _find_try_limit("glass-8", loaded, 7.0) == 7.0
    assert given == [600.0, 7.0]


def test_what_is_not_proved_is_not_rounded(capsys):
    assert main(["prove", "tinyadder-95", "--bits"]) == 2
    assert "tinyadder-95 is not proved as it is" in capsys.readouterr().err


@pytest.mark.slow
def test_glass_8_in_26_bits(capsys):
    found = answer(capsys, "prove", "glass-8", "--bits", "--time", "600")
    assert (found["verdict"], found["bits"], found["is_settled"]) == ("proved", 26, True)
    values = [one["rounded"] for one in found["parameters"]]
    assert values == [20, 0.125, 24, 8.875, 14.5, 0.5, -18, -2.5]
