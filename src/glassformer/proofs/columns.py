"""Classes of pairs of numbers: what an adder must be shown to get right, digit by digit.

At step i the model has written i digits of the sum. By induction they are right, so the class of a pair is:
the step, the token just written, the sum of the two digits in the column that comes next, and the carry into
it. 57 + 68 at step 1 is in the class (1, 5, 11, 1): a 5 was written, 5 + 6 = 11 is next, a carry comes in.
The class says which digit is right: 2. A class may be split further by pinning more columns.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from glassformer.tasks.layouts import Layout
from glassformer.tasks.operations import Operation

_ROWS = 1024  # classes whose columns are all looked at, at a time
_NO_COLUMN = -1  # sum of the column above the highest
_NO_CASE = -1  # carry out of a column whose second digit is none
_PinTokens = Bool[np.ndarray, "pin tok"]


class ColumnCases(NamedTuple):
    """What a column of two digits writes, and the carry out of it, by the carry into it."""

    written: Int[np.ndarray, "carry x y"]
    carried: Int[np.ndarray, "carry x y"]


@lru_cache(maxsize=32)
def tabulate_column(base: int, operation: Operation) -> ColumnCases:
    """All cases of a column: 7 and 8 with a carry write 6 in base ten, and carry 1.

    Where there is no second number its digits are 0, and other cases lead to no carry.
    """
    carry, x, y = np.ogrid[: operation.carries, :base, :base]
    written, carried = operation.run_column(x, y, carry, base)
    is_case = operation.has_second | (y == 0)
    return ColumnCases(written + 0 * y, np.where(is_case, carried, _NO_CASE))


def find_last_digits(layout: Layout) -> Int[np.ndarray, " carry"]:
    """The digit above the highest column, by the carry into it: the carry itself, of a sum."""
    top = layout.operation.find_top(layout.base)
    return np.asarray((top + np.arange(layout.operation.carries)) % layout.base)


@dataclass(frozen=True, eq=False)
class PairClasses:
    """Rows of classes; pins say what each leaves open in some columns, all else is open."""

    layout: Layout
    step: Int[np.ndarray, " row"]
    previous: Int[np.ndarray, " row"]  # token that asks
    total: Int[np.ndarray, " row"]  # what both digits add up to, -1 above the highest
    carry: Int[np.ndarray, " row"]  # into the column
    pin_row: Int[np.ndarray, " pin"]
    pin_column: Int[np.ndarray, " pin"]
    pin_mask: Bool[np.ndarray, "pin carry x y"]
    last: Bool[np.ndarray, "row carry"]  # which last carries are open

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def mask_number(self) -> Int[np.ndarray, " pin"]:
        """Pins with the same mask have the same number."""
        if not len(self.pin_mask):
            return np.zeros(0, np.int64)
        packed = np.packbits(self.pin_mask.reshape(len(self.pin_mask), -1), axis=1)
        return np.ravel(np.unique(view_rows(packed), return_inverse=True)[1])

    @property
    def right(self) -> Int[np.ndarray, " row"]:
        """The token that must come."""
        top, base = self.layout.operation.find_top(self.layout.base), self.layout.base
        return np.asarray((np.where(self.total == _NO_COLUMN, top, self.total) + self.carry) % base)

    @cached_property
    def open_tokens(self) -> tuple[_PinTokens, _PinTokens, _PinTokens]:
        """The digits of both numbers, and of the sum, that each pin leaves open."""
        masks = self.pin_mask
        base = self.layout.base
        written = tabulate_column(base, self.layout.operation).written
        sums = np.stack([(masks & (digit == written)).any((1, 2, 3)) for digit in range(base)], 1)
        return np.asarray(masks.any((1, 3))), np.asarray(masks.any((1, 2))), sums

    def take(self, rows: Int[np.ndarray, " chosen"]) -> "PairClasses":
        """Some of the rows, in the order given; a row may come more than once."""
        order = np.argsort(rows, kind="stable")
        first, last = (np.searchsorted(rows[order], self.pin_row, side) for side in ("left", "right"))
        pin = np.repeat(np.arange(len(self.pin_row)), last - first)
        within = np.arange(len(pin)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
        return replace(
            self,
            **{key: getattr(self, key)[rows] for key in ("step", "previous", "total", "carry", "last")},
            pin_row=order[first[pin] + within],
            pin_column=self.pin_column[pin],
            pin_mask=self.pin_mask[pin],
        )

    def masks(self, rows: Int[np.ndarray, " chosen"]) -> Bool[np.ndarray, "chosen column carry x y"]:
        """What rows leave open, column by column."""
        chosen, base = self.take(rows), self.layout.base
        found = np.ones((len(rows), self.layout.digits, self.layout.operation.carries, base, base), bool)
        found[chosen.pin_row, chosen.pin_column] = chosen.pin_mask
        return found

    def pinned(
        self, column: Int[np.ndarray, " row"], mask: Bool[np.ndarray, "row carry x y"]
    ) -> "PairClasses":
        """Every row with another mask in one of its columns."""
        others = self.pin_column != column[self.pin_row]
        return replace(
            self,
            pin_row=np.append(self.pin_row[others], np.arange(len(self))),
            pin_column=np.append(self.pin_column[others], column),
            pin_mask=np.concatenate([self.pin_mask[others], mask]),
        )


def view_rows(table: np.ndarray) -> np.ndarray:
    """Every row as one value, so that equal ones can be found: the same bytes, for `np.unique`."""
    table = np.ascontiguousarray(table)
    return table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1])))[:, 0]


def join_classes(parts: list[PairClasses]) -> PairClasses:
    """Rows of several, one after the other."""
    starts = np.cumsum([0, *(len(part) for part in parts)])
    fields = ("step", "previous", "total", "carry", "pin_column", "pin_mask", "last")
    joined = {key: np.concatenate([getattr(part, key) for part in parts]) for key in fields}
    rows = [part.pin_row + start for part, start in zip(parts, starts, strict=False)]
    return PairClasses(parts[0].layout, **joined, pin_row=np.concatenate(rows))


def list_written_columns(layout: Layout) -> Int[np.ndarray, " step"]:
    """The column that each step writes."""
    positions = list(layout.z_positions)
    return np.array([positions.index(layout.prompt_length + step) for step in range(layout.digits + 1)])


@lru_cache(maxsize=16)
def enumerate_pair_classes(layout: Layout) -> PairClasses:
    """Every class that has a pair in it."""
    order, mark = list_written_columns(layout), list_mark_tokens(layout)[layout.prompt_length - 1]
    sums, base = range(layout.operation.count_totals(layout.base)), layout.base
    rows = [
        (step, previous, total, carry)
        for step, column in enumerate(order)
        for previous in ([mark] if step == 0 else range(base))
        for total in ([_NO_COLUMN] if column == layout.digits else sums)
        for carry in range(layout.operation.carries)
    ]
    step, previous, total, carry = np.array(rows).T
    classes = pin_classes(layout, step, previous, total, carry)
    return classes.take(np.flatnonzero(has_pair(classes)))


def pin_classes(
    layout: Layout, step: np.ndarray, previous: np.ndarray, total: np.ndarray, carry: np.ndarray
) -> PairClasses:
    """The column that comes next, and the one just written, pinned."""
    order, top = list_written_columns(layout), layout.digits
    now, before = order[step], np.where(step > 0, order[step - 1], _NO_COLUMN)
    number = np.arange(layout.operation.carries)
    last = (now != top)[:, None] | (number == carry[:, None])
    last &= (before != top)[:, None] | (find_last_digits(layout) == previous[:, None])
    next_rows, old_rows = np.flatnonzero(now != top), np.flatnonzero((before >= 0) & (before != top))
    column_sum, column_carry, digit = (
        values[:, None, None, None] for values in (total[next_rows], carry[next_rows], previous[old_rows])
    )
    written, carried = tabulate_column(layout.base, layout.operation)
    into, x, y = np.ogrid[: layout.operation.carries, : layout.base, : layout.base]
    is_sum = (column_sum == layout.operation.add_up(x, y, layout.base)) & (carried != _NO_CASE)
    masks = [is_sum & (column_carry == into), (digit == written) & (carried != _NO_CASE)]
    return PairClasses(
        layout,
        step,
        previous,
        total,
        carry,
        np.concatenate([next_rows, old_rows]),
        np.concatenate([now[next_rows], before[old_rows]]),
        np.concatenate(masks),
        last,
    )


def list_mark_tokens(layout: Layout) -> Int[np.ndarray, " pos"]:
    """The tokens of 0 + 0 = 0: the marks stand where they always do."""
    nothing = np.zeros((layout.digits, 1), np.int64)
    tokens: np.ndarray = layout.encode(nothing, nothing, np.zeros((layout.digits + 1, 1), np.int64))[:, 0]
    return tokens


def find_allowed_tokens(layout: Layout, vocab: int) -> Bool[np.ndarray, "pos tok"]:
    """Which tokens can stand at each position that the model reads: digits, or the mark."""
    allowed: np.ndarray = np.arange(vocab) == list_mark_tokens(layout)[:-1, None]
    digits = [
        position
        for position in (*layout.x_positions, *layout.y_positions, *layout.z_positions)
        if position < len(allowed)
    ]
    allowed[digits] = np.arange(vocab) < layout.base
    return allowed


def find_possible_digits(
    masks: Bool[np.ndarray, "row column carry x y"], last: Bool[np.ndarray, "row carry"], operation: Operation
) -> Bool[np.ndarray, "row column carry x y"]:
    """What is open and also in some pair: the carry into a column comes out of the one below it."""
    digits, carries = masks.shape[1:3]
    carried = tabulate_column(masks.shape[3], operation).carried
    ways = np.stack([(masks & (out == carried)).any((3, 4)) for out in range(carries)], 3)  # row column * *
    below, above = (np.zeros((len(masks), digits, carries), bool) for _ in range(2))
    below[:, 0, operation.start], above[:, -1] = True, last
    for column in range(1, digits):
        below[:, column] = (below[:, column - 1, :, None] & ways[:, column - 1]).any(1)
    for column in reversed(range(digits - 1)):
        above[:, column] = (ways[:, column + 1] & above[:, column + 1, None]).any(2)
    found: np.ndarray = masks & below[..., None, None] & above[:, :, carried] & (carried != _NO_CASE)
    return found


def drop_impossible_digits(classes: PairClasses) -> PairClasses:
    """The same pairs by pins that leave nothing open which no pair has."""
    pin_mask = classes.pin_mask.copy()
    for start in range(0, len(classes), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(classes)))
        masks = find_possible_digits(classes.masks(rows), classes.last[rows], classes.layout.operation)
        pins = np.flatnonzero((classes.pin_row >= start) & (classes.pin_row < start + _ROWS))
        pin_mask[pins] = masks[classes.pin_row[pins] - start, classes.pin_column[pins]]
    return replace(classes, pin_mask=pin_mask)


def has_pair(classes: PairClasses) -> Bool[np.ndarray, " row"]:
    """Whether any pair is in the class."""
    operation = classes.layout.operation
    ways = np.ones((len(classes), classes.layout.digits, operation.carries, operation.carries), bool)
    carried = tabulate_column(classes.layout.base, operation).carried
    ways &= (carried[:, None] == np.arange(operation.carries)[:, None, None]).any((2, 3))
    for out in range(operation.carries):
        ways[classes.pin_row, classes.pin_column, :, out] = (classes.pin_mask & (out == carried)).any((2, 3))
    state: np.ndarray = np.zeros((len(classes), operation.carries), bool)
    state[:, operation.start] = True
    for column in range(classes.layout.digits):
        state = np.asarray((state[:, :, None] & ways[:, column]).any(1))
    found: np.ndarray = (state & classes.last).any(1)
    return found


def find_members(
    classes: PairClasses, digits: Int[np.ndarray, "row column number"]
) -> Bool[np.ndarray, " row"]:
    """Which rows hold the pair that is given for them."""
    x, y = np.moveaxis(digits.astype(np.int64), 2, 0)  # row column
    operation, base = classes.layout.operation, classes.layout.base
    carry = np.full((len(classes), classes.layout.digits + 1), operation.start, np.int64)
    for column in range(classes.layout.digits):
        carry[:, column + 1] = operation.run_column(x[:, column], y[:, column], carry[:, column], base)[1]
    found = classes.last[np.arange(len(classes)), carry[:, -1]]
    at = classes.pin_row, classes.pin_column
    is_open = classes.pin_mask[np.arange(len(classes.pin_row)), carry[at], x[at], y[at]]
    np.logical_and.at(found, classes.pin_row, is_open)
    return found
