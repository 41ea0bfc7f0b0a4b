"""Adders that are right, and adders that slip where they are told to."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from glassformer.core import spread
from glassformer.tasks import Addition, to_digits, to_numbers
from glassformer.tasks.board import EDGE_CASES, draw_board_pairs
from glassformer.tasks.hard import HARD
from glassformer.verify import addition
from glassformer.verify.addition import (
    MOST_FAILURES,
    PairScore,
    make_digit_blocks,
    make_hard_blocks,
    make_protocol_pairs,
    measure_adder_run,
    measure_addition,
    score_answers,
    write_answers,
)

from .fakes import Adder

FULL = Addition()
SHORT = Addition(digits=3)


def slips_on(*pairs):
    """Where a pair is one of these."""
    wanted = set(pairs)

    def slips(x, y):
        return np.array([pair in wanted for pair in zip(to_numbers(x, 10), to_numbers(y, 10), strict=True)])

    return slips


@pytest.mark.parametrize("layout", ["lsb", "msb", "nanogpt", "lsb24"])
def test_a_perfect_adder_passes_everything(layout):
    task = Addition(digits=3, layout=layout)
    report = measure_addition(Adder(task), task, pairs=200, hard=50)
    assert report.protocol == PairScore(200, 200, ())
    assert report.protocol.qualified
    assert report.distributions == {name: PairScore(50, 50, ()) for name in HARD}
    assert report.additions == 200 + 7 * 50


def test_the_protocol_is_the_boards():
    assert list(make_protocol_pairs(FULL, 2025, 10_000)) == list(draw_board_pairs())
    assert list(make_protocol_pairs(FULL, 3, 20))[:10] == list(EDGE_CASES)
    random = list(make_protocol_pairs(SHORT, 2025, 500))
    assert len(random) == 500
    assert 900 < max(max(pair) for pair in random) < 1000


def test_the_edge_cases_count_one_by_one():
    """9999999999 + 9999999999 is there twice."""
    model = Adder(FULL, slips_on((0, 0), (9_999_999_999, 9_999_999_999)))
    score = measure_addition(model, FULL, pairs=90, hard=0).protocol
    assert (score.passed, score.total) == (97, 100)
    assert not score.qualified
    assert [(one.a, one.expected, one.got) for one in score.failures] == [
        (0, 0, 1),
        (9_999_999_999, 19_999_999_998, 19_999_999_999),
        (9_999_999_999, 19_999_999_998, 19_999_999_999),
    ]


def test_failures_are_counted_and_the_first_are_listed():
    score = measure_addition(Adder(SHORT, lambda x, y: x[0] == 9), SHORT, pairs=5000, hard=0).protocol
    assert score.share.low < 0.9 < score.share.high
    assert len(score.failures) == MOST_FAILURES
    wrong = [(a, b) for a, b in make_protocol_pairs(SHORT, 2025, 5000) if a % 10 == 9]
    assert score.total - score.passed == len(wrong)
    assert [(one.a, one.b) for one in score.failures] == wrong[:MOST_FAILURES]
    for one in score.failures:
        units = one.expected % 10
        assert (one.expected, one.got) == (one.a + one.b, one.a + one.b - units + (units + 1) % 10)


@pytest.mark.parametrize(("passed", "is_good"), [(9_909, False), (9_910, True), (10_010, True)])
def test_the_bar_is_99_of_100(passed, is_good):
    assert PairScore(passed, 10_010, ()).qualified is is_good


def test_an_answer_that_is_no_number_is_a_text():
    class Marker(Adder):
        """Writes `=` in place of the digit 5 (msb has a token for it)."""

        def logits(self, tokens, last=None):
            logits = super().logits(tokens, last)
            logits[10] = 2 * logits[5]
            return logits

    task = Addition(digits=2, layout="msb")
    score = score_answers(Marker(task), task, make_digit_blocks(iter([(57, 68), (12, 11), (30, 25)]), task))
    assert (score.passed, score.total) == (1, 3)
    assert [(one.expected, one.got) for one in score.failures] == [(125, "12="), (55, "0==")]


def test_a_slip_among_hard_pairs_shows_in_its_distribution_alone():
    model = Adder(
        FULL, lambda x, y: np.isin(x, (0, 1, 8, 9)).all(0) & np.isin(y, (0, 1, 8, 9)).all(0) & (x[0] == 8)
    )
    report = measure_addition(model, FULL, pairs=500, hard=200)
    assert report.protocol.passed == 510
    missed = {name: score.total - score.passed for name, score in report.distributions.items()}
    assert missed["digits_0189"] > 20
    assert missed["sums_8_to_10"] == 0
    assert len(report.distributions["digits_0189"].failures) == MOST_FAILURES


def test_hard_pairs_are_fixed_by_seed_and_name():
    draws = [next(make_hard_blocks("complements", FULL, seed, 50)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], next(make_hard_blocks("repeated_digits", FULL, 1, 50)))


def test_other_seeds_bring_other_pairs():
    model = Adder(SHORT, lambda x, y: x[0] == 9)
    first, again, other = (
        measure_addition(model, SHORT, seed, 100, 0).protocol.failures for seed in (0, 0, 1)
    )
    assert first == again != other


def test_blocks_are_no_larger_than_asked_and_all_decoded(monkeypatch):
    monkeypatch.setattr(addition, "BLOCK", 7)
    model = Adder(SHORT, lambda x, y: x[0] == 9)
    small = measure_addition(model, SHORT, pairs=50, hard=15)
    assert {batch for _, batch in model.widths} == {7, 1}
    monkeypatch.setattr(addition, "BLOCK", 1000)
    assert measure_addition(model, SHORT, pairs=50, hard=0).protocol == small.protocol


@pytest.mark.parametrize("threads", [1, 5])
def test_the_number_of_threads_changes_nothing(monkeypatch, threads):
    monkeypatch.setattr(spread, "count_cores", lambda: threads)
    monkeypatch.setattr(addition, "BLOCK", 16)
    seen = set()

    class Watched(Adder):
        def logits(self, tokens, last=None):
            seen.add(threading.get_ident())
            return super().logits(tokens, last)

    report = measure_addition(Watched(SHORT, lambda x, y: x[0] == 9), SHORT, pairs=300, hard=40)
    assert len(seen) <= threads * 8  # one pool an examination
    assert report.protocol.failures[0].a % 10 == 9
    assert [one.a for one in report.protocol.failures] == [
        a for a, b in make_protocol_pairs(SHORT, 2025, 300) if a % 10 == 9
    ][:MOST_FAILURES]


def test_pairs_are_drawn_only_as_they_are_needed(monkeypatch):
    """Of an endless stream of pairs just a few blocks are ever held."""
    monkeypatch.setattr(addition, "BLOCK", 4)
    monkeypatch.setattr(spread, "count_cores", lambda: 2)
    drawn, done, most_ahead = 0, 0, 0

    def pairs():
        nonlocal drawn, most_ahead
        for number in range(400):
            drawn += 1
            most_ahead = max(most_ahead, drawn - done)
            yield number, 1

    def tell(count):
        nonlocal done
        done += count

    assert score_answers(Adder(SHORT), SHORT, make_digit_blocks(pairs(), SHORT), tell).total == 400
    assert done == 400
    assert most_ahead <= 4 * 7


def test_a_single_failure_is_not_lost():
    task = Addition(digits=2)
    model = Adder(task, slips_on((57, 68)))
    x, y = to_digits([57, 57, 11], 2, 10), to_digits([68, 67, 22], 2, 10)
    assert to_numbers(write_answers(model, task, x, y), 10) == [126, 124, 33]


def test_a_run_is_judged_by_fresh_pairs_and_reports_the_board():
    board = set(draw_board_pairs())
    shown = []

    class Watched(Adder):
        def logits(self, tokens, last=None):
            if len(tokens) == self.layout.prompt_length:
                x, y = tokens[list(self.layout.x_positions)], tokens[list(self.layout.y_positions)]
                shown.extend(zip(to_numbers(x, 10), to_numbers(y, 10), strict=True))
            return super().logits(tokens, last)

    fresh = set(addition.draw_random_pairs(addition.FRESH_SEED, 300))
    report = measure_adder_run(Watched(FULL, slips_on((0, 0), *fresh)), FULL, 300)
    assert (report.argmax_accuracy.value, report.argmax_accuracy.positions) == (0.0, 300)
    assert not fresh & board
    assert set(shown) >= fresh | board
    assert (report.board.passed, report.board.total) == (10_009, 10_010)
    assert measure_adder_run(Adder(SHORT), SHORT, 50).board is None


def test_adders_are_tested_without_jax():
    code = "import sys, glassformer.verify.addition, glassformer.commands.measure_target; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
