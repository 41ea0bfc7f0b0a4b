"""Classes of pairs as masks over columns, and the largest sum over a class, exact in whole numbers.

A column holds (carry in, x, y), 200 cases in base ten; a class leaves some of them open in every column and
some of the last carries. The largest sum of terms over all pairs of a class is a product of 2 x 2 matrices in
which plus is the larger of two and times is the sum: entry (carry in, carry out) is the best (x, y) of a
column. A subtraction takes 1 into the units, and the complement of y for y; a multiplication has no y, which
is 0, and as many carries as the factor.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from glassformer.tasks import Addition, Layout, Operation
from glassformer.tasks.operations import ADD

NOWHERE = -(2**61)  # the sum over no pair; sums over pairs stay above half of it
MOST = 2.0**59  # bits that sums of whole terms may fill
_NO_TOTAL, _NO_CASE = -1, -1  # of digits of a number that is not there


@dataclass(frozen=True)
class PairClass:
    """All pairs for which `previous` was just written, and the column to come has this sum and carry."""

    step: int
    previous: int
    sum: int  # of the column's two digits; -1 where the last carry itself is to come
    carry: int  # into the column
    base: int
    operation: Operation = ADD

    @property
    def right(self) -> int:
        """The token that must come."""
        above = self.operation.find_top(self.base)
        return ((above if self.sum < 0 else self.sum) + self.carry) % self.base

    def __str__(self) -> str:
        return f"class (step {self.step}, previous {self.previous}, sum {self.sum}, carry {self.carry})"


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """What a part of a class leaves open."""

    columns: np.ndarray  # column carry x y: bool
    last: np.ndarray  # the last carries: bool
    operation: Operation = ADD

    def within(self, column: int, mask: np.ndarray) -> "OpenPairs":
        """Cut down to some of a column's cases."""
        columns = self.columns.copy()
        columns[column] &= mask
        return OpenPairs(columns, self.last, self.operation)

    def has(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether the pair with these digits, units first, is in it."""
        carry, following = self.operation.start, _list_cases(self.columns.shape[-1], self.operation)[1]
        for column, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            if not self.columns[column, carry, a, b]:
                return False
            carry = int(following[carry, a, b])
            if carry == _NO_CASE:
                return False
        return bool(self.last[carry])

    def reachable(self, column: int) -> np.ndarray:
        """The cases of a column, `carry x y`, that some pair has."""
        every = np.arange(len(self.last))
        before, after = every == self.operation.start, self.last.copy()
        _, following = _list_cases(self.columns.shape[-1], self.operation)
        is_case = following != _NO_CASE
        for earlier in self.columns[:column]:
            before = np.array([(earlier & before[:, None, None] & (out == following)).any() for out in every])
        for later in self.columns[:column:-1]:
            after = (later & is_case & after[following]).any((1, 2))
        found: np.ndarray = self.columns[column] & is_case & before[:, None, None] & after[following]
        return found


@lru_cache(maxsize=32)
def _list_cases(base: int, operation: Operation) -> tuple[np.ndarray, np.ndarray]:
    """The digit that a column writes and the carry into the next, `carry x y`."""
    carry, total = np.arange(operation.carries)[:, None, None], _list_totals(base, operation)
    written, following = (total + carry) % base, (total + carry) // base
    return written, np.where(total == _NO_TOTAL, _NO_CASE, following)


@lru_cache(maxsize=32)
def _list_totals(base: int, operation: Operation) -> np.ndarray:
    """What a column adds up to, `1 x y`; a number that is not there has the digit 0 alone."""
    x, y = np.arange(base)[:, None], np.arange(base)
    if operation.second == 0:
        return np.where(y == 0, operation.first * x, _NO_TOTAL)[None]
    return (operation.first * x + (y if operation.second > 0 else base - 1 - y))[None]


@lru_cache(maxsize=4096)
def _list_sum_cases(base: int, operation: Operation, total: int, into: int) -> np.ndarray:
    """Which digits have a sum, with one carry into the column, `carry x y`."""
    carry = np.arange(operation.carries)[:, None, None]
    return np.asarray((total == _list_totals(base, operation)) & (into == carry))


def find_step_column(layout: Layout, step: int) -> int:
    """The column whose digit a step writes; as many as the digits is the last carry."""
    return list(layout.z_positions).index(layout.prompt_length + step)


def open_class(task: Addition, one: PairClass) -> OpenPairs:
    """What the class leaves open."""
    closed, last = _constrain_columns(task.written(), one)
    columns = np.ones((task.digits, task.does.carries, task.base, task.base), bool)
    for column, mask in closed.items():
        columns[column] = mask
    return OpenPairs(columns, last, task.does)


def _constrain_columns(layout: Layout, one: PairClass) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """The columns of which a class says something, each with its open cases, and the open last carries."""
    operation, base = layout.operation, layout.base
    closed, carries = dict[int, np.ndarray](), np.arange(operation.carries)
    last = carries >= 0
    if one.step > 0:
        before = find_step_column(layout, one.step - 1)
        if before == layout.digits:
            last &= (carries + operation.find_top(base)) % base == one.previous
        else:
            closed[before] = np.asarray(one.previous == _list_cases(base, operation)[0])
    here = find_step_column(layout, one.step)
    if here == layout.digits:
        last &= carries == one.carry
    else:
        closed[here] = _list_sum_cases(base, operation, one.sum, one.carry)
    return closed, last


def list_certified_classes(task: Addition) -> list[PairClass]:
    """The classes that hold at least one pair, for every step, in order."""
    layout, found = task.written(), list[PairClass]()
    digits = np.zeros((task.digits, 1), np.int32)
    mark = int(layout.prompt(digits, digits)[-1, 0])
    totals, carries = range(task.does.carries * (task.base - 1) + 1), range(task.does.carries)
    for step in range(task.digits + 1):
        sums = [-1] if find_step_column(layout, step) == task.digits else totals
        for previous in range(task.base) if step else [mark]:
            every = [
                PairClass(step, previous, total, carry, task.base, task.does)
                for total in sums
                for carry in carries
            ]
            found += [one for one in every if _holds_pair(layout, one)]
    return found


def _holds_pair(layout: Layout, one: PairClass) -> bool:
    """Whether a class has a pair; a run of open columns, from any carry to any, is as good as one of them."""
    closed, last = _constrain_columns(layout, one)
    shape = (layout.operation.carries, layout.base, layout.base)
    columns, next_one, every = list[np.ndarray](), 0, np.ones(shape, bool)
    for column in sorted(closed):
        columns += [closed[column]] if column == next_one else [every, closed[column]]
        next_one = column + 1
    columns += [every] if next_one < layout.digits else []
    return bool(OpenPairs(np.stack(columns), last, layout.operation).reachable(0).any())


def maximise_sums(
    columns: np.ndarray,
    last: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    end: np.ndarray,
    operation: Operation = ADD,
) -> np.ndarray:
    """The largest sum over the pairs of each part, NOWHERE where it has none.

    Masks `part column carry x y` and `part carry`; whole terms of the digits `part column digit` (z where the
    answer is written, else 0), and of the last carry, `part carry`.
    """
    digit, following = _list_cases(columns.shape[-1], operation)
    best = np.full((len(columns), operation.carries), NOWHERE)  # part, carry into the column
    best[:, operation.start] = 0
    for column in range(columns.shape[1]):
        sums = x[:, column, None, :, None] + y[:, column, None, None, :] + z[:, column][:, digit]
        sums = np.where(columns[:, column], sums, NOWHERE)  # part carry x y
        out = [
            np.where(carry == following, sums, NOWHERE).max((2, 3)) for carry in range(operation.carries)
        ]  # part, carry in
        best = np.maximum(np.stack([(best + part).max(1) for part in out], 1), NOWHERE)
    total: np.ndarray = np.where(last, best + end, NOWHERE).max(1)
    return np.where(total < NOWHERE // 2, NOWHERE, total)
