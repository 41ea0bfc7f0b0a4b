import numpy as np
import pytest

from glassformer.proofs.contexts import NOTHING, tabulate_demands
from glassformer.tasks import make_rule, tabulate_automaton
from tests.proofs.every_context import TINY, all_contexts, demand_of


@pytest.mark.parametrize("name", TINY)
def test_demands_are_what_all_states_ask_for(name):
    automaton = tabulate_automaton(make_rule(name, **TINY[name]))
    demands, vocab = tabulate_demands(automaton), len(automaton.tokens)
    for length in (1, 3, 4):
        contexts = all_contexts(vocab, length)
        for whole in (False, True):
            for context, demand in zip(contexts, demands.of(contexts, whole), strict=True):
                expected = demand_of(automaton, context, whole)
                assert (expected is None) == (demand == NOTHING)
                assert expected is None or expected == set(np.flatnonzero(demands.allowed[demand]))


@pytest.mark.parametrize("name", ["plus_last_even", "parity_based", "even_abs_diff"])
@pytest.mark.parametrize("whole", [False, True])
def test_counts_are_those_of_all_contexts(name, whole):
    automaton = tabulate_automaton(make_rule(name, **TINY[name]))
    demands = tabulate_demands(automaton)
    asked = demands.of(all_contexts(len(automaton.tokens), 4), whole)
    assert demands.constrained(4, whole) == int((asked != NOTHING).sum())
    assert set(np.flatnonzero(demands.possible(4, whole)[4, 0])) == set(asked.tolist())


def test_counts_are_exact_where_floats_are_not():
    assert (
        tabulate_demands(tabulate_automaton(make_rule("copy_modulo"))).constrained(32, whole=True) == 21**32
    )


def test_rules_read_backwards_are_small():
    assert len(tabulate_demands(tabulate_automaton(make_rule("step_back"))).next) == 16
