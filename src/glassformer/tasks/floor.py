"""The least loss that any model can reach on windows of the data: the entropy floor, exactly.

A perfect model holds a belief: the chance of each state given the window's tokens. Before the
window it is the mixture over where windows start; each token turns it by Bayes' rule. Windows that
lead to the same belief are merged, so the sum over all windows stays small.

Counting 0..9 leaves nothing to guess once a token was read:

>>> from glassformer.tasks import Sequences, make_rule, tabulate_automaton
>>> compute_entropy_floor(tabulate_automaton(make_rule("successor")), Sequences(1500, 12, 20), context=10)
0.0
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt64

from glassformer.core.errors import require_value
from glassformer.tasks.automaton import Automaton, compute_state_distribution
from glassformer.tasks.sequences import Sequences

MOST_ENTRIES = 5_000_000  # (belief, state) pairs; the largest built-in rule needs 161,051
MOST_IN_ALL = 30_000_000  # the same, of all positions together: about ten seconds
_QUANTUM = 1e-10  # beliefs equal to this are merged; that moves the floor by less than 1e-8 nats


class _Beliefs(NamedTuple):
    """Beliefs as (belief, state, weight) entries sorted by belief, and the chance of each belief."""

    belief: Int[np.ndarray, " entry"]
    state: Int[np.ndarray, " entry"]
    weight: Float[np.ndarray, " entry"]  # of the state; sums to 1 in each belief
    mass: Float[np.ndarray, " belief"]  # of the belief; sums to 1


def compute_entropy_floor(automaton: Automaton, data: Sequences, context: int) -> float:
    """Mean over positions p < context of the entropy, in nats, of token p + 1 given tokens 0..p.

    Windows hold context + 1 tokens and start as those of `sample.cut_windows` do. A rule whose beliefs grow
    past MOST_ENTRIES raises a UserError.
    """
    return float(compute_position_floors(automaton, data, context).mean())


def compute_position_floors(automaton: Automaton, data: Sequences, context: int) -> Float[np.ndarray, " pos"]:
    """The entropy, in nats, of the token after each position of the window, given all up to it."""
    beliefs, read = _prior(automaton, data, context), 0
    floor = np.empty(context)
    for pos in range(context):
        beliefs = _merge(_read(automaton, beliefs), len(automaton.states))
        read += len(beliefs.state)
        require_value(read <= MOST_IN_ALL, "the entries of all positions", f"at most {MOST_IN_ALL}", read)
        floor[pos] = beliefs.mass @ _entropy(automaton, beliefs)
    return floor


def _prior(automaton: Automaton, data: Sequences, context: int) -> _Beliefs:
    """One belief: the state before a window whose start is not known."""
    starts = data.start_chances(context + 1)
    chance = starts @ compute_state_distribution(automaton, len(starts))  # state
    state = np.flatnonzero(chance)
    return _Beliefs(np.zeros_like(state), state, chance[state], np.ones(1))


def _read(automaton: Automaton, beliefs: _Beliefs) -> _Beliefs:
    """The belief after each possible next token, by Bayes' rule."""
    tokens, states = len(automaton.tokens), len(automaton.states)
    joint = beliefs.weight[:, None] * automaton.probability[beliefs.state]  # entry tok
    entry, token = np.nonzero(joint)
    require_value(
        len(entry) <= MOST_ENTRIES, "the entries of all beliefs", f"at most {MOST_ENTRIES}", len(entry)
    )
    group = beliefs.belief[entry] * tokens + token
    reached = automaton.next[beliefs.state[entry], token]
    place, same = np.unique(group * states + reached, return_inverse=True)
    weight = np.bincount(same, joint[entry, token])
    group, state = np.divmod(place, states)
    kept, belief = np.unique(group, return_inverse=True)
    total = np.bincount(belief, weight)
    return _Beliefs(belief, state, weight / total[belief], beliefs.mass[kept // tokens] * total)


def _merge(beliefs: _Beliefs, states: int) -> _Beliefs:
    """Beliefs with the same weights become one, with their masses added."""
    name = _fingerprints(beliefs, states)
    _, first, same = np.unique(name, return_index=True, return_inverse=True)
    mass = np.bincount(same, beliefs.mass)
    number = np.full(len(name), -1)
    number[first] = np.arange(len(first))
    belief = number[beliefs.belief]
    kept = np.flatnonzero(belief >= 0)
    kept = kept[np.argsort(belief[kept], kind="stable")]
    return _Beliefs(belief[kept], beliefs.state[kept], beliefs.weight[kept], mass)


def _fingerprints(beliefs: _Beliefs, states: int) -> UInt64[np.ndarray, " belief"]:
    """A 64-bit number per belief: equal beliefs share it, others by a chance of 2^-64 per pair."""
    random = np.random.default_rng(0).integers(0, 2**64, states, np.uint64)
    quanta = np.rint(beliefs.weight / _QUANTUM).astype(np.uint64)
    bounds = np.flatnonzero(np.diff(beliefs.belief, prepend=-1))
    return np.add.reduceat(quanta * random[beliefs.state], bounds)


def _entropy(automaton: Automaton, beliefs: _Beliefs) -> Float[np.ndarray, " belief"]:
    """The entropy of the next token under each belief, in nats."""
    joint = beliefs.weight[:, None] * automaton.probability[beliefs.state]  # entry tok
    bounds = np.flatnonzero(np.diff(beliefs.belief, prepend=-1))
    chance = np.add.reduceat(joint, bounds)  # belief tok
    logarithm = np.log(chance, out=np.zeros_like(chance), where=chance > 0)
    entropy: Float[np.ndarray, " belief"] = np.abs((chance * logarithm).sum(axis=1))
    return entropy
