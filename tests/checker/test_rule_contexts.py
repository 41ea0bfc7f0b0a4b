"""Demands and lawful contexts against their definitions, on every context of every rule."""

import numpy as np
import pytest

from glassformer.checker.rule_contexts import RuleContexts
from glassformer.tasks import make_rule, tabulate_automaton
from tests.proofs.every_context import TINY, all_contexts, demand_of

N = 3


def find_states(automaton, starts, context):
    states = {int(state) for state in starts}
    for token in context:
        states = {int(automaton.next[s, token]) for s in states if automaton.probability[s, token] > 0}
    return states


@pytest.mark.parametrize("name", TINY)
def test_every_context(name):
    automaton = tabulate_automaton(make_rule(name, **TINY[name]))
    found = RuleContexts(automaton, N)
    for length in (2, N):
        contexts = all_contexts(len(automaton.tokens), length)
        demands, lawful = found.demands(contexts.T), found.is_lawful(contexts.T)
        starts = found.starts if length == N else [automaton.start]
        for context, demand, is_lawful in zip(contexts.tolist(), demands, lawful, strict=True):
            wanted = demand_of(automaton, context, length == N)
            assert (set(np.flatnonzero(found.allowed[demand])) if demand else None) == wanted
            assert is_lawful == bool(find_states(automaton, starts, context))
        counts = found.counts()[length]
        assert (counts.contexts, counts.constrained) == (len(contexts), (demands > 0).sum())
        assert (counts.lawful, counts.lawful_constrained) == (lawful.sum(), (lawful & (demands > 0)).sum())
        assert {*map(tuple, found.list_lawful(length, 10**6).T)} == {*map(tuple, contexts[lawful])}


def test_sets_of_contexts():
    automaton = tabulate_automaton(make_rule("lucky7", low=4, high=8))
    found, random = RuleContexts(automaton, N), np.random.default_rng(0)
    contexts = all_contexts(len(automaton.tokens), N)
    demands, lawful = found.demands(contexts.T), found.is_lawful(contexts.T)
    for _ in range(50):
        sets = random.random((N, len(automaton.tokens))) < 0.5
        sets[np.arange(N), random.integers(0, len(automaton.tokens), N)] = True
        inside = sets[np.arange(N), contexts].all(1)
        asked = np.unique(demands[inside])
        assert found.demand_of(sets) == (asked[0] if len(asked) == 1 else 0)
        assert found.count_lawful(sets) == (lawful & inside).sum()
