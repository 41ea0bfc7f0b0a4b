"""Plain NumPy and Python counterparts to test against."""

import numpy as np


def draw(automaton, count, length, seed=0):
    """Sequences of the generator, without JAX: pos batch."""
    random = np.random.default_rng(seed)
    state = np.full(count, automaton.start)
    tokens = np.empty((length, count), np.int32)
    for pos in range(length):
        chances = automaton.probability[state].cumsum(axis=1)
        tokens[pos] = (chances <= random.random(count)[:, None] * chances[:, -1:]).sum(axis=1)
        state = automaton.next[state, tokens[pos]]
    return tokens


def histories(rule, length):
    """Every string of this length that the generator can make: (tokens, chance, choice after it)."""
    strings = [((), 1.0, rule.start())]
    for _ in range(length):
        strings = [
            ((*tokens, token), chance * share, rule.after(state, token))
            for tokens, chance, state in strings
            for token, share in shares(rule.choose(state))
        ]
    return [(tokens, chance, rule.choose(state)) for tokens, chance, state in strings]


def shares(choice):
    """The tokens of a choice with their chances."""
    total = sum(choice.weights.values())
    return [(token, weight / total) for token, weight in choice.weights.items() if weight > 0]
