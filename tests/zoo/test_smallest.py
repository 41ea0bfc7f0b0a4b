"""The smallest adders: their counts, their sums, the proof that no pair fails, and the page that derives them."""

import doctest
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.model.count import constants, count
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.tasks import add, digits_of
from glassformer.verify.addition import answers, measure_addition
from glassformer.verify.two_columns import (
    Proof,
    cases_at,
    contexts,
    digits_needed,
    prove,
    prove_place,
    watch,
)
from glassformer.zoo import ZOO
from glassformer.zoo.smallest import ENTRIES, NEAR, PERIOD, between, five, ratio_of

PAGE = Path(__file__).parents[2] / "docs" / "smallest-adders.md"
LAYOUT = ENTRIES[0].task.written()
DIFFERENT = [entry for entry in ENTRIES if entry.id != "hand-8"]  # which has the logits of hand-10
MIDDLE = 5  # a digit of the answer with all cases


def model_of(name: str, **changed: float) -> Model:
    """A shipped adder; `token_c0=21.0` changes one of its numbers."""
    arrays = {key.replace("_", "."): np.array(value) for key, value in changed.items()}
    return Model(ZOO[name].architecture, dict(ZOO[name].build()) | arrays)


def examples(batch: int = 64) -> np.ndarray:
    x, y = np.random.default_rng(1).integers(0, 10, (2, 10, batch))
    return LAYOUT.encode(x, y, add(x, y))[:-1]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_counts(entry):
    stored = parameters(entry.architecture)
    assert f"hand-{sum(parameter.size for parameter in stored.values())}" == entry.id
    assert all(array.all() for array in entry.build().values())
    assert constants(entry.architecture) == 1  # the turn of a place, 2 pi / 12


# Of hand-10's numbers low, high and rise enter as rise (high - low) alone, and in hand-8, where the rise serves
# attention too, as high - low.
@pytest.mark.slow
def test_ranks():
    ranks = {entry.id: count(entry.architecture, entry.build(), examples(), 11).rank for entry in ENTRIES}
    assert ranks == {"hand-10": 8, "hand-8": 7, "hand-6": 6, "hand-5": 5, "hand-4": 4}


@pytest.mark.parametrize("entry", DIFFERENT, ids=lambda entry: entry.id)
def test_the_board_and_hard_pairs(entry):
    report = measure_addition(model_of(entry.id), entry.task, hard=300)
    assert (report.protocol.passed, report.protocol.total) == (10_010, 10_010)
    assert {name: score.passed for name, score in report.distributions.items() if score.passed < 300} == {}


SHARES = {"hand-10": 0.7279, "hand-6": 0.7499, "hand-5": 0.4497, "hand-4": 0.4497}


@pytest.mark.parametrize("entry", DIFFERENT, ids=lambda entry: entry.id)
def test_right_on_every_pair(entry):
    proof = prove(model_of(entry.id), LAYOUT)
    assert proof.holds
    assert proof.cases == 100 + 10_000 + 8 * 20_000 + 200
    assert proof.share == pytest.approx(SHARES[entry.id], abs=1e-4)


def test_the_proof_sees_a_wrong_number():
    """With a mix of 5 : 1 for 10 : 1 digits come out wrong, and the proof does not hold."""
    broken = model_of("hand-6", attn_q_angle=-5.4915)
    assert not prove_place(broken, LAYOUT, MIDDLE).holds
    x, y = digits_of([8_888_888_888], 10), digits_of([0], 10)
    assert (answers(broken, ZOO["hand-6"].task, x, y) != add(x, y)).any()


def test_the_proof_sees_a_leak():
    """Heads of a tenth of the sharpness still add, if the far digits are 0."""
    numbers = {name: float(ZOO["hand-10"].build()[f"attn.q.{name}"]) / 10 for name in ("even", "odd")}
    proof = prove_place(
        model_of("hand-10", attn_q_even=numbers["even"], attn_q_odd=numbers["odd"]), LAYOUT, MIDDLE
    )
    assert proof.leak > 0.1
    assert not proof.holds


def test_proof_holds_only_with_a_gap():
    assert not Proof(gap=0.0, share=0.0, leak=0.0, cases=1).holds


@pytest.mark.parametrize("name", ["hand-10", "hand-4"])
def test_random_digits_elsewhere_stay_inside_the_bound(name):
    """The cases of the proof once more, with far digits that are neither all 0 nor all 9."""
    model, cases = model_of(name), cases_at(LAYOUT, MIDDLE)
    proof = prove_place(model, LAYOUT, MIDDLE)
    zeros, nines = (contexts(LAYOUT, MIDDLE, cases, fill) for fill in (0, 9))
    tokens = np.where(zeros == nines, zeros, np.random.default_rng(0).integers(0, 10, zeros.shape))
    logits = watch(model, tokens)["logits"][:, 0]
    best, second = np.sort(logits, axis=0)[[-1, -2]]
    assert (logits.argmax(0) == cases.expected).all()
    assert (best - second).min() >= proof.gap


def test_hand_6_mixes_ten_to_one():
    weights = model_of("hand-6").trace(examples(1)[:, 0])["attn.weights.0"][23 + MIDDLE]
    places = 23 + MIDDLE - np.array([NEAR, NEAR + PERIOD, NEAR + 1, NEAR + 1 + PERIOD])
    np.testing.assert_allclose(weights[places], np.array([10, 10, 1, 1]) / 22, rtol=1e-3)
    assert weights.sum() - weights[places].sum() < 1e-15


def test_hand_5_is_its_own_angle():
    level = five()["token.c0"]
    assert level == pytest.approx(between(level**2, ratio_of(level)) + 8 * np.pi, abs=1e-13)


def test_ties_of_equal_numbers_change_nothing():
    tokens = examples()
    assert (model_of("hand-10").logits(tokens) == model_of("hand-8").logits(tokens)).all()


def test_hand_10_needs_no_float64():
    """Every near case, in float32; measured and not proved."""
    single = {name: array.astype(np.float32) for name, array in ZOO["hand-10"].build().items()}
    model = Model(replace(ZOO["hand-10"].architecture, precision="float32"), single)
    for k in range(LAYOUT.digits + 1):
        cases = cases_at(LAYOUT, k)
        for fill in (0, 9):
            logits = model.logits(contexts(LAYOUT, k, cases, fill), last=1)[:, 0]
            assert (logits.argmax(0) == cases.expected).all()


@pytest.mark.slow
def test_fewer_numbers_need_no_fewer_digits():
    needed = {entry.id: sum(digits_needed(model_of(entry.id), LAYOUT).values()) for entry in ENTRIES}
    assert needed == {"hand-10": 15, "hand-8": 13, "hand-6": 19, "hand-5": 19, "hand-4": 18}


def test_the_page_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried) == (0, PAGE.read_text().count(">>> "))
