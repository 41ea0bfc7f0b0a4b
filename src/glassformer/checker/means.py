"""The largest mean that a head can make of its values, each key holding whichever token lifts it most.

A mean of values v by weights w is at most g where the sum of w (v - g) is at most 0; where it is more, the
mean exceeds g by no more than that sum over the smallest sum of weights. So every guess g gives a bound, and
no guess has to be right.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.checker.rounding import TINY, UP, Bound

_GUESSES = 5  # each is the mean of the tokens that the one before has chosen


@dataclass(frozen=True, eq=False)
class WeightRanges:
    """Weights of keys by their tokens, for some queries, and of the zero vector, at least and at most."""

    least: Bound  # query key tok
    most: Bound
    zero: tuple[Bound, Bound]  # query
    least_total: Bound  # query: of all weights
    allowed: np.ndarray  # query key tok

    def bound_mean(self, value: Bound) -> Bound:
        """An upper bound of the mean of values, `key tok`, for each query."""
        top = np.where(self.allowed, value, -np.inf).max((1, 2))
        top = np.where(self.zero[1] > 0, np.maximum(top, 0.0), top)
        guess, found = np.full(len(top), float(value[self.allowed.any(0)].mean())), top
        for _ in range(_GUESSES):
            bound, guess = self.bound_by_guess(value, guess)
            found = np.fmin(found, bound)
        return np.asarray(found + (UP - 1) * np.abs(found) + TINY)

    def bound_by_guess(self, value: Bound, guess: Bound) -> tuple[Bound, Bound]:
        """The bound that a guess gives, and the mean of the tokens that it chooses."""
        moved = value - guess[:, None, None]  # query key tok
        weight = np.where(moved > 0, self.most, self.least)
        terms = np.where(self.allowed, weight * moved, -np.inf)
        best = terms.argmax(2)[..., None]
        term, heavy, worth = (
            np.take_along_axis(np.broadcast_to(part, terms.shape), best, 2)[..., 0]
            for part in (terms, weight, value)
        )
        zero = -guess * np.where(guess < 0, self.zero[1], self.zero[0])
        above = term.sum(1) + zero + (UP - 1) * (np.abs(term).sum(1) + np.abs(zero)) + TINY
        mean = (heavy * worth).sum(1) / (heavy.sum(1) + self.zero[0])
        return guess + np.maximum(above, 0.0) / self.least_total * UP, np.nan_to_num(mean)
