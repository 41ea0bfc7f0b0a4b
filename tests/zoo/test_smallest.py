"""The smallest adders: their counts, their sums, the proof that no pair fails, and the page that derives them."""

import doctest
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.models.constants import count_constants
from glassformer.models.count import count_parameters
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.tasks import add_digits
from glassformer.verify.addition import measure_addition
from glassformer.verify.two_columns import (
    count_needed_digits,
    encode_near_cases,
    list_near_cases,
    prove_two_columns,
)
from glassformer.zoo import ZOO
from glassformer.zoo.smallest import (
    ENTRIES,
    NEAR,
    PERIOD,
    compute_column_ratio,
    compute_five_parameters,
    solve_query_angle,
)
from tests.zoo.smallest import LAYOUT, MIDDLE, model_of

PAGE = Path(__file__).parents[2] / "docs" / "smallest-adders.md"

DIFFERENT = [entry for entry in ENTRIES if entry.id != "hand-8"]  # which has the logits of hand-10


def examples(batch: int = 64) -> np.ndarray:
    x, y = np.random.default_rng(1).integers(0, 10, (2, 10, batch))
    return LAYOUT.encode(x, y, add_digits(x, y, 10))[:-1]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_counts(entry):
    stored = list_parameters(entry.architecture)
    assert f"hand-{sum(parameter.size for parameter in stored.values())}" == entry.id
    assert all(array.all() for array in entry.build().values())
    assert count_constants(entry.architecture) == 1  # the turn of a place, 2 pi / 12


# Of hand-10's numbers low, high and rise enter as rise (high - low) alone, and in hand-8, where the rise serves
# attention too, as high - low.
@pytest.mark.slow
def test_ranks():
    ranks = {
        entry.id: count_parameters(entry.architecture, entry.build(), examples(), 11).rank
        for entry in ENTRIES
    }
    assert ranks == {"hand-10": 8, "hand-8": 7, "hand-6": 6, "hand-5": 5, "hand-4": 4}


@pytest.mark.parametrize("entry", DIFFERENT, ids=lambda entry: entry.id)
def test_the_board_and_hard_pairs(entry):
    report = measure_addition(model_of(entry.id), entry.task, hard=300)
    assert (report.protocol.passed, report.protocol.total) == (10_010, 10_010)
    assert {name: score.passed for name, score in report.distributions.items() if score.passed < 300} == {}


SHARES = {"hand-10": 0.7279, "hand-6": 0.7499, "hand-5": 0.4497, "hand-4": 0.4497}


@pytest.mark.parametrize("entry", DIFFERENT, ids=lambda entry: entry.id)
def test_right_on_every_pair(entry):
    proof = prove_two_columns(model_of(entry.id), LAYOUT)
    assert proof.holds
    assert proof.cases == 100 + 10_000 + 8 * 20_000 + 200
    assert proof.share == pytest.approx(SHARES[entry.id], abs=1e-4)


def test_hand_6_mixes_ten_to_one():
    weights = model_of("hand-6").trace(examples(1)[:, 0])["attn.weights.0"][23 + MIDDLE]
    places = 23 + MIDDLE - np.array([NEAR, NEAR + PERIOD, NEAR + 1, NEAR + 1 + PERIOD])
    np.testing.assert_allclose(weights[places], np.array([10, 10, 1, 1]) / 22, rtol=1e-3)
    assert weights.sum() - weights[places].sum() < 1e-15


def test_hand_5_is_its_own_angle():
    level = compute_five_parameters()["token.c0"]
    assert level == pytest.approx(
        solve_query_angle(level**2, compute_column_ratio(level)) + 8 * np.pi, abs=1e-13
    )


def test_ties_of_equal_numbers_change_nothing():
    tokens = examples()
    assert (model_of("hand-10").logits(tokens) == model_of("hand-8").logits(tokens)).all()


def test_hand_10_needs_no_float64():
    """Every near case, in float32; measured and not proved."""
    single = {name: array.astype(np.float32) for name, array in ZOO["hand-10"].build().items()}
    model = Model(replace(ZOO["hand-10"].architecture, precision="float32"), single)
    for k in range(LAYOUT.digits + 1):
        cases = list_near_cases(LAYOUT, k)
        for fill in (0, 9):
            logits = model.logits(encode_near_cases(LAYOUT, k, cases, fill), last=1)[:, 0]
            assert (logits.argmax(0) == cases.expected).all()


@pytest.mark.slow
def test_fewer_numbers_need_no_fewer_digits():
    needed = {entry.id: sum(count_needed_digits(model_of(entry.id), LAYOUT).values()) for entry in ENTRIES}
    assert needed == {"hand-10": 15, "hand-8": 13, "hand-6": 19, "hand-5": 19, "hand-4": 18}


def test_the_page_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried) == (0, PAGE.read_text().count(">>> "))
