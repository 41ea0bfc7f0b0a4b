"""What must come after a context, when all that is known of the past is the context itself.

A context of n tokens (a full window) is *decided* if all states that occur in generated sequences lead, by
its tokens, to states that ask for the same; the automaton's moves are total, so contexts that break the rule
inside count too. A shorter context is the beginning of a sequence: there the start state alone is asked. A
context that is decided and constrained *demands* one of some allowed tokens; all others demand nothing.

The tokens are read from the last to the first: what has been read then is a function from the state before
it to what is asked, and a rule has few such functions (`4 7 +` is known to demand 4 once the 4 was read,
whatever comes before it).

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> automaton = tabulate_automaton(make_rule("plus_last_even"))
>>> demands = tabulate_demands(automaton)
>>> asked = demands.of(automaton.ids("1 4 7 +")[None], whole=True)
>>> [automaton.tokens[token] for token in np.flatnonzero(demands.allowed[asked[0]])]
['4']
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Int32, Integer

from glassformer.proofs.tables import NotProvableError
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.knowledge import list_window_starts

NOTHING = 0  # the demand of contexts that are free or undecided
_MOST_ENTRIES = 40_000_000  # (function, state) pairs; the largest built-in rule needs about a million

Demand = Bool[np.ndarray, " tok"] | None  # the allowed tokens; none: the rule leaves the next token open


@dataclass(frozen=True, eq=False)
class Demands:
    """A machine that reads contexts backwards; its state 0 has read nothing."""

    allowed: Bool[np.ndarray, "demand tok"]  # row 0, of no demand, allows all
    next: Int32[np.ndarray, "read tok"]  # with one token more, further left
    window: Int32[np.ndarray, " read"]  # the demand of a full window that ends the reading here
    beginning: Int32[np.ndarray, " read"]  # the same for a sequence that begins here

    def ends(self, whole: bool) -> Int32[np.ndarray, " read"]:
        """Demands of full windows, or of beginnings."""
        return self.window if whole else self.beginning

    def of(self, contexts: Integer[np.ndarray, "context pos"], whole: bool) -> Int32[np.ndarray, " context"]:
        """The demand of each context, all of one length."""
        read = np.zeros(len(contexts), np.int32)
        for tokens in contexts.T[::-1]:
            read = self.next[read, tokens]
        return self.ends(whole)[read]

    def possible(self, length: int, whole: bool) -> Bool[np.ndarray, "left read demand"]:
        """Which demands can still come, by the number of tokens left to read."""
        found = np.zeros((length + 1, len(self.next), len(self.allowed)), bool)
        found[0, np.arange(len(self.next)), self.ends(whole)] = True
        for left in range(length):
            found[left + 1] = found[left][self.next].any(1)
        return found

    def constrained(self, length: int, whole: bool) -> int:
        """How many of all contexts of a length demand something, exactly."""
        ways = {0: 1}
        for _ in range(length):
            further: dict[int, int] = {}
            for read, count in ways.items():
                for reached in self.next[read].tolist():
                    further[reached] = further.get(reached, 0) + count
            ways = further
        asked = self.ends(whole)
        return sum(count for read, count in ways.items() if asked[read] != NOTHING)


@lru_cache(maxsize=16)
def tabulate_demands(automaton: Automaton) -> Demands:
    """All functions that some string of tokens makes, by breadth-first search."""
    asked, allowed = _tabulate_state_demands(automaton)
    functions, index, moves = [asked], {asked.tobytes(): 0}, []
    for function in functions:  # grows while it is read
        row = []
        for token in range(len(automaton.tokens)):
            reached = function[automaton.next[:, token]]
            row.append(index.setdefault(reached.tobytes(), len(functions)))
            if row[-1] == len(functions):
                functions.append(reached)
        moves.append(row)
        if len(functions) * len(asked) > _MOST_ENTRIES:
            raise NotProvableError(
                "not provable by this method, because what the rule asks for depends on too much"
            )
    every = np.stack(functions)
    seen = every[:, list_window_starts(automaton)]
    window = np.where((seen == seen[:, :1]).all(1), seen[:, 0], NOTHING)
    return Demands(
        allowed, np.array(moves, np.int32), window.astype(np.int32), every[:, automaton.start].copy()
    )


def _tabulate_state_demands(
    automaton: Automaton,
) -> tuple[Int32[np.ndarray, " state"], Bool[np.ndarray, "demand tok"]]:
    """The demand of each state, and what each demand allows; free states have demand 0."""
    rows = np.where(automaton.constrained[:, None], automaton.allowed, True)
    kinds, kind = np.unique(np.column_stack([automaton.constrained, rows]), axis=0, return_inverse=True)
    kind = np.ravel(kind)
    if automaton.constrained.all():  # no state is free: demand 0 is there all the same
        kinds, kind = np.concatenate([np.ones_like(kinds[:1]), kinds]), kind + 1
    return kind.astype(np.int32), kinds[:, 1:].astype(bool)


def find_window_demand(automaton: Automaton, context: Integer[np.ndarray, " pos"], size: int) -> Demand:
    """What must follow a context, whatever came before it; one shorter than `size` begins a sequence."""
    return list_demands(automaton, context, size)[-1] if len(context) else None


def list_demands(automaton: Automaton, context: Integer[np.ndarray, " pos"], size: int) -> list[Demand]:
    """What must follow each position of a context, as far as the tokens up to there tell."""
    if automaton.length:
        return _list_answer_demands(automaton, context)
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        return [None] * len(context)
    whole = len(context) == size
    asked = [int(demands.of(context[None, : position + 1], whole)[0]) for position in range(len(context))]
    return [None if demand == NOTHING else demands.allowed[demand] for demand in asked]


def _list_answer_demands(automaton: Automaton, prompt: Integer[np.ndarray, " pos"]) -> list[Demand]:
    """The same for a prompt, which begins at its first token: nothing but its answer is demanded."""
    found: list[Demand] = []
    state = automaton.start
    for token in prompt:
        state = int(automaton.next[state, token])
        found.append(automaton.allowed[state] if automaton.constrained[state] else None)
    return found
