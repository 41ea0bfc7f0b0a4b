"""The plain way to judge a rule model: every context through the model, one definition after the other."""

from itertools import product

import numpy as np

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.tasks import tabulate_automaton
from glassformer.tasks.automaton import compute_state_distribution
from glassformer.tasks.knowledge import mark_occurring_states

# Settings under which each rule has few tokens.
TINY = {
    "plus_last_even": {"high": 3},
    "plus_max_of_two": {"high": 3},
    "plus_means_even": {"high": 3},
    "lucky7": {"low": 4, "high": 8},
    "step_back": {"low": 6, "high": 9, "k": 1},
    "copy_modulo": {"high": 3, "k": 2},
    "successor": {"high": 4},
    "conditional_transform": {"high": 4},
    "lookup_permutation": {"high": 4},
    "odd_even_index": {"high": 3},
    "even_to_odd_transition": {"high": 3},
    "even_repeat_last_odd": {"high": 3},
    "even_abs_diff": {"high": 3},
    "parity_based": {"high": 3},
    "two_token_parity": {"low": 8, "high": 11},
    "even_greater_than_10": {"low": 8, "high": 12},
}


def drawn(rule, seed, scale=1.0, precision="float32", **shape):
    """The reference model with random numbers."""
    from dataclasses import replace

    random = np.random.default_rng(seed)
    architecture = replace(
        make_reference_architecture(vocab=len(rule.tokens()), **shape), precision=precision
    )
    numbers = {
        name: np.asarray(random.normal(0, scale, part.shape), precision)
        for name, part in list_parameters(architecture).items()
    }
    return Model(architecture, numbers)


def all_contexts(vocab, length):
    return np.array(list(product(range(vocab), repeat=length)))


def demand_of(automaton, context, whole):
    """The set of tokens that must come, or None, as the definition has it."""
    states = np.flatnonzero(mark_occurring_states(automaton)) if whole else np.array([automaton.start])
    for token in context:
        states = automaton.next[states, token]
    asked = {(bool(automaton.constrained[s]), tuple(np.flatnonzero(automaton.allowed[s]))) for s in states}
    if len(asked) > 1:
        return None
    constrained, allowed = asked.pop()
    return set(allowed) if constrained else None


def margins(model, rule, length):
    """Contexts of a length that demand something, with their margins by the model itself."""
    automaton, whole = tabulate_automaton(rule), length == model.architecture.context
    contexts = all_contexts(len(rule.tokens()), length)
    logits = model.logits(contexts.T, last=1)[:, 0].astype(np.float64)
    found = {}
    for context, row in zip(contexts.tolist(), logits.T, strict=True):
        allowed = demand_of(automaton, context, whole)
        if allowed is not None:
            others = [logit for token, logit in enumerate(row) if token not in allowed]
            found[tuple(context)] = max(row[token] for token in allowed) - max(others, default=-np.inf)
    return found


def chance(rule, data, context):
    """The chance of a window, by summing over the states before it."""
    automaton = tabulate_automaton(rule)
    starts = data.start_chances(len(context) + 1)
    total = 0.0
    for state, weight in enumerate(starts @ compute_state_distribution(automaton, len(starts))):
        for token in context:
            weight, state = weight * automaton.probability[state, token], automaton.next[state, token]
        total += weight
    return total
