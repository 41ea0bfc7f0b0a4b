"""The best pair of digits in a column for each carry into it and out of it, where all digits are open.

A column adds x + y + z: a term of either digit, and one of the digit of the sum, once it is written. Pairs
with the same sum share z and the carry, so of each sum only the best pair counts: 7 + 8 and 9 + 6 both write
a 5 and carry 1. Which pair it is matters for the columns of a best path alone, and is looked up there. Of
other operations all cases of a column are looked at.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.proofs.columns import tabulate_column
from glassformer.tasks.operations import ADD, Operation

_CARRIES = ADD.carries


class ColumnTerms(NamedTuple):
    """What the digits of the first number, the second and the sum add, by query and column."""

    x: Float[np.ndarray, "query column tok"]
    y: Float[np.ndarray, "query column tok"]
    z: Float[np.ndarray, "query column tok"]

    @property
    def base(self) -> int:
        return int(self.x.shape[2])


class CarryWays(NamedTuple):
    """The best pair of digits from each carry to each carry: base x + y, or base^2 + sum of the two."""

    value: Float[np.ndarray, "*row start end"]
    pair: Int[np.ndarray, "*row start end"]


def find_open_ways(terms: ColumnTerms, operation: Operation) -> CarryWays:
    """For each column the best sum of digits from each carry to each carry."""
    return _find_open_sums(terms) if operation == ADD else _find_open_cases(terms, operation)


def _find_open_cases(terms: ColumnTerms, operation: Operation) -> CarryWays:
    """Of any operation, from all cases of a column."""
    queries, columns = terms.x.shape[:2]
    written = tabulate_column(terms.base, operation).written
    query, column = np.divmod(np.arange(queries * columns), columns)
    ways = find_best_ways(sum_pair_terms(terms, query, column, written), terms.base, operation)
    return CarryWays(*(part.reshape(queries, columns, *part.shape[1:]) for part in ways))


def find_best_ways(
    columns: Float[np.ndarray, "*row carry pair"], base: int, operation: Operation
) -> CarryWays:
    """For each column the best pair of digits from each carry to each carry: its sum, and which it is."""
    shape = (*columns.shape[:-1], operation.carries)
    value, pair = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    for start in range(operation.carries):
        for end, pairs in enumerate(_list_ways(base, operation)[start]):
            if len(pairs):
                those = columns[..., start, pairs]
                best = those.argmax(-1)
                pair[..., start, end] = pairs[best]
                value[..., start, end] = np.take_along_axis(those, best[..., None], -1)[..., 0]
    return CarryWays(value, pair)


@lru_cache(maxsize=32)
def _list_ways(base: int, operation: Operation) -> list[list[np.ndarray]]:
    """Which of a column's pairs of digits, 100 in base ten, take carry `i` to carry `o`."""
    every = range(operation.carries)
    carried = tabulate_column(base, operation).carried.reshape(operation.carries, -1)
    return [[np.flatnonzero(carried[start] == end) for end in every] for start in every]


def _find_open_sums(terms: ColumnTerms) -> CarryWays:
    """Of addition, from the best pair of each sum."""
    base, shape = terms.base, (*terms.x.shape[:2], _CARRIES, _CARRIES)
    x, y, z = (np.ascontiguousarray(part.reshape(-1, base).T) for part in terms)  # tok many
    best = _maximise_by_sum(x, y)  # sum many
    value, pair = (
        np.empty((x.shape[1], _CARRIES, _CARRIES)),
        np.empty((x.shape[1], _CARRIES, _CARRIES), np.int64),
    )
    for start in range(_CARRIES):
        for end in range(_CARRIES):
            first, stop = max(0, end * base - start), min(2 * base - 1, (end + 1) * base - start)
            written = slice(first + start - end * base, stop + start - end * base)
            reached = best[first:stop] + z[written]
            value[:, start, end] = reached.max(0)
            pair[:, start, end] = base * base + first + (reached == value[:, start, end]).argmax(0)
    return CarryWays(value.reshape(shape), pair.reshape(shape))


def _maximise_by_sum(
    x: Float[np.ndarray, "tok many"], y: Float[np.ndarray, "tok many"]
) -> Float[np.ndarray, "sum many"]:
    """The largest x + y of all pairs of digits with each sum."""
    base = len(x)
    best = np.full((2 * base - 1, x.shape[1]), -np.inf)
    for digit in range(base):
        np.maximum(best[digit : digit + base], x[digit] + y, out=best[digit : digit + base])
    return best


def sum_pair_terms(
    terms: ColumnTerms,
    query: Int[np.ndarray, " row"],
    column: Int[np.ndarray, " row"],
    written: Int[np.ndarray, "carry x y"],
) -> Float[np.ndarray, "row carry pair"]:
    """What single columns add for every carry into them and every pair of digits."""
    x, y, z = (part[query, column] for part in terms)  # row tok
    sums = x[:, None, :, None] + y[:, None, None, :] + z[:, written]
    return np.asarray(sums.reshape(len(query), len(written), -1))


def find_open_pairs(
    terms: ColumnTerms, owner: Int[np.ndarray, " row"], pairs: Int[np.ndarray, "row column"]
) -> Int[np.ndarray, "row column"]:
    """Of columns of which only the sum is known, the best pair of digits with that sum."""
    base = terms.base
    row, column = np.nonzero(pairs >= base * base)
    digit = np.arange(base)
    other = (pairs[row, column] - base * base)[:, None] - digit  # open tok
    x, y = terms.x[owner[row], column], terms.y[owner[row], column]
    sums = np.where(
        (other >= 0) & (other < base), x + np.take_along_axis(y, np.clip(other, 0, base - 1), 1), -np.inf
    )
    chosen, found = sums.argmax(1), pairs.copy()
    found[row, column] = chosen * base + other[np.arange(len(row)), chosen]
    return found
