"""Dynamic programming over the columns of two numbers, with the carry as the state.

A class pins few columns. What stands before its first pinned column and behind its last is the same for all
classes of a query, so it is worked out once a query: the cost of a class does not grow with the digits.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.proofs.columns import PairClasses, tabulate_column
from glassformer.proofs.ways import (
    CarryWays,
    ColumnTerms,
    find_best_ways,
    find_open_pairs,
    find_open_ways,
    sum_pair_terms,
)

_CHUNK = 4096  # classes at a time, for the sake of memory

Digits = Int[np.ndarray, "row column number"]  # number: 0 for the first, 1 for the second
_Pairs = Int[np.ndarray, "row column"]  # both digits of a column as one number, base x + y


class BestPairs(NamedTuple):
    value: Float[np.ndarray, " row"]
    digits: Digits


class _CarryPaths(NamedTuple):
    """Best sums up to, or from, every column by the carry into it, and the carry on the other side of it."""

    value: Float[np.ndarray, "*query column+1 carry"]
    other: Int[np.ndarray, "*query column carry"]


class _QueryPaths(NamedTuple):
    """What all classes of a query share."""

    terms: ColumnTerms
    ways: CarryWays
    before: _CarryPaths
    behind: _CarryPaths


def find_best_path(
    terms: ColumnTerms,
    first: Float[np.ndarray, " query"],
    last: Float[np.ndarray, "query carry"],
    owner: Int[np.ndarray, " row"],
    classes: PairClasses,
) -> BestPairs:
    """The largest first + sum of columns + last over each class; `owner` is the query of each class."""
    operation = classes.layout.operation
    ways = find_open_ways(terms, operation)
    endings, ending = _list_endings(len(terms.x), owner, classes)
    behind = _extend_paths_behind(ways, np.where(endings, last, -np.inf))
    shared = _QueryPaths(terms, ways, _extend_paths_before(ways, first, operation.start), behind)
    chosen, same = _find_distinct_pins(len(terms.x), owner, classes)
    pinned = _find_pinned_ways(shared, owner, classes, chosen)
    spans = _PinnedSpans(*_find_pinned_spans(classes, same), ending)
    chunks = [slice(begin, begin + _CHUNK) for begin in range(0, len(owner), _CHUNK)]
    found = [
        _join_best_paths(shared, pinned, owner[rows], _PinnedSpans(*(part[rows] for part in spans)))
        for rows in chunks
    ]
    value, pairs = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return BestPairs(value, np.stack(np.divmod(pairs, classes.layout.base), 2).astype(np.int8))


def _list_endings(
    queries: int, owner: Int[np.ndarray, " row"], classes: PairClasses
) -> tuple[Bool[np.ndarray, "ending query carry"], Int[np.ndarray, " row"]]:
    """Choices of last carries that are open, of all queries or of each its own, and which each row has."""
    if queries == len(owner) and np.array_equal(owner, np.arange(queries)):
        return classes.last[None], np.zeros(queries, np.int64)
    carries = classes.last.shape[1]
    lasts = np.concatenate([np.ones((1, carries), bool), np.eye(carries, dtype=bool)])  # all, or one of them
    return lasts[:, None], (classes.last[:, None] == lasts).all(2).argmax(1)


def _find_distinct_pins(
    queries: int, owner: Int[np.ndarray, " row"], classes: PairClasses
) -> tuple[Int[np.ndarray, " distinct"], Int[np.ndarray, " pin"]]:
    """One pin of each kind (query, column, mask), and the kind of every pin: classes share most of them."""
    every = np.arange(len(classes.pin_row))
    if queries == len(owner):  # each class asks its own query
        return every, every
    spot = owner[classes.pin_row] * classes.layout.digits + classes.pin_column
    number = classes.mask_number
    _, first, same = np.unique(
        spot * (number.max(initial=0) + 1) + number, return_index=True, return_inverse=True
    )
    return first, np.ravel(same)


def _join_best_paths(
    shared: _QueryPaths, pinned: CarryWays, owner: Int[np.ndarray, " row"], spans: "_PinnedSpans"
) -> tuple[Float[np.ndarray, " row"], _Pairs]:
    """Up to the first pinned column, through the pinned ones, and on from the last."""
    start, stop, pins, ending = spans
    digits = shared.terms.x.shape[1]
    state, within = shared.before.value[owner, start], list[tuple[np.ndarray, np.ndarray]]()
    for offset in range(pins.shape[1]):
        column = np.minimum(start + offset, digits - 1)
        here = _choose_column_ways(shared.ways, pinned, owner, column, pins[:, offset])
        reached, came_from = _choose_best(state[:, :, None] + here.value, 1)  # row end
        within.append((came_from, here.pair))
        state = np.where((start + offset < stop)[:, None], reached, state)
    state = state + shared.behind.value[ending, owner, stop]
    best, carry = _choose_best(state, 1)
    found = np.empty((len(owner), digits), np.int16)
    _trace_digits_behind(shared, ending, owner, stop, carry, found)
    carry = _trace_digits_within(within, start, stop, carry, found)
    _trace_digits_before(shared, owner, start, carry, found)
    return best, find_open_pairs(shared.terms, owner, found)


def _choose_best(sums: np.ndarray, axis: int) -> tuple[np.ndarray, Int[np.ndarray, "..."]]:
    """The largest of the sums of several carries, and the carry that has it: the first of equal ones."""
    return sums.max(axis), sums.argmax(axis)


def _find_pinned_ways(
    shared: _QueryPaths,
    owner: Int[np.ndarray, " row"],
    classes: PairClasses,
    pins: Int[np.ndarray, " chosen"],
) -> CarryWays:
    """The best ways through some pinned columns, among the digits that the pin leaves open."""
    layout = classes.layout
    masks = classes.pin_mask[pins].reshape(len(pins), layout.operation.carries, layout.base**2)
    written = tabulate_column(layout.base, layout.operation).written
    sums = sum_pair_terms(shared.terms, owner[classes.pin_row[pins]], classes.pin_column[pins], written)
    return find_best_ways(np.where(masks, sums, -np.inf), layout.base, layout.operation)


def _choose_column_ways(
    ways: CarryWays, pinned: CarryWays, owner: np.ndarray, column: np.ndarray, pin: np.ndarray
) -> CarryWays:
    """Each row's ways through its column: those of its pin, or the query's where it has none (-1)."""
    if not len(pinned.value):
        return CarryWays(ways.value[owner, column], ways.pair[owner, column])
    is_pinned = (pin >= 0)[:, None, None]
    return CarryWays(
        np.where(is_pinned, pinned.value[pin], ways.value[owner, column]),
        np.where(is_pinned, pinned.pair[pin], ways.pair[owner, column]),
    )


class _PinnedSpans(NamedTuple):
    """From which to which column rows are pinned, and the kind of the pin in each of these, or -1."""

    start: Int[np.ndarray, " row"]
    stop: Int[np.ndarray, " row"]
    pins: Int[np.ndarray, "row offset"]
    ending: Int[np.ndarray, " row"]  # which last carries are open


def _find_pinned_spans(
    classes: PairClasses, kind: Int[np.ndarray, " pin"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, stop and pins of every row."""
    digits = classes.layout.digits
    start, stop = np.full(len(classes), digits), np.zeros(len(classes), np.int64)
    np.minimum.at(start, classes.pin_row, classes.pin_column)
    np.maximum.at(stop, classes.pin_row, classes.pin_column + 1)
    stop = np.maximum(start, stop)
    pins = np.full((len(classes), int((stop - start).max(initial=0))), -1)
    pins[classes.pin_row, classes.pin_column - start[classes.pin_row]] = kind
    return start, stop, pins


