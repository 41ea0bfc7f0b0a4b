"""What windows reveal, against every history that a tiny alphabet allows."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import (
    TokenSource,
    classify_positions,
    knowledge,
    list_rules,
    make_rule,
    measure_source_distance,
    tabulate_automaton,
)

from .plain import draw, histories

TINY = {
    "plus_last_even": {"high": 2},
    "plus_max_of_two": {"high": 2},
    "lucky7": {"low": 5, "high": 7},
    "step_back": {"high": 2, "trigger": 2, "k": 1},
    "copy_modulo": {"high": 2, "k": 2},
    "even_repeat_last_odd": {"high": 3},
    "odd_even_index": {"high": 2},
    "parity_based": {"high": 2},
}
LONGEST = 6  # histories this long pass through every state of the tiny rules


def demands_after(rule, longest):
    """Window -> the demands that some history ending in that window makes on the next token."""
    demands = {}
    for length in range(longest + 1):
        for tokens, _, choice in histories(rule, length):
            demand = frozenset(choice.weights) if choice.constrained else None
            for size in range(min(length, 3) + 1):
                demands.setdefault(tokens[length - size :], set()).add(demand)
    return demands


@pytest.mark.parametrize("name", TINY)
def test_distance_against_all_histories(name):
    rule = make_rule(name, **TINY[name])
    automaton, demands = tabulate_automaton(rule), demands_after(rule, LONGEST)
    tokens = draw(automaton, count=60, length=12)
    distance = measure_source_distance(automaton, tokens, reach=3)
    for pos in range(12):
        for batch in range(60):
            before = tuple(rule.values()[token] for token in tokens[:pos, batch])
            sizes = [size for size in range(min(pos, 3) + 1) if len(demands[before[pos - size :]]) == 1]
            assert distance[pos, batch] == (sizes[0] if sizes else -1)


def test_plus_last_even_is_as_far_as_the_last_even():
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    tokens = automaton.ids("3 + 4 7 5 1 + 4 9 + 4 + 4")[:, None]
    distance = measure_source_distance(automaton, tokens, reach=12)[:, 0]
    assert [distance[pos] for pos in (2, 7, 10, 12)] == [-1, 5, 3, 2]


def test_sources_in_outside_and_absent():
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    tokens = automaton.ids("3 + 4 7 5 1 + 4")[:, None]
    free, absent, near, far = TokenSource.FREE, TokenSource.ABSENT, TokenSource.IN_WINDOW, TokenSource.OUTSIDE
    assert classify_positions(automaton, tokens, window=5)[:, 0].tolist() == [
        free,
        free,
        absent,
        *[free] * 4,
        near,
    ]
    assert classify_positions(automaton, tokens, window=4)[:, 0].tolist() == [
        free,
        free,
        absent,
        *[free] * 4,
        far,
    ]


@pytest.mark.parametrize(("name", "distance"), [("successor", 1), ("copy_modulo", 3), ("parity_based", 2)])
def test_fixed_distances(name, distance):
    automaton = tabulate_automaton(make_rule(name))
    tokens = draw(automaton, count=20, length=15)
    found = measure_source_distance(automaton, tokens, reach=15)
    assert (found[distance:] == distance).all()


@pytest.mark.parametrize("name", sorted(list_rules()))
def test_more_tokens_never_reveal_less(name):
    """Along rule-following tokens a resolved suffix stays resolved when it grows to the left."""
    automaton = tabulate_automaton(make_rule(name))
    tokens = draw(automaton, count=30, length=14)
    short, long = (measure_source_distance(automaton, tokens, reach) for reach in (4, 13))
    np.testing.assert_array_equal(short[short >= 0], long[short >= 0])
    assert (long[short < 0] != 0).all()


def test_a_broken_rule_reveals_nothing_across_the_break():
    automaton = tabulate_automaton(make_rule("copy_modulo", k=1))
    tokens = automaton.ids("1 1 2 2")[:, None]
    assert measure_source_distance(automaton, tokens, reach=4)[:, 0].tolist() == [-1, 1, 1, 1]
    table = knowledge.tabulate_knowledge(automaton)
    lost = table.next[table.next[table.start, 1], 2]
    assert lost == len(table.resolved) - 1
    assert not table.resolved[lost]


def test_too_many_sets(monkeypatch):
    monkeypatch.setattr(knowledge, "MOST_KNOWLEDGE", 5)
    with pytest.raises(UserError, match="the sets of states must be at most 5"):
        knowledge.tabulate_knowledge(tabulate_automaton(make_rule("successor", high=8)))
