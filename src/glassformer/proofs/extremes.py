"""The exact smallest and largest value of the mix over a class of pairs, and pairs that have them.

The largest ratio N / D of sums over independent positions is found as Dinkelbach has it: guess it, maximise
N - guess x D, and take the maximiser's own ratio as the next guess. The sum is maximised by dynamic
programming over the columns, with the carry as the state. Whatever the guess, guess + max / (smallest D) is
an upper bound.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.spread import map_threads
from glassformer.models.float_format import LEAST, OWN
from glassformer.proofs.columns import (
    PairClasses,
    find_last_digits,
    list_mark_tokens,
    tabulate_column,
    view_rows,
)
from glassformer.proofs.heads import MOST_KEYS, HeadTable
from glassformer.proofs.paths import BestPairs, Digits, find_best_path
from glassformer.proofs.ways import ColumnTerms
from glassformer.tasks.layouts import Layout

_ROUNDS = 40  # of Dinkelbach at most; it converges faster than any power
_CLOSE = 1e-13  # of the values' extent, below which a gain is rounding
_CONSTANT = 1e-9  # share by which weights may vary that are taken for constant
SUMS = (MOST_KEYS // 2 + 24) * OWN  # share by which a sum of our own over all positions may be off
_CHUNK = 1024  # rows at a time


class MixExtremes(NamedTuple):
    """Of every coordinate over every class, with the pairs that attain them."""

    low: Float[np.ndarray, "row coordinate"]
    high: Float[np.ndarray, "row coordinate"]
    low_digits: Int[np.ndarray, "row coordinate column number"]
    high_digits: Int[np.ndarray, "row coordinate column number"]


class _MixDirection(NamedTuple):
    """One direction in the space of a head's values, or one per row, along which to go as far as possible."""

    head: HeadTable
    along: Float[np.ndarray, "row key tok"]  # one row where all classes share it
    lowered: Float[np.ndarray, "row key tok"]  # a value is between the two, with room for one rounding more
    raised: Float[np.ndarray, "row key tok"]
    nothing: Float[np.ndarray, " row"]

    def take(self, rows: Int[np.ndarray, " chosen"]) -> "_MixDirection":
        return self if len(self.along) == 1 else _MixDirection(self.head, *(part[rows] for part in self[1:]))

    def turned_back(self) -> "_MixDirection":
        return _MixDirection(self.head, -self.along, -self.raised, -self.lowered, -self.nothing)


Turn = Float[np.ndarray, "row coordinate coordinate"]  # rows' own axes, in terms of the heads'


class MixGuess(NamedTuple):
    """About where the extremes are: the nearer, the fewer rounds. Bounds hold whatever it is."""

    low: Float[np.ndarray, "row coordinate"]
    high: Float[np.ndarray, "row coordinate"]


def bound_mixes(
    heads: tuple[HeadTable, ...],
    classes: PairClasses,
    turn: Turn | None = None,
    guess: MixGuess | None = None,
) -> MixExtremes:
    """Extremes of all coordinates of all heads, along the heads' axes or along each row's own."""
    sides = list_mix_directions(heads, turn)
    both = [*sides, *(side.turned_back() for side in sides)]
    guesses = [None] * len(both) if guess is None else [*guess.high.T, *-guess.low.T]
    totals = {
        id(head): None
        if turn is None and not _has_varying_weights(head)
        else _bound_weight_totals(head, classes)
        for head in heads
    }

    def maximise(number: int) -> BestPairs:
        with np.errstate(all="ignore"):  # which a thread does not take over
            side = both[number]
            return _maximise_coordinate(side, classes, totals[id(side.head)], guesses[number])

    found = list(map_threads(maximise, range(len(both))))
    highs, lows = found[: len(sides)], found[len(sides) :]
    return MixExtremes(
        -np.stack([best.value for best in lows], 1),
        np.stack([best.value for best in highs], 1),
        np.stack([best.digits for best in lows], 1),
        np.stack([best.digits for best in highs], 1),
    )


