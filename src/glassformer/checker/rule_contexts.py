"""What the contexts of a rule demand, which of them the rule can produce, and how many: all counted exactly.

A context of n tokens (a full window) demands something if every state that sequences pass through leads, by
its tokens, to states that are constrained and allow the same; a shorter one begins a sequence, so that the
start state alone is asked. A context is *lawful* if the rule can produce it: a full window anywhere in a
sequence, a shorter one at its beginning.

Demands are read from the last token to the first: what was read is a function from the state before it to
what is asked. Lawful contexts are read from the first token on: what was read leaves a set of states.
Counting 0..3, 2 3 0 is lawful; 1 3 0 demands 1 as well, but no sequence has it:

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> contexts = RuleContexts(tabulate_automaton(make_rule("successor", high=3)), 3)
>>> contexts.is_lawful(np.array([[2, 3, 0], [1, 3, 0]]).T).tolist()
[True, False]
>>> contexts.counts()[3]
ContextCounts(contexts=64, constrained=64, lawful=4, lawful_constrained=4)
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.knowledge import list_window_starts

_BITS = 28
_LIMB = 2.0**_BITS  # part of a large whole number: sums of 2^24 of them are exact in float64
_DEAD = -1  # the set that holds no state
_MOST_SETS = 200_000  # of states, and functions, beyond which a check takes too long
_MOST_CELLS = 400_000_000  # numbers of all counts together


@dataclass(frozen=True)
class ContextCounts:
    """How many contexts of one length there are."""

    contexts: int
    constrained: int  # that demand something
    lawful: int
    lawful_constrained: int


class RuleContexts:
    """The automaton of a rule, read both ways."""

    def __init__(self, automaton: Automaton, context: int) -> None:
        self.automaton, self.context, self.vocab = automaton, context, len(automaton.tokens)
        rows = [
            (bool(is_constrained), allowed.tobytes())
            for is_constrained, allowed in zip(automaton.constrained, automaton.allowed, strict=True)
        ]
        kinds = {row: number for number, row in enumerate(dict.fromkeys(row for row in rows if row[0]), 1)}
        self.asked = np.array([kinds.get(row, 0) for row in rows])  # state: 0 where nothing is demanded
        nothing = np.ones((1, self.vocab), bool)
        known = [np.frombuffer(row[1], bool)[None] for row in kinds]
        self.allowed = np.concatenate([nothing, *known])  # demand tok
        self.starts = list_window_starts(automaton)

    @cached_property
    def backwards(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Functions read from the end: `function tok` next, and each one's demand of windows, beginnings."""
        functions, names, moves = [self.asked], {self.asked.tobytes(): 0}, list[list[int]]()
        for function in functions:  # grows while it is read
            moves.append([])
            for reached in function[self.automaton.next].T:
                name = names.setdefault(np.ascontiguousarray(reached).tobytes(), len(functions))
                if name == len(functions):
                    functions.append(np.ascontiguousarray(reached))
                moves[-1].append(name)
            if len(functions) * len(self.asked) > _MOST_CELLS // 10:
                raise ClaimError("what the rule demands depends on too much to be checked")
        ends = np.stack(functions)
        seen = ends[:, self.starts]
        windows = np.where((seen == seen[:, :1]).all(1), seen[:, 0], 0)
        return np.array(moves), windows, ends[:, self.automaton.start]

    def demands(self, tokens: np.ndarray) -> np.ndarray:
        """The demand of each context `pos context`."""
        if len(tokens) < self.context or len(self.starts) == 1:  # one state to begin in: read from there
            state = np.full(
                tokens.shape[1], self.starts[0] if len(tokens) == self.context else self.automaton.start
            )
            for row in tokens:
                state = self.automaton.next[state, row]
            return np.asarray(self.asked[state])
        moves, *_ = self.backwards
        read = np.zeros(tokens.shape[1], np.int64)
        for row in tokens[::-1]:
            read = moves[read, row]
        return self.ends(len(tokens))[read]

    def ends(self, length: int) -> np.ndarray:
        """The demand that each function makes of contexts of a length."""
        _, windows, beginnings = self.backwards
        return windows if length == self.context else beginnings

    def demand_of(self, sets: np.ndarray) -> int:
        """The one demand of all contexts that hold any of `pos tok`; 0 where they differ or have none."""
        moves, *_ = self.backwards
        read = np.arange(len(moves)) == 0
        for row in sets[::-1]:
            reached = np.zeros(len(moves), bool)
            reached[moves[np.ix_(np.flatnonzero(read), np.flatnonzero(row))].ravel()] = True
            read = reached
        found = np.unique(self.ends(len(sets))[read])
        return int(found[0]) if len(found) == 1 else 0

    @cached_property
    def forwards(self) -> np.ndarray:
        """Sets of states that lawful contexts leave, `set tok`: first one set per state, then the others.

        The last set is that of all starts; _DEAD follows a token that the rule does not write there.
        """
        automaton, states = self.automaton, len(self.automaton.states)
        lawful = automaton.probability > 0
        single = np.where(lawful, automaton.next, _DEAD)
        names, several, moves = dict[bytes, int](), [self.starts], list[np.ndarray]()
        for members in several:  # grows while it is read
            row = np.full(self.vocab, _DEAD)
            for token in range(self.vocab):
                reached = np.unique(automaton.next[members[lawful[members, token]], token])
                if len(reached) == 1:
                    row[token] = reached[0]
                elif len(reached):
                    name = names.setdefault(reached.tobytes(), states + len(several))
                    row[token] = name
                    if name == states + len(several):
                        several.append(reached)
            moves.append(row)
            if len(several) > _MOST_SETS:
                raise ClaimError("the rule has too many lawful contexts to be told apart")
        return np.concatenate([single, np.stack(moves)])

    def begin(self, length: int) -> int:
        """The set before the first token: all starts of a window, or the start alone."""
        return len(self.automaton.states) if length == self.context else int(self.automaton.start)

    def is_lawful(self, tokens: np.ndarray) -> np.ndarray:
        """Of each context `pos context`, whether the rule can produce it."""
        here = np.full(tokens.shape[1], self.begin(len(tokens)))
        for row in tokens:
            here = np.where(here == _DEAD, _DEAD, self.forwards[here, row])
        return np.asarray(here != _DEAD)

    def list_lawful(self, length: int, most: int) -> np.ndarray:
        """All lawful contexts of a length, `pos context`."""
        tokens, here = np.zeros((0, 1), np.int32), np.array([self.begin(length)])
        for _ in range(length):
            which, token = np.nonzero(self.forwards[here] != _DEAD)
            if len(which) > most:
                raise ClaimError(f"there are more than {most:,} lawful contexts of length {length} to run")
            tokens = np.concatenate([tokens[:, which], token[None].astype(np.int32)])
            here = self.forwards[here[which], token]
        return tokens

    def count_lawful(self, sets: np.ndarray) -> int:
        """How many of the contexts that hold any of `pos tok` are lawful."""
        ways = {self.begin(len(sets)): 1}
        for row in sets:
            further = dict[int, int]()
            tokens = np.flatnonzero(row)
            for here, count in ways.items():
                for reached in self.forwards[here, tokens].tolist():
                    if reached != _DEAD:
                        further[reached] = further.get(reached, 0) + count
            ways = further
        return sum(ways.values())

    def counts(self) -> dict[int, ContextCounts]:
        """By length."""
        moves, sets = self.backwards[0], self.forwards
        if self.context * len(moves) * len(sets) > _MOST_CELLS:
            raise ClaimError("the rule has too many states for its contexts to be counted")
        ways = np.zeros((1, len(moves), len(sets)))  # limb function set: of what was read
        ways[0, 0] = 1
        plain, found = {0: 1}, {}
        for length in range(1, self.context + 1):
            ways, plain = _read_one_more(ways, moves, sets), _count_further(plain, moves)
            asked = self.ends(length) != 0
            here = ways[:, :, self.begin(length)]
            constrained = sum(count for function, count in plain.items() if asked[function])
            lawful = (_join_limbs(here), _join_limbs(here[:, asked]))
            found[length] = ContextCounts(self.vocab**length, constrained, *lawful)
        return found


def _read_one_more(ways: np.ndarray, moves: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """`limb function set`, with one token more before what was read."""
    found = np.zeros((len(ways) + 1, *ways.shape[1:]))
    known = np.flatnonzero(ways.any((0, 2)))
    for token in range(moves.shape[1]):
        alive = np.flatnonzero(sets[:, token] != _DEAD)
        for function in known.tolist():
            found[:-1, moves[function, token], alive] += ways[:, function, sets[alive, token]]
    for limb in range(len(ways)):
        carried = np.floor(found[limb] / _LIMB)
        found[limb] -= carried * _LIMB
        found[limb + 1] += carried
    return found if found[-1].any() else found[:-1]


def _count_further(ways: dict[int, int], moves: np.ndarray) -> dict[int, int]:
    """How many strings make each function, with one token more."""
    found = dict[int, int]()
    for function, count in ways.items():
        for reached in moves[function].tolist():
            found[reached] = found.get(reached, 0) + count
    return found


def _join_limbs(limbs: np.ndarray) -> int:
    """The sum of large whole numbers, `limb number`."""
    return sum(sum(map(int, row)) << (_BITS * limb) for limb, row in enumerate(limbs.tolist()))
