"""Every pair of short numbers run through the model: a proof that needs no bound, for any architecture.

Our own pass gives the same bits wherever and however it is run, so what a pair gives once it always gives.
Up to three digits in base ten that takes seconds; the margins are those of the deployed logits.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.spread import map_threads
from glassformer.models.model import Model
from glassformer.proofs.attack import encode_pairs, measure_pair_margins
from glassformer.proofs.columns import PairClasses, enumerate_pair_classes, list_written_columns
from glassformer.proofs.paths import Digits
from glassformer.proofs.search import compute_next_tokens
from glassformer.proofs.verdict import HardestPair
from glassformer.tasks.addition import Addition, to_numbers

MOST_PAIRS = 1_000_000  # that are run: three digits of base ten
_BLOCK = 1 << 13  # pairs in one pass, for the cache


@dataclass(frozen=True, eq=False)
class PairRun:
    """What came out, by class."""

    classes: PairClasses
    least: Float[np.ndarray, " row"]  # the smallest margin
    hardest: Digits  # the first pair that has it
    got: Int[np.ndarray, " row"]  # the token that this pair gets
    wrong: int  # pairs with a wrong digit
    tied: int  # pairs without, but with a digit that another has the same logit as
    count: int

    @property
    def is_wrong(self) -> Bool[np.ndarray, " row"]:
        """Which classes hold a pair that gets a wrong token."""
        return np.asarray(self.got != self.classes.right)

    def exact_error(self) -> dict[str, Any]:
        """How many pairs come out wrong; a tied one may, by which token is taken."""
        low, high = self.wrong, self.wrong + self.tied
        shares = {"low": low / self.count, "high": high / self.count}
        return shares | {"contexts": self.count, "count_low": low, "count_high": high}

    def list_hardest_pairs(self) -> list[HardestPair]:
        """The hardest pair of every step."""
        found = []
        for step in np.unique(self.classes.step).tolist():
            rows = np.flatnonzero(self.classes.step == step)
            row = rows[self.least[rows].argmin()]
            a, b = to_numbers(self.hardest[row], self.classes.layout.base)
            found.append(HardestPair(step, a, b, float(self.least[row]), float(self.least[row])))
        return found


def can_run_all(task: Addition) -> bool:
    return task.count_inputs(task.written().length) <= MOST_PAIRS


def run_all_pairs(model: Model, task: Addition, deadline: float) -> PairRun | None:
    """Every pair, or none where the time does not suffice."""
    classes = enumerate_pair_classes(task.written())
    count = task.count_inputs(task.written().length)
    number, least = _number_classes(classes), np.full(len(classes), np.inf)
    hardest, counts = np.zeros(len(classes), np.int64), np.zeros(3, np.int64)
    for block in map_threads(
        lambda which: _run_block(model, task, number, which), _list_blocks(count, deadline)
    ):
        is_less = block.least < least
        least, hardest = np.where(is_less, block.least, least), np.where(is_less, block.hardest, hardest)
        counts += block.counts
    if counts[0] < count:
        return None
    pairs = _list_pairs(task, hardest)
    got, (_, wrong, tied) = compute_next_tokens(model, classes, pairs), counts.tolist()
    return PairRun(classes, least, pairs, got, wrong, tied, count)


class _RunBlock(NamedTuple):
    """Some pairs that were run."""

    least: Float[np.ndarray, " row"]  # by class; infinite where no pair is in it
    hardest: Int[np.ndarray, " row"]  # number of the pair
    counts: Int[np.ndarray, " 3"]  # pairs, those with a wrong digit, those with no wrong but a tied one


def _run_block(
    model: Model,
    task: Addition,
    number: Int[np.ndarray, "step tok total carry"],
    which: Int[np.ndarray, " pair"],
) -> _RunBlock:
    pairs = _list_pairs(task, which)
    margins = measure_pair_margins(model, task, pairs)  # step pair
    rows, every = (
        number[tuple(_name_classes(task, pairs))].ravel(),
        np.broadcast_to(which, margins.shape).ravel(),
    )
    order = np.lexsort((every, margins.ravel()))[
        ::-1
    ]  # the last to be written is the smallest, then the first
    least, hardest = np.full(number.max() + 1, np.inf), np.zeros(number.max() + 1, np.int64)
    least[rows[order]], hardest[rows[order]] = margins.ravel()[order], every[order]
    worst = margins.min(0)
    return _RunBlock(least, hardest, np.array([len(which), (worst < 0).sum(), (worst == 0).sum()]))


def _list_pairs(task: Addition, which: Int[np.ndarray, " pair"]) -> Digits:
    """Pairs by number, `pair column number`: the first number times all second ones; without these 0."""
    which = which if task.does.has_second else which * task.base**task.digits
    digits = which[:, None] // task.base ** np.arange(2 * task.digits) % task.base
    return np.stack([digits[:, task.digits :], digits[:, : task.digits]], 2).astype(np.int8)


def _name_classes(task: Addition, pairs: Digits) -> Int[np.ndarray, "4 step pair"]:
    """Step, token just written, sum of the next column and carry into it, of each pair at every step."""
    order, steps = list_written_columns(task.written()), task.digits + 1
    tokens, (x, y) = encode_pairs(task, pairs), np.moveaxis(pairs.astype(np.int64), 2, 0)
    column_sums = task.does.add_up(x, y, task.base).T  # digit pair
    carry = np.full((steps, len(pairs)), task.does.start, np.int64)
    for column in range(task.digits):
        carry[column + 1] = (column_sums[column] + carry[column]) // task.base
    totals = np.concatenate([column_sums, np.full((1, len(pairs)), -1)])
    step = np.broadcast_to(np.arange(steps)[:, None], carry.shape)
    return np.stack([step, tokens[-steps - 1 : -1], totals[order], carry[order]])


def _number_classes(classes: PairClasses) -> Int[np.ndarray, "step tok total carry"]:
    """The row of each class by its name; a total of -1 is the last."""
    named = [classes.step, classes.previous, classes.total, classes.carry]
    operation = classes.layout.operation
    totals = operation.count_totals(classes.layout.base) + 1
    shape = (int(named[0].max()) + 1, int(named[1].max()) + 1, totals, operation.carries)
    found = np.full(shape, -1)
    found[tuple(named)] = np.arange(len(classes))
    return found


def _list_blocks(count: int, deadline: float) -> Iterator[Int[np.ndarray, " pair"]]:
    """Numbers of pairs, until the clock says so."""
    for begin in range(0, count, _BLOCK):
        if time.perf_counter() > deadline:
            return
        yield np.arange(begin, min(begin + _BLOCK, count))