def list_mix_directions(heads: tuple[HeadTable, ...], turn: Turn | None = None) -> list[_MixDirection]:
    """Every coordinate as a direction to go along."""
    found, first = list[_MixDirection](), 0
    for head in heads:
        count = len(head.axes)
        for axis in range(count):
            mix = np.eye(count)[[axis]] if turn is None else turn[:, first + axis, first : first + count]
            along = np.tensordot(mix, head.along.centre, 1)  # row key tok
            # half of it for the sum, and half a unit each for raising and for the guess's subtraction
            own = (count + 1) * OWN * (np.abs(head.along.centre) + head.along.reach)
            radius = np.tensordot(np.abs(mix), head.along.reach + own, 1)
            found.append(_MixDirection(head, along, along - radius, along + radius, mix @ head.nothing))
        first += count
    return found


class _WeightTotals(NamedTuple):
    """The smallest and the largest sum of a head's weights over each class."""

    least: Float[np.ndarray, " row"]
    most: Float[np.ndarray, " row"]


def _maximise_coordinate(
    side: _MixDirection, classes: PairClasses, totals: _WeightTotals | None, guess: np.ndarray | None
) -> BestPairs:
    """An upper bound on a coordinate over each class, and the pair of the class that comes nearest.

    No totals: the weights are the same for all of a query's classes, which share the direction too.
    """
    if totals is None:
        return _maximise_at_once(side, classes)
    guess = _guess_maxima(side, classes) if guess is None else guess
    starts = range(0, len(classes), _CHUNK)
    chunks = [np.arange(start, min(start + _CHUNK, len(classes))) for start in starts]
    parts = [
        _maximise_by_rounds(
            side.take(rows), classes.take(rows), _WeightTotals(*(part[rows] for part in totals)), guess[rows]
        )
        for rows in chunks
    ]
    return BestPairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _has_varying_weights(head: HeadTable) -> bool:
    """Whether tokens change the weights, by more than our own rounding."""
    there = head.weights.high > 0
    least = np.where(there, head.weights.low, np.inf).min(3)
    least = np.where(np.isfinite(least), least, 0.0)
    return bool((head.weights.high.max(3) > least * (1 + _CONSTANT) + 4 * LEAST).any())


def _maximise_at_once(side: _MixDirection, classes: PairClasses) -> BestPairs:
    """Where D does not depend on the tokens one round is exact, and classes of a query share their terms."""
    queries, owner = np.unique(np.stack([classes.step, classes.previous]), axis=1, return_inverse=True)
    owner, guess = np.ravel(owner), np.zeros(queries.shape[1])
    terms = bound_weight_terms(side, queries, guess)
    first, same = _find_equal_terms(terms)
    best = _maximise_terms(_TermBounds(*(part[first] for part in terms)), same[owner], classes)
    scale, totals = _measure_terms(terms, owner, None), _bound_weight_totals(side.head, classes, False)
    return BestPairs(_raise_bounds(side, guess[owner], scale, best.value, totals), best.digits)


def _maximise_by_rounds(
    side: _MixDirection, classes: PairClasses, totals: _WeightTotals, guess: Float[np.ndarray, " row"]
) -> BestPairs:
    """Dinkelbach, all rows at once, each with its own guess; rows that gain no more are left out.

    The first guess may be above the maximum: what it leads to is attained, and so the next guess.
    """
    queries, close = np.stack([classes.step, classes.previous]), _CLOSE * np.ptp(side.raised)
    rows, high = np.arange(len(classes)), np.empty(len(classes))
    digits = np.empty((len(classes), classes.layout.digits, 2), np.int8)
    for number in range(_ROUNDS):
        some, here = classes.take(rows), side.take(rows)
        terms = bound_weight_terms(here, queries[:, rows], guess)
        best = _maximise_terms(terms, np.arange(len(rows)), some)
        found = compute_coordinates([here], some, best.digits)[:, 0]
        going = (found > guess + close) | ((found < guess - close) & (number == 0))
        going &= number < _ROUNDS - 1
        digits[rows] = best.digits
        done = np.flatnonzero(~going)
        high[rows[done]] = _raise_bounds(
            here.take(done),
            guess[done],
            _measure_terms(terms, done, some.take(done)),
            best.value[done],
            _WeightTotals(*(part[rows[done]] for part in totals)),
        )
        rows, guess = rows[going], found[going]
        if not len(rows):
            break
    return BestPairs(high, digits)


