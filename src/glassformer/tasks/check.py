"""Which tokens of a sequence the rule constrains, and which of them are right.

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> automaton = tabulate_automaton(make_rule("plus_last_even"))
>>> tokens = automaton.ids("4 7 + 4 + 5")[:, None]      # one sequence, position first
>>> mark_constrained(automaton, tokens)[:, 0].tolist()
[False, False, False, True, False, True]
>>> mark_allowed(automaton, tokens)[:, 0].tolist()
[True, True, True, True, True, False]
"""

import numpy as np
from jaxtyping import Bool, Int, Int32

from glassformer.core.errors import require_value
from glassformer.tasks.automaton import Automaton


def follow_states(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"]
) -> Int32[np.ndarray, "pos+1 batch"]:
    """The state before each token and after the last: one row more than there are tokens."""
    _require_known(automaton, tokens)
    length, batch = tokens.shape
    states = np.empty((length + 1, batch), np.int32)
    states[0] = automaton.start
    for pos in range(length):
        states[pos + 1] = automaton.next[states[pos], tokens[pos]]
    return states


def mark_constrained(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"]
) -> Bool[np.ndarray, "pos batch"]:
    """True where the rule has a say in the token."""
    return automaton.constrained.take(follow_states(automaton, tokens)[:-1])


def mark_allowed(automaton: Automaton, tokens: Int[np.ndarray, "pos batch"]) -> Bool[np.ndarray, "pos batch"]:
    """True where the token is allowed; free positions are always right."""
    is_right: Bool[np.ndarray, "pos batch"] = automaton.allowed[follow_states(automaton, tokens)[:-1], tokens]
    return is_right


def _require_known(automaton: Automaton, tokens: Int[np.ndarray, "pos batch"]) -> None:
    """Token ids out of range would index the tables from the wrong end."""
    count = len(automaton.tokens)
    for token in (tokens.min(initial=0), tokens.max(initial=0)):
        require_value(0 <= token < count, "a token id", f"between 0 and {count - 1}", int(token))
