"""What the tokens of a window reveal about the rule's state, when its beginning is not seen.

Knowledge is the set of states that fit the tokens read so far, starting from every state that can
occur. It is resolved when all its states ask for the same: then a perfect model needs no more.

In `4 7 + ?` the `?` is resolved by the last three tokens, since the 4 is among them; `7 +` alone
leaves every even number open:

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> automaton = tabulate_automaton(make_rule("plus_last_even"))
>>> measure_source_distance(automaton, automaton.ids("4 7 + 4")[:, None], reach=8)[:, 0].tolist()
[-1, 1, 1, 3]
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Int, Int8, Int32

from glassformer.core.errors import require_value
from glassformer.tasks import check
from glassformer.tasks.automaton import Automaton

MOST_KNOWLEDGE = 500_000  # sets of states; the largest built-in rule has 16,105
_UNRESOLVED = -1


class TokenSource(IntEnum):
    """Where the tokens stand that decide a constrained position."""

    FREE = 0  # not constrained, or the first of the sequence
    IN_WINDOW = 1  # the window resolves it
    OUTSIDE = 2  # only a longer suffix of the sequence does
    ABSENT = 3  # no suffix does: only the beginning of the sequence tells


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The automaton over sets of states; the last of them is empty: tokens that break the rule."""

    start: int
    next: Int32[np.ndarray, "know tok"]
    resolved: Bool[np.ndarray, " know"]


def measure_source_distance(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], reach: int
) -> Int32[np.ndarray, "pos batch"]:
    """How many of the last tokens resolve a position, at least; -1 where `reach` of them do not."""
    length, batch = tokens.shape
    if automaton.length:  # every token of a prompt counts, and where it stands
        return np.repeat(np.arange(length, dtype=np.int32)[:, None], batch, 1)
    table = tabulate_knowledge(automaton)
    distance = np.empty((length, batch), np.int32)
    known = np.full((1, batch), table.start, np.int32)  # row L: after the last L tokens
    for pos in range(length):
        resolved = table.resolved[known]  # L batch
        distance[pos] = np.where(resolved.any(axis=0), resolved.argmax(axis=0), _UNRESOLVED)
        known = np.concatenate([known[:1], table.next[known[:reach], tokens[pos]]])
    return distance


def classify_positions(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], window: int
) -> Int8[np.ndarray, "pos batch"]:
    """The `TokenSource` of each position, for a model that sees the last `window` tokens."""
    distance = measure_source_distance(automaton, tokens, reach=len(tokens))
    source = np.where(distance > window, TokenSource.OUTSIDE, TokenSource.IN_WINDOW)
    source[distance == _UNRESOLVED] = TokenSource.ABSENT
    source[~check.mark_constrained(automaton, tokens)] = TokenSource.FREE
    source[:1] = TokenSource.FREE
    return source.astype(np.int8)


@lru_cache(maxsize=16)
def tabulate_knowledge(automaton: Automaton) -> Knowledge:
    """All sets of states that some window reveals, by breadth-first search a level at a time."""
    sets = [list_window_starts(automaton)]
    index = {sets[0].tobytes(): 0}
    moves: list[tuple[int, int, int]] = []  # know tok know
    done = 0
    while done < len(sets):
        level, done = range(done, len(sets)), len(sets)
        for known, token, states in _read(automaton, sets, level):
            reached = index.setdefault(states.tobytes(), len(sets))
            if reached == len(sets):
                sets.append(states)
            moves.append((known, token, reached))
        require_value(
            len(sets) <= MOST_KNOWLEDGE, "the sets of states", f"at most {MOST_KNOWLEDGE}", len(sets)
        )
    return Knowledge(0, _following(moves, len(sets), len(automaton.tokens)), _resolved(automaton, sets))


def list_window_starts(automaton: Automaton) -> Int32[np.ndarray, " _"]:
    """The states, sorted, in which a window may begin: any, but for strings that it holds whole."""
    if automaton.length:
        return np.array([automaton.start], np.int32)
    return np.flatnonzero(mark_occurring_states(automaton)).astype(np.int32)


def mark_occurring_states(automaton: Automaton) -> Bool[np.ndarray, " state"]:
    """The states that sequences of the generator pass through, at any time."""
    seen = np.zeros(len(automaton.states), bool)
    new = np.array([automaton.start])
    while new.size:
        seen[new] = True
        reached = np.unique(automaton.next[new][automaton.probability[new] > 0])
        new = reached[~seen[reached]]
    return seen


def _read(
    automaton: Automaton, sets: list[Int32[np.ndarray, " _"]], level: range
) -> list[tuple[int, int, Int32[np.ndarray, " _"]]]:
    """For every set of the level and every token that fits it: (set, token, sorted states after it)."""
    tokens, states = len(automaton.tokens), len(automaton.states)
    members = np.concatenate([sets[known] for known in level])
    owners = np.repeat(np.array(level), [len(sets[known]) for known in level])
    entry, token = np.nonzero(automaton.probability[members] > 0)
    group = owners[entry] * tokens + token
    reached = automaton.next[members[entry], token]
    group, state = np.divmod(np.unique(group * states + reached), states)
    bounds = np.flatnonzero(np.diff(group, prepend=-1))
    known, token = np.divmod(group[bounds], tokens)
    parts = np.split(state.astype(np.int32), bounds[1:])
    return list(zip(known.tolist(), token.tolist(), parts, strict=True))


def _following(moves: list[tuple[int, int, int]], count: int, tokens: int) -> Int32[np.ndarray, "know tok"]:
    """Where each token leads; tokens that fit no state lead to the empty set, appended last."""
    following = np.full((count + 1, tokens), count, np.int32)
    known, token, reached = np.array(moves, np.int32).T
    following[known, token] = reached
    return following


def _resolved(automaton: Automaton, sets: list[Int32[np.ndarray, " _"]]) -> Bool[np.ndarray, " know"]:
    """True for sets whose states agree on being constrained and on what is allowed; never if empty."""
    rows = np.column_stack([automaton.constrained, automaton.allowed])
    demand = np.unique(rows, axis=0, return_inverse=True)[1].ravel()  # equal where the rows are
    members = demand[np.concatenate(sets)]
    bounds = np.cumsum([0, *(len(states) for states in sets[:-1])])
    lowest, highest = np.minimum.reduceat(members, bounds), np.maximum.reduceat(members, bounds)
    return np.append(lowest == highest, False)