def _guess_maxima(side: _MixDirection, classes: PairClasses) -> Float[np.ndarray, " row"]:
    """What a pair of each class has that is far out, by one guess for all; classes of a query share terms."""
    queries, owner = np.stack([classes.step, classes.previous]), np.arange(len(classes))
    if len(side.along) == 1:
        queries, owner = np.unique(queries, axis=1, return_inverse=True)
    guess = np.full(queries.shape[1], float(side.along.mean()))
    best = _maximise_terms(bound_weight_terms(side, queries, guess), np.ravel(owner), classes)
    return compute_coordinates([side], classes, best.digits)[:, 0]


class _TermBounds(NamedTuple):
    """Upper bounds of weight x (value - guess): of every position and token, and of the softmax's nothing."""

    positions: Float[np.ndarray, "query key tok"]
    rest: Float[np.ndarray, " query"]


def _find_equal_terms(
    terms: _TermBounds,
) -> tuple[Int[np.ndarray, " distinct"], Int[np.ndarray, " query"]]:
    """The first query of each kind, and the kind of every query: often tokens do not change what is asked."""
    rows = np.concatenate([terms.positions.reshape(len(terms.rest), -1), terms.rest[:, None]], 1)
    _, first, same = np.unique(view_rows(rows), return_index=True, return_inverse=True)
    return first, np.ravel(same)


def bound_weight_terms(
    side: _MixDirection, queries: Int[np.ndarray, "2 query"], guess: np.ndarray
) -> _TermBounds:
    """For queries at (step, token) and a guess each."""
    weights, (step, token) = side.head.weights, queries
    moved = side.raised - (guess - 2 * OWN * np.abs(guess))[:, None, None]  # query key tok
    chosen = np.where(moved > 0, weights.high[step, token], weights.low[step, token])
    return _TermBounds(chosen * moved, weights.rest[step, token] * (side.nothing - guess))


def _raise_bounds(
    side: _MixDirection,
    guess: Float[np.ndarray, " row"],
    scale: Float[np.ndarray, " row"],
    value: Float[np.ndarray, " row"],
    totals: _WeightTotals,
) -> Float[np.ndarray, " row"]:
    """Upper bounds from the maxima that the guesses have led to; a mean is never above the largest value."""
    gain = value + SUMS * scale
    total = np.where(gain > 0, totals.least * (1 - SUMS), totals.most * (1 + SUMS))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = guess + gain / total
    ceiling = np.maximum(side.raised.max((1, 2)), side.nothing)
    found = np.fmin(found, ceiling)
    return np.asarray(found + OWN * np.abs(found) + LEAST)


def _bound_weight_totals(head: HeadTable, classes: PairClasses, pinned: bool = True) -> _WeightTotals:
    """By the tokens that each class leaves open, or that its query does."""
    shape, owner = head.weights.low.shape, classes.step * head.weights.low.shape[1] + classes.previous
    low, high = (part.reshape(-1, *shape[2:]) for part in head.weights[:2])
    rest, some = head.weights.rest.ravel()[owner], classes if pinned else None
    return _WeightTotals(
        _sum_open_ends(np.where(high > 0, low, np.inf), owner, some, np.minimum) + rest,
        _sum_open_ends(high, owner, some, np.maximum) + rest,
    )


def _measure_terms(
    terms: _TermBounds, owner: Int[np.ndarray, " row"], classes: PairClasses | None
) -> Float[np.ndarray, " row"]:
    """No pair of the class has terms that are larger together, whatever their signs."""
    positions = _sum_open_ends(np.abs(terms.positions), owner, classes, np.maximum)
    return np.asarray(positions + np.abs(terms.rest)[owner])


def _sum_open_ends(
    values: Float[np.ndarray, "query key tok"],
    owner: Int[np.ndarray, " row"],
    classes: PairClasses | None,
    best: np.ufunc,
) -> Float[np.ndarray, " row"]:
    """The smallest or largest value of the tokens that a class leaves open, 0 where none is, summed.

    Without classes: of all tokens that may be there.
    """
    found = best.reduce(values, axis=2)  # query key
    if classes is None:
        return np.asarray(np.where(np.isfinite(found), found, 0.0).sum(1)[owner])
    found = found[owner]
    layout, count, base = classes.layout, values.shape[1], classes.layout.base
    worst = np.inf if best is np.minimum else 0.0
    for positions, tokens in zip(
        (layout.x_positions, layout.y_positions, layout.z_positions), classes.open_tokens, strict=True
    ):
        if not positions:  # there is no second number
            continue
        position = np.array(positions)[classes.pin_column]
        pins = np.flatnonzero(position < count)
        rows = classes.pin_row[pins]
        there = values[owner[rows], position[pins], :base]
        found[rows, position[pins]] = best.reduce(np.where(tokens[pins], there, worst), axis=1)
    return np.asarray(np.where(np.isfinite(found), found, 0.0).sum(1))


