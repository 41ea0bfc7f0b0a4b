"""Sets of contexts whose mixes are enclosed by a box: the same token leads after all of them, or that fails.

A set holds any of some tokens at each position and one token at the last, which asks. Its positions are
independent, so a coordinate of the mix, a mean of numbers a by weights w, is at most g where the sum over
positions of the largest w (a - g) is at most 0; where the sum is above 0, g is lifted by it over the least
sum of weights. Any g gives a bound; a good one is the mean of the tokens that the sum chose, twice over.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.checker.bounds import (
    CertifiedBoxes,
    HeadProjection,
    bound_off_axis,
    bound_pair_terms,
    project_head,
)
from glassformer.checker.reading import HeadAxes
from glassformer.checker.readout import MarginBoxes, require_margins
from glassformer.checker.rounding import UP, Bound
from glassformer.checker.tables import PremixTables

_ROUNDS = 3  # of choosing tokens and their mean
_SUMS = 2.0**-50  # of a sum of so many terms, times their number: what float64 may lose
_CHUNK = 256  # sets at a time


@dataclass(frozen=True, eq=False)
class LedSets:
    """Sets of contexts of one length, with the token that must lead after all of them."""

    tokens: np.ndarray  # set pos tok
    leader: np.ndarray  # set
    rivals: np.ndarray  # set tok: the tokens that it must lead
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.leader)

    def __getitem__(self, rows: slice) -> "LedSets":
        return LedSets(self.tokens[rows], self.leader[rows], self.rivals[rows], self.names[rows])


@dataclass(frozen=True)
class _NamedSet:
    one: str


def require_leaders(tables: PremixTables, axes: tuple[HeadAxes, ...], sets: LedSets) -> None:
    """Raises where a leader cannot be confirmed, by more than any rounding, all over its set."""
    last = sets.tokens.shape[1] - 1
    asking = sets.tokens[:, last].argmax(1)
    bounds = _bound_set_mixes(tables, axes, sets.tokens, asking)
    every = np.arange(len(sets))
    boxes = MarginBoxes(
        every,
        np.full(len(sets), last),
        asking,
        sets.leader,
        np.zeros(len(sets)),
        bounds,
        sets.rivals,
    )
    require_margins(tables, axes, [_NamedSet(name) for name in sets.names], boxes, float("inf"))


def _bound_set_mixes(
    tables: PremixTables, axes: tuple[HeadAxes, ...], tokens: np.ndarray, asking: np.ndarray
) -> CertifiedBoxes:
    """A box for each set `set pos tok`, certain to hold the mixes of all its contexts."""
    asked, query = np.unique(asking, return_inverse=True)
    count, lows, highs, offs, rests = sum(len(along.axes) for along in axes), [], [], [], []
    for head, along in enumerate(axes):
        spot = project_head(tables.mixture(head, tokens.shape[1] - 1, asked), along)
        mine = len(along.axes)
        lows.append(-_bound_coordinates(spot, query, tokens, -np.eye(mine)))
        highs.append(_bound_coordinates(spot, query, tokens, np.eye(mine)))
        offs.append((spot.mixture.error.T[query] @ np.abs(along.axes).T) * UP)
        rests.append(bound_off_axis(spot, query, np.broadcast_to(np.eye(mine), (len(query), mine, mine))))
    turn = np.broadcast_to(np.eye(count), (len(query), count, count))
    low, high, off = (np.concatenate(parts, 1) for parts in (lows, highs, offs))
    return CertifiedBoxes(low, high, off, turn, tuple(rests))


def _bound_coordinates(
    spot: HeadProjection, query: np.ndarray, tokens: np.ndarray, directions: np.ndarray
) -> Bound:
    """Upper bounds of the mixes along each direction, `set direction`."""
    found = np.zeros((len(query), len(directions)))
    for begin in range(0, len(query), _CHUNK):
        some = slice(begin, begin + _CHUNK)
        for number, direction in enumerate(directions):
            along = np.broadcast_to(direction, (len(query[some]), len(direction)))
            found[some, number] = _bound_one_coordinate(spot, query[some], tokens[some], along)
    return found


def _bound_one_coordinate(
    spot: HeadProjection, query: np.ndarray, tokens: np.ndarray, direction: np.ndarray
) -> Bound:
    guess = np.zeros(len(query))
    for _ in range(_ROUNDS):
        guess = _improve_guess(spot, query, tokens, direction, guess)
    terms, extra = _bound_terms(spot, query, tokens, direction, guess)
    best = terms.max(2)
    above = best.sum(1) + extra
    above = above + _SUMS * (best.shape[1] + 1) * (np.abs(best).sum(1) + np.abs(extra))
    lift = np.maximum(above, 0.0) / _bound_least_total(spot, query, tokens) * UP
    found: Bound = np.nextafter(guess + lift, np.inf)
    return np.where(np.isfinite(found), found, np.inf)


def _bound_least_total(spot: HeadProjection, query: np.ndarray, tokens: np.ndarray) -> Bound:
    """A lower bound of the sum of weights over the contexts of each set."""
    least = np.where(tokens, spot.weights[0][query], np.inf).min(2).sum(1) + spot.zero_weight[0][query]
    found: Bound = least * (1 - _SUMS * (tokens.shape[1] + 1))
    return found


def _bound_terms(
    spot: HeadProjection, query: np.ndarray, tokens: np.ndarray, direction: np.ndarray, guess: Bound
) -> tuple[Bound, Bound]:
    """Upper bounds of w (a - guess): `set pos tok`, where the set has the token, and of the zero vector."""
    terms = bound_pair_terms(spot.products, spot.weights, query, direction, guess)
    extra = bound_pair_terms(spot.zero, spot.zero_weight, query, direction, guess)
    return np.where(tokens, terms, -np.inf), np.where(spot.mixture.has_extra, extra, 0.0)


def _improve_guess(
    spot: HeadProjection, query: np.ndarray, tokens: np.ndarray, direction: np.ndarray, guess: Bound
) -> Bound:
    """The mean of the tokens that make the sum largest; nothing rests on it."""
    terms, _ = _bound_terms(spot, query, tokens, direction, guess)
    which = (query[:, None], np.arange(tokens.shape[1]), terms.argmax(2))
    weight = sum(end[which] for end in spot.weights) / 2  # set pos
    product = sum(np.einsum("asp,sa->sp", end[(slice(None), *which)], direction) for end in spot.products) / 2
    zero = sum(np.einsum("as,sa->s", end[:, query], direction) for end in spot.zero) / 2
    rest = sum(end[query] for end in spot.zero_weight) / 2
    found = (product.sum(1) + zero) / (weight.sum(1) + rest)
    return np.where(np.isfinite(found), found, guess)