def _extend_paths_before(ways: CarryWays, first: Float[np.ndarray, " query"], start: int) -> _CarryPaths:
    """From the carry into the units up to each column."""
    queries, count, carries = ways.value.shape[:3]
    value, other = (
        np.full((queries, count + 1, carries), -np.inf),
        np.empty((queries, count, carries), np.int64),
    )
    value[:, 0, start] = first
    for column in range(count):
        sums = value[:, column, :, None] + ways.value[:, column]  # query start end
        value[:, column + 1], other[:, column] = _choose_best(sums, 1)
    return _CarryPaths(value, other)


def _extend_paths_behind(ways: CarryWays, last: Float[np.ndarray, "ending query carry"]) -> _CarryPaths:
    """From each column to the last carry, for every choice of last carries that are open."""
    endings, queries, count, carries = len(last), *ways.value.shape[:3]
    value = np.empty((endings, queries, count + 1, carries))
    other = np.empty((endings, queries, count, carries), np.int64)
    value[:, :, count] = last
    for column in reversed(range(count)):
        sums = ways.value[:, column] + value[:, :, column + 1, None]  # ending query start end
        value[:, :, column], other[:, :, column] = _choose_best(sums, 3)
    return _CarryPaths(value, other)


def _trace_digits_behind(
    shared: _QueryPaths,
    ending: np.ndarray,
    owner: np.ndarray,
    stop: np.ndarray,
    carry: np.ndarray,
    pairs: _Pairs,
) -> None:
    """Fill in the digits behind the last pinned column, from the carry into it on."""
    carry = carry.copy()
    for column in range(int(stop.min(initial=0)), pairs.shape[1]):
        rows = np.flatnonzero(stop <= column)
        query, start = owner[rows], carry[rows]
        end = shared.behind.other[ending[rows], query, column, start]
        pairs[rows, column] = shared.ways.pair[query, column, start, end]
        carry[rows] = end


def _trace_digits_within(
    within: list[tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
    stop: np.ndarray,
    carry: np.ndarray,
    pairs: _Pairs,
) -> Int[np.ndarray, " row"]:
    """Fill in the digits of the pinned columns, last to first; gives the carry into the first of them."""
    every = np.arange(len(carry))
    for offset, (came_from, pair) in reversed(list(enumerate(within))):
        rows, earlier = np.flatnonzero(start + offset < stop), came_from[every, carry]
        pairs[rows, (start + offset)[rows]] = pair[every, earlier, carry][rows]
        carry = np.where(start + offset < stop, earlier, carry)
    return carry


def _trace_digits_before(
    shared: _QueryPaths, owner: np.ndarray, start: np.ndarray, carry: np.ndarray, pairs: _Pairs
) -> None:
    """Fill in the digits before the first pinned column, from the carry out of it back."""
    carry = carry.copy()
    for column in reversed(range(int(start.max(initial=0)))):
        rows = np.flatnonzero(column < start)
        query, end = owner[rows], carry[rows]
        begin = shared.before.other[query, column, end]
        pairs[rows, column] = shared.ways.pair[query, column, begin, end]
        carry[rows] = begin
