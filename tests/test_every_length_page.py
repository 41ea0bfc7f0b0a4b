"""docs/every-length.md: the constants and tables are what the tools compute."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
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


def norm(h):
    return 6 * h / np.sqrt((h**2).mean(-1, keepdims=True) + 6)


def gelu(s):
    return s * (1 + math.erf(s / math.sqrt(2))) / 2


def run_formulas(params, tokens, columns):
    """Logits after the last token, by the page's table in float64."""
    radius, stride, sharp, peak, b, p, u, v = (
        float(params[name].item())
        for name in (
            "token.amplitude", "token.stride", "attn.relation.sharpness", "attn.relation.peak",
            "attn.out.b", "ff.up.p", "head.u", "head.v",
        )
    )  # fmt: skip
    angles = math.pi / 4 + (np.arange(10) - 4.5) * stride
    embedding = radius * np.stack([np.cos(angles), np.sin(angles)], 1)  # tok dim
    values = norm(embedding)[tokens] @ [-1.0, 1.0]
    powers = np.exp(-sharp * (columns - columns[-1] - peak) ** 2)
    h = embedding[tokens[-1]] + np.array([b, -b]) * (powers @ values / powers.sum())
    s, form = p * (norm(h) @ [1.0, -1.0]), np.array([[u, v], [v, u]])
    h = h + form @ [gelu(s), gelu(-s)]
    return embedding @ form @ norm(h)


def test_the_formulas_are_the_model():
    """957 + 068, after `<`, 5 and 2: three digits, so that a number has five columns, from -1 to 3."""
    model = load_model("any-8").with_digits(3)
    tokens = np.array([0, 7, 5, 9, 0, 0, 8, 6, 0, 0, 0, 5, 2])
    logits = model.forward(tokens)
    for read in (11, 12, 13):
        expected = run_formulas(model.params, tokens[:read], np.arange(read) % 5 - 1)
        np.testing.assert_allclose(logits[read - 1], expected, rtol=1e-5)
    assert logits[10:13].argmax(1).tolist() == [5, 2, 0]


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
