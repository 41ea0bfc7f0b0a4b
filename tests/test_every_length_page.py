"""docs/every-length.md: the constants and tables are what the tools compute."""

from dataclasses import replace
from itertools import pairwise

import pytest

from glassformer.proofs.adder import prove_adder
from glassformer.runs.load import load_model
from tools import every_length, longest_numbers
from tools.every_length import MODELS, describe_model
from tools.longest_numbers import (
    FORMULAS,
    TRAINED,
    describe_failure,
    describe_proved,
    format_trained,
    prove_lengths,
)

PAGE = every_length.PAGE.read_text(encoding="utf-8")
LONGEST = PAGE.split(longest_numbers.BEGIN)[1].split(longest_numbers.END)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_constants_are_those_of_the_certificate(name):
    column = MODELS.index(name) + 2
    for label, value in describe_model(name).items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {label} |"))
        assert row.split(" | ")[column - 1].rstrip(" |") == value


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_proved_for_these_lengths(name):
    proofs = list(prove_lengths(name, longest_numbers.MOST))
    assert f"| `{name}` | {describe_proved(proofs)} | {describe_failure(proofs)} |" in LONGEST


def test_lengths_are_listed_as_ranges():
    model = load_model("hand-6").with_digits(1)
    right = prove_adder(model, model.addition)
    wrong = replace(right, verdict="refuted", counterexample={"a": 7, "b": 5, "expected": 12, "got": "=="})
    assert describe_proved([wrong, right, wrong, right, right]) == "2, 4 to 5"
    assert describe_failure([right]) == "longer ones were not tried"
    assert describe_failure([right, wrong]) == "2: 7 + 5 gives no number"


def test_trained_circles_do_not_generalise():
    """The table is the tool's, and every model is worse with each digit above the ten that it was trained on."""
    head, _, *rows = format_trained()
    assert head in LONGEST and all(row in LONGEST for row in rows)
    for name, row in zip(TRAINED, rows, strict=True):
        shares = [float(cell.rstrip("%| ")) for cell in row.split(" | ")[2:]]
        assert name in row and shares[0] == 100.0
        assert all(more >= less for more, less in pairwise(shares))
