"""Contexts that the rule can produce, called lawful: which they are, and how many, exactly.

A full window is lawful if it is some stretch of a sequence, whatever came before it; a shorter context if it
begins one. Counting 0..9, `7 8 9` is lawful and `7 3 2` is not:

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> lawful = LawfulContexts(tabulate_automaton(make_rule("successor")), 3)
>>> lawful.contains(np.array([[7, 8, 9], [7, 3, 2]])).tolist(), lawful.count(3)
([True, False], 10)
"""

from functools import cached_property
from math import prod

import numpy as np
from jaxtyping import Bool, Integer

from glassformer.proofs.contexts import NOTHING, Demands
from glassformer.proofs.rule_nodes import Nodes
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.knowledge import tabulate_knowledge

_PRIMES = (2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549)  # below 2^31
_DEAR = 3e8  # sums beyond which nodes are not counted: some seconds


class LawfulContexts:
    """The rule's automaton over sets of states, which reads every lawful context and no other."""

    def __init__(self, automaton: Automaton, context: int) -> None:
        self.automaton, self.context = automaton, context

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """`set tok` to set, and the set of each beginning: those that the same tokens may follow are one.

        Before that there are the sets of windows, the last of them empty, and then one set per state.
        """
        known = tabulate_knowledge(self.automaton).next
        single = np.where(self.automaton.probability > 0, self.automaton.next + len(known), len(known) - 1)
        moves = np.concatenate([known, single])
        kind = (np.arange(len(moves)) != len(known) - 1).astype(np.int64)
        while True:
            keys, finer = np.unique(np.column_stack([kind, kind[moves]]), axis=0, return_inverse=True)
            if len(keys) == kind.max() + 1:
                break
            kind = np.ravel(finer)
        first = np.unique(kind, return_index=True)[1]
        begins = kind[[0, len(known) - 1, len(known) + self.automaton.start]]
        return kind[moves[first]], begins

    @property
    def moves(self) -> np.ndarray:
        return self.table[0]

    @property
    def empty(self) -> int:
        return int(self.table[1][1])

    def begin(self, length: int) -> int:
        """Before the first token."""
        return int(self.table[1][0 if length == self.context else 2])

    def contains(self, contexts: Integer[np.ndarray, "context pos"]) -> Bool[np.ndarray, " context"]:
        """Which contexts, all of one length, are lawful."""
        here = np.full(len(contexts), self.begin(contexts.shape[1]))
        for tokens in contexts.T:
            here = self.moves[here, tokens]
        found: np.ndarray = here != self.empty
        return found

    def count(self, length: int) -> int:
        """All lawful contexts of a length."""
        every = np.ones((length, self.moves.shape[1]), bool)
        return self.count_sets(every)

    def count_sets(self, sets: Bool[np.ndarray, "pos tok"]) -> int:
        """Those that hold any of the tokens at each position."""
        large = prod(sets.sum(1).tolist()) >= 2**62
        here, ways = np.array([self.begin(len(sets))]), np.array([1], object if large else np.int64)
        for tokens in sets:
            reached = self.moves[here][:, tokens]
            alive = reached != self.empty
            here, place = np.unique(reached[alive], return_inverse=True)
            further = np.zeros(len(here), ways.dtype)
            np.add.at(further, np.ravel(place), np.repeat(ways, alive.sum(1)))
            ways = further
        return int(ways.sum()) if len(ways) else 0

    def count_nodes(self, nodes: Nodes) -> list[int] | None:
        """The lawful contexts of each node; none where counting would take too long."""
        if float(len(nodes)) * self.context * self.moves.size > _DEAR:
            return None
        sets = zip(nodes.tokens, nodes.length.tolist(), strict=True)
        return [self.count_sets(tokens[:length]) for tokens, length in sets]

    def find_one(self, sets: Bool[np.ndarray, "pos tok"]) -> tuple[int, ...] | None:
        """The first lawful context that holds any of the tokens at each position."""
        goes_on, levels = np.arange(len(self.moves)) != self.empty, list[np.ndarray]()
        for tokens in sets[::-1]:
            levels.append(goes_on)
            goes_on = (goes_on[self.moves] & tokens).any(1)
            goes_on[self.empty] = False
        here, found = self.begin(len(sets)), list[int]()
        if not goes_on[here]:
            return None
        for tokens, after in zip(sets, levels[::-1], strict=True):
            found.append(int(np.flatnonzero(tokens & after[self.moves[here]])[0]))
            here = int(self.moves[here, found[-1]])
        return tuple(found)

    def count_constrained(self, demands: Demands) -> dict[int, int]:
        """By length: how many lawful contexts demand something."""
        bits = self.context * np.log2(self.moves.shape[1])
        primes = _PRIMES[: int(bits // 30) + 1]
        ways = np.zeros((len(primes), len(demands.next), len(self.moves)), np.int64)  # of what was read
        ways[:, 0] = 1
        ways[:, :, self.empty], found = 0, {}
        for length in range(1, self.context + 1):
            ways = self.read_one_more(ways, demands, np.array(primes)[:, None])
            asked = demands.ends(length == self.context) != NOTHING
            residues = ways[:, asked, self.begin(length)].sum(1) % primes
            found[length] = _join_residues(residues.tolist(), primes)
        return found

    def read_one_more(self, ways: np.ndarray, demands: Demands, primes: np.ndarray) -> np.ndarray:
        """`prime read set`, with one token more before what was read."""
        further, known = np.zeros_like(ways), np.flatnonzero(ways.any((0, 2))).tolist()
        for token in range(self.moves.shape[1]):
            alive = np.flatnonzero(self.moves[:, token] != self.empty)
            for read in known:
                further[:, demands.next[read, token], alive] += ways[:, read, self.moves[alive, token]]
        for read in range(further.shape[1]):
            further[:, read] %= primes
        return further


def _join_residues(residues: list[int], primes: tuple[int, ...]) -> int:
    """The smallest number with these remainders.

    >>> _join_residues([10**12 % 7919, 10**12 % 7907, 10**12 % 7901, 10**12 % 7883], (7919, 7907, 7901, 7883))
    1000000000000
    """
    found, modulus = 0, 1
    for residue, prime in zip(residues, primes, strict=True):
        found += modulus * ((residue - found) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return found
