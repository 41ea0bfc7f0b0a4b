"""How an adder does: the community board's protocol, and hard pairs that uniform ones hardly ever contain.

Whole answers count, written by the model itself, each digit fed back as it was written.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from glassformer.model.adding import read_number
from glassformer.model.generate import write_greedy
from glassformer.model.model import Model
from glassformer.spread import spread
from glassformer.tasks import Addition, Sequences, add, digits_of, numbers_of
from glassformer.tasks.board import BOARD_DIGITS, BOARD_PAIRS, BOARD_SEED, board_pairs, random_pairs
from glassformer.tasks.hard import HARD
from glassformer.verify.share import Share, share_text

BLOCK = 2048  # pairs decoded at a time; float32 logits differ in their last bits with the size of a block
HARD_PAIRS = 2_000  # of each hard distribution
FRESH_SEED = 0  # of the random pairs that judge a run: not the board's
MOST_FAILURES = 20  # that a report lists
QUALIFIES = 99  # percent: the board's bar

Digits = Int[np.ndarray, "digit batch"]
Pair = tuple[Digits, Digits]
Tell = Callable[[int], object]  # is told how many more pairs are done


@dataclass(frozen=True)
class Failure:
    """A pair and the wrong answer; one with tokens that are no digits is a text such as '61=35'."""

    a: int
    b: int
    expected: int
    got: int | str


@dataclass(frozen=True)
class Score:
    """How many of the pairs were answered rightly, and the first that were not."""

    passed: int
    total: int
    failures: tuple[Failure, ...]

    @property
    def qualified(self) -> bool:
        return self.passed * 100 >= QUALIFIES * self.total

    @property
    def share(self) -> Share:
        return Share.of(self.passed, self.total)


@dataclass(frozen=True)
class AdditionReport:
    """The protocol's score, and that of every hard distribution."""

    protocol: Score
    distributions: dict[str, Score]

    @property
    def additions(self) -> int:
        return self.protocol.total + sum(score.total for score in self.distributions.values())


@dataclass(frozen=True)
class RunReport:
    """What a finished run says of its adder; the board's pairs come last and choose nothing."""

    argmax_accuracy: Share  # whole answers, on fresh uniform pairs
    failures: tuple[Failure, ...]
    distributions: dict[str, Score]
    board: Score | None  # none where the numbers do not have ten digits


def measure_addition(
    model: Model,
    task: Addition,
    seed: int = BOARD_SEED,
    pairs: int = BOARD_PAIRS,
    hard: int = HARD_PAIRS,
    tell: Tell | None = None,
) -> AdditionReport:
    """The board's protocol with a seed and a number of pairs, then `hard` pairs of each distribution."""
    return AdditionReport(
        examine(model, task, digit_blocks(protocol(task, seed, pairs), task.digits), tell),
        {name: examine(model, task, hard_blocks(name, task, seed, hard), tell) for name in HARD if hard},
    )


def measure_run(model: Model, task: Addition, pairs: int) -> RunReport:
    """Fresh uniform pairs, the hard ones, and at last the board's own."""
    fresh = examine(model, task, digit_blocks(random_pairs(FRESH_SEED, pairs, task.digits), task.digits))
    has_board = task.digits == BOARD_DIGITS
    report = measure_addition(model, task, pairs=BOARD_PAIRS if has_board else 0)
    return RunReport(
        fresh.share, fresh.failures, report.distributions, report.protocol if has_board else None
    )


def protocol(task: Addition, seed: int, pairs: int) -> Iterator[tuple[int, int]]:
    """The edge cases have ten digits: tasks of another size have random pairs of their own range alone."""
    if task.digits == BOARD_DIGITS:
        return board_pairs(seed, pairs)
    return random_pairs(seed, pairs, task.digits)


def digit_blocks(pairs: Iterator[tuple[int, int]], digits: int) -> Iterator[Pair]:
    """Digits of the pairs, a block at a time, so that any number of them needs the same memory."""
    while block := list(islice(pairs, BLOCK)):
        a, b = zip(*block, strict=True)
        yield digits_of(a, digits), digits_of(b, digits)


def hard_blocks(name: str, task: Addition, seed: int, count: int) -> Iterator[Pair]:
    """Pairs of a hard distribution; seed and name alone decide which."""
    random = np.random.default_rng([seed, *name.encode()])
    for begin in range(0, count, BLOCK):
        yield HARD[name](random, min(BLOCK, count - begin), task.digits)


def examine(model: Model, task: Addition, blocks: Iterable[Pair], tell: Tell | None = None) -> Score:
    """Every block decoded, on all cores, and counted in order."""
    passed, total, failures = 0, 0, list[Failure]()
    for (x, y), written in spread(lambda block: (block, answers(model, task, *block)), blocks):
        right = (written == add(x, y)).all(0)
        passed, total = passed + int(right.sum()), total + len(right)
        failures += failures_of(task, x, y, written, right)[: MOST_FAILURES - len(failures)]
        if tell:
            tell(len(right))
    return Score(passed, total, tuple(failures))


def answers(model: Model, task: Addition, x: Digits, y: Digits) -> Digits:
    """The tokens that the model writes for a block, units first."""
    layout = task.written()
    digits: Digits = layout.decode(write_greedy(model, layout.prompt(x, y), task.digits + 1))
    return digits


def failures_of(
    task: Addition, x: Digits, y: Digits, written: Digits, right: Bool[np.ndarray, " batch"]
) -> list[Failure]:
    """The first wrong answers of a block."""
    wrong = np.flatnonzero(~right)[:MOST_FAILURES]
    got = [read_number(task.written(), written[:, which]) for which in wrong]
    rows = zip(*(numbers_of(part[:, wrong]) for part in (x, y, add(x, y))), got, strict=True)
    return [Failure(*row) for row in rows]


def measure(
    model: Model, task: Any, data: Sequences, positions: int, generated: int, seed: int = FRESH_SEED
) -> dict[str, Any]:
    """As plain data."""
    return asdict(measure_run(model, task, positions))


def say_measures(measures: dict[str, Any]) -> list[str]:
    """Whole answers on fresh pairs, on each kind of hard pairs, and by the board's protocol."""
    scores = {f"{name} right": score for name, score in measures["distributions"].items()}
    if measures["board"]:
        scores["the community board's protocol"] = measures["board"]
    return [
        f"whole answers right: {share_text(measures['argmax_accuracy'])}",
        *(f"{name}: {score['passed']:,} of {score['total']:,}" for name, score in scores.items()),
    ]