def compute_coordinates(
    sides: list[_MixDirection], classes: PairClasses, digits: Digits
) -> Float[np.ndarray, "row coordinate"]:
    """The coordinates of concrete pairs along directions; those of one head stand together."""
    _, keys, vocab = sides[0].along.shape
    cells = write_pair_tokens(classes.layout, digits) + vocab * np.arange(keys)  # row key
    found, head = list[np.ndarray](), None
    for side in sides:
        if side.head is not head:
            head, (low, high, rests) = side.head, side.head.weights
            query = (classes.step * vocab + classes.previous)[:, None]
            weights = ((low + high) / 2).ravel()[query * (keys * vocab) + cells]  # row key
            rest = rests[classes.step, classes.previous]
            total = weights.sum(1) + rest
        rows = np.arange(len(side.along))[:, None] * (keys * vocab) if len(side.along) > 1 else 0
        along = side.along.ravel()[rows + cells]
        found.append(((weights * along).sum(1) + rest * side.nothing) / total)
    return np.stack(found, 1)


def write_pair_tokens(layout: Layout, digits: Digits) -> Int[np.ndarray, "row pos"]:
    """What the model reads: both numbers and the right digits of their sum."""
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    return np.asarray(layout.encode(x, y, layout.solve_digits(x, y))[:-1].T)


def _maximise_terms(terms: _TermBounds, owner: Int[np.ndarray, " row"], classes: PairClasses) -> BestPairs:
    """The largest sum of terms over each class."""
    layout = classes.layout
    return find_best_path(
        _take_columns(terms.positions, layout),
        _sum_fixed_terms(terms, layout),
        _sum_last_terms(terms, layout),
        owner,
        classes,
    )


def _take_columns(positions: Float[np.ndarray, "query key tok"], layout: Layout) -> ColumnTerms:
    """The terms of both digits of every column and of its digit of the sum, which is 0 while not written."""
    nowhere = np.zeros((len(positions), 1, positions.shape[2]))  # the last token of all is never read
    positions = np.concatenate([positions, nowhere], 1)
    second = layout.y_positions or [positions.shape[1] - 1] * layout.digits  # without one nothing is read
    return ColumnTerms(
        *(
            positions[:, list(where[: layout.digits]), : layout.base]
            for where in (layout.x_positions, second, layout.z_positions)
        )
    )


def sum_columns(
    positions: Float[np.ndarray, "query key tok"], layout: Layout
) -> Float[np.ndarray, "query column carry pair"]:
    """What a column adds for every carry into it and both digits; its digit of the sum too, once written."""
    x, y, z = _take_columns(positions, layout)
    written = tabulate_column(layout.base, layout.operation).written
    sums = x[:, :, None, :, None] + y[:, :, None, None, :] + z[:, :, written]
    found: np.ndarray = sums.reshape(*sums.shape[:3], layout.base**2)
    return found


def _sum_fixed_terms(terms: _TermBounds, layout: Layout) -> Float[np.ndarray, " query"]:
    """What marks and the softmax's nothing add to every pair."""
    free = {*layout.x_positions, *layout.y_positions, *layout.z_positions}
    marks = [position for position in range(terms.positions.shape[1]) if position not in free]
    found: np.ndarray = terms.positions[:, marks, list_mark_tokens(layout)[marks]].sum(1) + terms.rest
    return found


def _sum_last_terms(terms: _TermBounds, layout: Layout) -> Float[np.ndarray, "query carry"]:
    """What the highest digit of the sum, the last carry, adds where it is written."""
    position, tokens = layout.z_positions[layout.digits], find_last_digits(layout)
    if position >= terms.positions.shape[1]:
        return np.zeros((len(terms.positions), len(tokens)))
    return terms.positions[:, position, tokens]
