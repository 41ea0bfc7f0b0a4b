"""How an adder does: the community board's protocol, and hard pairs that uniform ones hardly ever contain.

Whole answers count, written by the model itself, each digit fed back as it was written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from glassformer.core.share import MeasuredShare
from glassformer.core.spread import map_threads
from glassformer.core.waiting import TellCount
from glassformer.core.words import format_stored_share
from glassformer.models.adding import read_answer_number
from glassformer.models.generate import write_greedy
from glassformer.models.model import Model
from glassformer.tasks import Addition, Sequences, to_digits, to_numbers
from glassformer.tasks.board import (
    BOARD_PAIRS,
    BOARD_SEED,
    draw_board_pairs,
    draw_random_pairs,
    is_board_task,
)
from glassformer.tasks.hard import HARD

BLOCK = 2048  # pairs decoded at a time; float32 logits differ in their last bits with the size of a block
_HARD_PAIRS = 2_000  # of each hard distribution
FRESH_SEED = 0  # of the random pairs that judge a run: not the board's
MOST_FAILURES = 20  # that a report lists
QUALIFIES = 99  # percent: the board's bar

_Digits = Int[np.ndarray, "digit batch"]
_Answers = Int[np.ndarray, "digit+1 batch"]
Pair = tuple[_Digits, _Digits]


@dataclass(frozen=True)
class WrongSum:
    """A pair and the wrong answer; one with tokens that are no digits is a text such as '61=35'."""

    a: int
    b: int
    expected: int
    got: int | str


@dataclass(frozen=True)
class PairScore:
    """How many of the pairs were answered rightly, and the first that were not."""

    passed: int
    total: int
    failures: tuple[WrongSum, ...]

    @property
    def qualified(self) -> bool:
        return self.passed * 100 >= QUALIFIES * self.total

    @property
    def share(self) -> MeasuredShare:
        return MeasuredShare.of(self.passed, self.total)


@dataclass(frozen=True)
class AdditionReport:
    """The protocol's score, and that of every hard distribution."""

    protocol: PairScore
    distributions: dict[str, PairScore]

    @property
    def additions(self) -> int:
        return self.protocol.total + sum(score.total for score in self.distributions.values())


@dataclass(frozen=True)
class _AdderRunReport:
    """What a finished run says of its adder; the board's pairs come last and choose nothing."""

    argmax_accuracy: MeasuredShare  # whole answers, on fresh uniform pairs
    failures: tuple[WrongSum, ...]
    distributions: dict[str, PairScore]
    board: PairScore | None  # none where its pairs are not those of the task


def measure_addition(
    model: Model,
    task: Addition,
    seed: int = BOARD_SEED,
    pairs: int = BOARD_PAIRS,
    hard: int = _HARD_PAIRS,
    tell: TellCount | None = None,
) -> AdditionReport:
    """The board's protocol with a seed and a number of pairs, then `hard` pairs of each distribution."""
    return AdditionReport(
        score_answers(model, task, make_digit_blocks(make_protocol_pairs(task, seed, pairs), task), tell),
        {
            name: score_answers(model, task, make_hard_blocks(name, task, seed, hard), tell)
            for name in HARD
            if hard
        },
    )


def measure_adder_run(model: Model, task: Addition, pairs: int) -> _AdderRunReport:
    """Fresh uniform pairs, the hard ones, and at last the board's own."""
    drawn, has_board = draw_random_pairs(FRESH_SEED, pairs, task.base**task.digits), is_board_task(task)
    fresh = score_answers(model, task, make_digit_blocks(drawn, task))
    report = measure_addition(model, task, pairs=BOARD_PAIRS if has_board else 0)
    return _AdderRunReport(
        fresh.share, fresh.failures, report.distributions, report.protocol if has_board else None
    )


def make_protocol_pairs(task: Addition, seed: int, pairs: int) -> Iterator[tuple[int, int]]:
    """The edge cases have ten digits in base ten: other tasks have random pairs of their own range alone."""
    if is_board_task(task):
        return draw_board_pairs(seed, pairs)
    return draw_random_pairs(seed, pairs, task.base**task.digits)


def make_digit_blocks(pairs: Iterator[tuple[int, int]], task: Addition) -> Iterator[Pair]:
    """Digits of the pairs, a block at a time, so that any number of them needs the same memory."""
    while block := list(islice(pairs, BLOCK)):
        a, b = zip(*block, strict=True)
        x, y = (to_digits(side, task.digits, task.base) for side in (a, b))
        yield x, y if task.does.has_second else 0 * y


def make_hard_blocks(name: str, task: Addition, seed: int, count: int) -> Iterator[Pair]:
    """Pairs of a hard distribution; seed and name alone decide which."""
    random = np.random.default_rng([seed, *name.encode()])
    for begin in range(0, count, BLOCK):
        yield task.match_pair(*HARD[name](random, min(BLOCK, count - begin), task.digits, task.base))


def score_answers(
    model: Model, task: Addition, blocks: Iterable[Pair], tell: TellCount | None = None
) -> PairScore:
    """Every block decoded, on all cores, and counted in order."""
    passed, total, failures = 0, 0, list[WrongSum]()
    for (x, y), written in map_threads(lambda block: (block, write_answers(model, task, *block)), blocks):
        right = (written == task.solve_digits(x, y)).all(0)
        passed, total = passed + int(right.sum()), total + len(right)
        failures += list_wrong_sums(task, x, y, written, right)[: MOST_FAILURES - len(failures)]
        if tell:
            tell(len(right))
    return PairScore(passed, total, tuple(failures))


def write_answers(model: Model, task: Addition, x: _Digits, y: _Digits) -> _Answers:
    """The tokens that the model writes for a block, units first."""
    layout = task.written()
    digits: _Answers = layout.decode(write_greedy(model, layout.prompt(x, y), task.digits + 1))
    return digits


def list_wrong_sums(
    task: Addition, x: _Digits, y: _Digits, written: _Answers, right: Bool[np.ndarray, " batch"]
) -> list[WrongSum]:
    """The first wrong answers of a block."""
    wrong = np.flatnonzero(~right)[:MOST_FAILURES]
    got = [read_answer_number(task.written(), written[:, which]) for which in wrong]
    parts = (x, y, task.solve_digits(x, y))
    rows = zip(*(to_numbers(part[:, wrong], task.base) for part in parts), got, strict=True)
    return [WrongSum(*row) for row in rows]


def measure(
    model: Model, task: Any, data: Sequences, positions: int, generated: int, seed: int = FRESH_SEED
) -> dict[str, Any]:
    """As plain data."""
    return asdict(measure_adder_run(model, task, positions))


def describe_measures(measures: dict[str, Any]) -> list[str]:
    """Whole answers on fresh pairs, on each kind of hard pairs, and by the board's protocol."""
    scores = {f"{name} right": score for name, score in measures["distributions"].items()}
    if measures["board"]:
        scores["the community board's protocol"] = measures["board"]
    return [
        f"whole answers right: {format_stored_share(measures['argmax_accuracy'])}",
        *(f"{name}: {score['passed']:,} of {score['total']:,}" for name, score in scores.items()),
    ]
