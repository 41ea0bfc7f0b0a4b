"""Classes of pairs as masks over columns, and the largest sum over a class, exact in whole numbers.

A column holds (carry in, x, y), 200 cases in base ten; a class leaves some of them open in every column and
some of the last carries. The largest sum of terms over all pairs of a class is a product of 2 x 2 matrices in
which plus is the larger of two and times is the sum: entry (carry in, carry out) is the best (x, y) of a
column.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from glassformer.tasks import Addition, Layout

NOWHERE = -(2**61)  # the sum over no pair; sums over pairs stay above half of it
MOST = 2.0**59  # bits that sums of whole terms may fill


@dataclass(frozen=True)
class PairClass:
    """All pairs for which `previous` was just written, and the column to come has this sum and carry."""

    step: int
    previous: int
    sum: int  # of the column's two digits; -1 where the last carry itself is to come
    carry: int  # into the column
    base: int

    @property
    def right(self) -> int:
        """The token that must come."""
        return self.carry if self.sum < 0 else (self.sum + self.carry) % self.base

    def __str__(self) -> str:
        return f"class (step {self.step}, previous {self.previous}, sum {self.sum}, carry {self.carry})"


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """What a part of a class leaves open."""

    columns: np.ndarray  # column carry x y: bool
    last: np.ndarray  # the two last carries: bool

    def within(self, column: int, mask: np.ndarray) -> "OpenPairs":
        """Cut down to some of a column's cases."""
        columns = self.columns.copy()
        columns[column] &= mask
        return OpenPairs(columns, self.last)

    def has(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Whether the pair with these digits, units first, is in it."""
        carry, base = 0, self.columns.shape[-1]
        for column, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            if not self.columns[column, carry, a, b]:
                return False
            carry = (carry + a + b) // base
        return bool(self.last[carry])

    def reachable(self, column: int) -> np.ndarray:
        """The cases of a column, `carry x y`, that some pair has."""
        before, after = np.array([True, False]), self.last.copy()
        _, following = _list_cases(self.columns.shape[-1])
        for earlier in self.columns[:column]:
            before = np.array(
                [(earlier & before[:, None, None] & (out == following)).any() for out in (0, 1)]
            )
        for later in self.columns[:column:-1]:
            after = (later & after[following]).any((1, 2))
        found: np.ndarray = self.columns[column] & before[:, None, None] & after[following]
        return found


@cache
def _list_cases(base: int) -> tuple[np.ndarray, np.ndarray]:
    """The digit that a column writes and the carry into the next, `carry x y`."""
    carry, x, y = np.ogrid[:2, :base, :base]
    total = carry + x + y
    return total % base, total // base


def find_step_column(layout: Layout, step: int) -> int:
    """The column whose digit a step writes; as many as the digits is the last carry."""
    return list(layout.z_positions).index(layout.prompt_length + step)


def open_class(task: Addition, one: PairClass) -> OpenPairs:
    """What the class leaves open."""
    closed, last = _constrain_columns(task.written(), one)
    columns = np.ones((task.digits, 2, task.base, task.base), bool)
    for column, mask in closed.items():
        columns[column] = mask
    return OpenPairs(columns, last)


def _constrain_columns(layout: Layout, one: PairClass) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """The columns of which a class says something, each with its open cases, and the open last carries."""
    closed, last, base = dict[int, np.ndarray](), np.ones(2, bool), layout.base
    carry, x, y = np.ogrid[:2, :base, :base]
    if one.step > 0:
        before = find_step_column(layout, one.step - 1)
        if before == layout.digits:
            last &= np.arange(2) == one.previous
        else:
            closed[before] = np.asarray(one.previous == _list_cases(base)[0])
    here = find_step_column(layout, one.step)
    if here == layout.digits:
        last &= np.arange(2) == one.carry
    else:
        closed[here] = np.asarray((one.sum == x + y) & (one.carry == carry))
    return closed, last


def list_certified_classes(task: Addition) -> list[PairClass]:
    """The classes that hold at least one pair, for every step, in order."""
    layout, found = task.written(), list[PairClass]()
    digits = np.zeros((task.digits, 1), np.int32)
    mark = int(layout.prompt(digits, digits)[-1, 0])
    for step in range(task.digits + 1):
        sums = [-1] if find_step_column(layout, step) == task.digits else range(2 * task.base - 1)
        for previous in range(task.base) if step else [mark]:
            every = [PairClass(step, previous, total, carry, task.base) for total in sums for carry in (0, 1)]
            found += [one for one in every if _holds_pair(layout, one)]
    return found


def _holds_pair(layout: Layout, one: PairClass) -> bool:
    """Whether a class has a pair; a run of open columns, from any carry to any, is as good as one of them."""
    closed, last = _constrain_columns(layout, one)
    columns, next_one, every = list[np.ndarray](), 0, np.ones((2, layout.base, layout.base), bool)
    for column in sorted(closed):
        columns += [closed[column]] if column == next_one else [every, closed[column]]
        next_one = column + 1
    columns += [every] if next_one < layout.digits else []
    return bool(OpenPairs(np.stack(columns), last).reachable(0).any())


def maximise_sums(
    columns: np.ndarray, last: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """The largest sum over the pairs of each part, NOWHERE where it has none.

    Masks `part column carry x y` and `part carry`; whole terms of the digits `part column digit` (z where the
    answer is written, else 0), and of the last carry, `part carry`.
    """
    digit, following = _list_cases(columns.shape[-1])
    best = np.full((len(columns), 2), NOWHERE)  # part, carry into the column
    best[:, 0] = 0
    for column in range(columns.shape[1]):
        sums = x[:, column, None, :, None] + y[:, column, None, None, :] + z[:, column][:, digit]
        sums = np.where(columns[:, column], sums, NOWHERE)  # part carry x y
        out = [np.where(carry == following, sums, NOWHERE).max((2, 3)) for carry in (0, 1)]  # part, carry in
        best = np.maximum(np.stack([(best + part).max(1) for part in out], 1), NOWHERE)
    total: np.ndarray = np.where(last, best + end, NOWHERE).max(1)
    return np.where(total < NOWHERE // 2, NOWHERE, total)
