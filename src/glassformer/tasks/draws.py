"""Sequences that follow a rule, drawn with NumPy: for reading, where JAX is not to be loaded.

>>> from glassformer.tasks import make_rule, mark_allowed, tabulate_automaton
>>> automaton = tabulate_automaton(make_rule("plus_last_even"))
>>> tokens = draw_sequences(automaton, np.random.default_rng(0), count=3, length=20)
>>> tokens.shape, bool(mark_allowed(automaton, tokens).all())
((20, 3), True)
"""

import numpy as np
from jaxtyping import Int32

from glassformer.tasks.automaton import Automaton


def draw_sequences(
    automaton: Automaton, random: np.random.Generator, count: int, length: int
) -> Int32[np.ndarray, "pos batch"]:
    """`count` sequences of the generator, position first."""
    ends = automaton.probability.cumsum(axis=1)  # state tok
    last = len(automaton.tokens) - 1 - (automaton.probability > 0)[:, ::-1].argmax(axis=1)
    state = np.full(count, automaton.start)
    tokens = np.empty((length, count), np.int32)
    for pos in range(length):
        chance = random.random(count)[:, None]
        tokens[pos] = np.minimum((ends[state] <= chance).sum(axis=1), last[state])  # rounding: never behind
        state = automaton.next[state, tokens[pos]]
    return tokens
