"""What an attention layer can bring to a position, whatever the tokens of the context are.

This is all that is known of a layer that is not *the* mix of the tables: a range per position, token there,
head and dimension, over every context. A layer that reads nothing but marks has ranges a hair wide; one that
writes little, narrow ones.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from glassformer.models.bounded import BoundedArray, bound_range
from glassformer.models.float_format import FloatFormat
from glassformer.proofs.heads import HeadTable
from glassformer.proofs.means import maximise_mix

_ROUNDS = 5  # of guessing a largest mean
_VARIES = 1e-6  # share of the largest number by which a dimension may vary before tokens count as mixed
_SPARE = 1.25  # by which ranges that vary are widened: a checker with other enclosures needs room
_NEVER = 1e-200  # what our own slack may vary by
_CHUNK = 1 << 22  # numbers at a time

_Allowed = Bool[np.ndarray, "pos tok"]
_Tokens = Bool[np.ndarray, "query asked key tok"]


def enclose_mix(floats: FloatFormat, head: HeadTable, allowed: _Allowed) -> BoundedArray:
    """The head's mix at every position, for every token there, over all contexts, `dim query asked`.

    Where rounding can move a mix by more than tokens do, the deployed mix stands for the real one: both lie
    between the same ends, and no error is left.
    """
    tokens = _list_met_tokens(allowed)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        high, low = _maximise_queries(head, tokens, 1.0), -_maximise_queries(head, tokens, -1.0)
        is_deployed = (head.outside < head.error) & ~(head.error <= (high - low) / 2)
        outside = np.where(is_deployed, head.outside, 0.0)
        low, high = low - outside, high + outside
    is_known = np.isfinite(high) & np.isfinite(low)
    error = np.where(is_deployed, 0.0, head.error)
    found = bound_range(floats, np.where(is_known, low, 0.0), np.where(is_known, high, 0.0), error)
    is_wide = found.radius > _VARIES * found.size
    spare = np.where(is_wide, _SPARE, 1.0)
    return replace(found, radius=np.where(is_known, spare * found.radius, np.inf))


def is_varying(moved: BoundedArray, allowed: _Allowed) -> bool:
    """Whether what a layer writes, `dim pos tok`, depends on more than a position and its token."""
    reach, size = (np.where(allowed, part, 0.0).max((1, 2)) for part in (moved.reach, moved.size))
    return not bool((np.isfinite(size) & (reach <= _VARIES * size + _NEVER)).all())


def _list_met_tokens(allowed: _Allowed) -> _Tokens:
    """What a query meets: its own token at its own position; token 0, without weight, at later ones."""
    where, tokens = np.arange(len(allowed)), np.arange(allowed.shape[1])
    is_later = where[:, None, None] < where[:, None]  # query key 1
    met = np.where(is_later, tokens == 0, allowed)  # query key tok
    found = np.repeat(met[:, None], len(tokens), 1)
    query, asked = np.nonzero(allowed)
    found[query, asked, query] = tokens == asked[:, None]
    return found


def _maximise_queries(head: HeadTable, tokens: _Tokens, sign: float) -> Float[np.ndarray, "dim query asked"]:
    """Upper bounds of sign x mix, some positions at a time."""
    values, (count, asked) = head.values, tokens.shape[:2]
    step = max(_CHUNK // (tokens[0].size * len(values.centre)), 1)
    parts = []
    for some in (slice(first, first + step) for first in range(0, count, step)):
        low, high, rest = (part[some].reshape(-1, 1, *part.shape[2:]) for part in head.weights)
        sets = tokens[some].reshape(-1, 1, *tokens.shape[2:])
        nothing = np.zeros((1, len(values.centre)))
        centre, reach = sign * values.centre[None], values.reach[None]
        parts.append(maximise_mix(centre, reach, nothing, sets, low, high, rest, _ROUNDS))
    return np.concatenate(parts).T.reshape(-1, count, asked)
