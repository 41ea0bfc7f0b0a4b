"""The largest mean of values over independent tokens: what a head can mix at the most.

A mean sum w a / (c + sum w), with a token to choose at every position, is maximised as Dinkelbach has it:
guess the value, take at every position the token that makes w (a - guess) largest, and guess their ratio
next. It converges faster than any power; whatever the guess, guess + largest sum / smallest denominator is an
upper bound.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.models.float_format import LEAST, OWN
from glassformer.proofs.extremes import SUMS


def maximise_mix(
    centre: np.ndarray,
    radius: np.ndarray,
    nothing: np.ndarray,
    sets: Bool[np.ndarray, "node 1 pos tok"],
    low: np.ndarray,
    high: np.ndarray,
    rest: np.ndarray,
    rounds: int,
) -> Float[np.ndarray, "node axis"]:
    """Upper bounds of the mix of centre, give or take a radius; arrays are `node axis pos tok`."""
    value = centre + radius
    guess = np.broadcast_to(centre.mean((2, 3)), (len(sets), centre.shape[1]))
    for turn in range(rounds):
        moved = value - guess[:, :, None, None]
        moved = moved + OWN * (np.abs(value) + np.abs(guess[:, :, None, None]))
        terms = np.where(sets, np.where(moved > 0, high, low) * moved, -np.inf)
        if turn < rounds - 1:
            guess = _mix_chosen_tokens(
                terms.argmax(3)[..., None], centre, (low + high) / 2, rest, nothing, guess
            )
    found = _raise_guess(sets, low, high, rest, guess, terms, rest * (nothing - guess))
    return np.asarray(np.fmin(found, _find_largest_value(value, nothing, sets & (high > 0), rest)))


def _find_largest_value(
    value: np.ndarray, nothing: np.ndarray, there: np.ndarray, rest: np.ndarray
) -> np.ndarray:
    """The largest value of all, which no mean of them is above; rounded up."""
    found: np.ndarray = np.where(there, value, -np.inf).max((2, 3))
    found = np.where(rest > 0, np.maximum(found, nothing), found)
    found += SUMS * np.abs(found) + LEAST
    return found


def _mix_chosen_tokens(
    best: Int[np.ndarray, "node axis pos 1"],
    centre: np.ndarray,
    weights: np.ndarray,
    rest: np.ndarray,
    nothing: np.ndarray,
    guess: np.ndarray,
) -> Float[np.ndarray, "node axis"]:
    """The mix of the chosen tokens; the old guess where they have no weight."""
    shape = (*best.shape[:3], centre.shape[3])
    weight, along = (
        np.take_along_axis(np.broadcast_to(part, shape), best, 3)[..., 0] for part in (weights, centre)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        found = ((weight * along).sum(2) + rest * nothing) / (weight.sum(2) + rest)
    return np.where(np.isfinite(found), found, guess)


def _raise_guess(
    sets: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    rest: np.ndarray,
    guess: np.ndarray,
    terms: np.ndarray,
    extra: np.ndarray,
) -> Float[np.ndarray, "node axis"]:
    """guess + largest sum / smallest denominator (the largest where the sum is negative), rounded up."""
    best = terms.max(3)
    scale = np.abs(best).sum(2) + np.abs(extra)
    gain = best.sum(2) + extra + SUMS * scale
    least = np.where(sets, low, np.inf).min(3).sum(2) + rest
    most = np.where(sets, high, 0.0).max(3).sum(2) + rest
    with np.errstate(divide="ignore"):
        found: np.ndarray = guess + gain / np.where(gain > 0, least * (1 - SUMS), most * (1 + SUMS))
    found += OWN * (np.abs(found) + np.abs(guess)) + LEAST
    return found
