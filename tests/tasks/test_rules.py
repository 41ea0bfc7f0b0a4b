"""Every rule against the oracle, on strings that follow it and on strings that do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks import list_rules, make_rule, mark_allowed, mark_constrained, tabulate_automaton

from . import oracle
from .plain import draw

RULES = sorted(list_rules())  # each needs its function in oracle.py


@pytest.mark.parametrize("name", RULES)
@given(noise=st.lists(st.integers(0, 10**6), min_size=1, max_size=14))
def test_the_checker_agrees_with_the_oracle_on_any_string(name, noise):
    rule = make_rule(name)
    automaton = tabulate_automaton(rule)
    tokens = np.array([number % len(rule.values()) for number in noise], np.int32)
    history = [rule.values()[token] for token in tokens]
    wanted = [getattr(oracle, name)(history[:i]) for i in range(len(history))]
    assert mark_constrained(automaton, tokens[:, None])[:, 0].tolist() == [w is not None for w in wanted]
    expected = [w is None or token in w for w, token in zip(wanted, history, strict=True)]
    assert mark_allowed(automaton, tokens[:, None])[:, 0].tolist() == expected


@pytest.mark.parametrize("name", RULES)
def test_sequences_of_the_generator_satisfy_the_oracle(name):
    rule = make_rule(name)
    tokens = draw(tabulate_automaton(rule), count=20, length=30)
    for one in tokens.T:
        history = [rule.values()[token] for token in one]
        wanted = [getattr(oracle, name)(history[:i]) for i in range(len(history))]
        assert all(w is None or token in w for w, token in zip(wanted, history, strict=True))


@pytest.mark.parametrize("name", RULES)
def test_changing_a_constrained_token_breaks_the_rule(name):
    automaton = tabulate_automaton(make_rule(name))
    tokens = draw(automaton, count=50, length=30)
    where = np.argwhere(mark_constrained(automaton, tokens))
    for pos, batch in where[:: max(1, len(where) // 40)]:
        state = automaton.start
        for token in tokens[:pos, batch]:
            state = automaton.next[state, token]
        changed = tokens[:, batch : batch + 1].copy()
        changed[pos] = np.flatnonzero(~automaton.allowed[state])[0]
        verdict = mark_allowed(automaton, changed)[:, 0]
        assert not verdict[pos]
        assert verdict[:pos].all()


@pytest.mark.parametrize(
    ("name", "text", "token", "chance"),
    [
        ("plus_last_even", "3", "+", 0.3),
        ("plus_last_even", "3", "4", 0.7 / 11),
        ("plus_last_even", "", "+", 0.0),
        ("plus_last_even", "3 +", "4", 1 / 6),
        ("plus_means_even", "3", "+", 0.25),
        ("lucky7", "", "7", 0.25 + 0.75 / 11),
        ("lucky7", "7", "7", 0.0),
        ("lucky7", "7", "3", 1 / 10),
        ("step_back", "1 2 3", "9", 0.4 + 0.6 / 11),
        ("step_back", "1 9", "1", 0.6 / 11),
        ("copy_modulo", "1 2", "7", 1 / 21),
        ("even_to_odd_transition", "2", "7", 1 / 10),
        ("even_repeat_last_odd", "2", "7", 1 / 21),
        ("two_token_parity", "1 2", "10", 1 / 11),
    ],
)
def test_chances_of_the_generator(name, text, token, chance):
    automaton = tabulate_automaton(make_rule(name))
    state = automaton.start
    for read in automaton.ids(text):
        state = automaton.next[state, read]
    assert automaton.probability[state, automaton.tokens.index(token)] == pytest.approx(chance)


def test_lucky7_can_be_drawn_plainly():
    rule = make_rule("lucky7", avoid_7_7=False)
    assert rule.choose(7).weights[7] == pytest.approx(0.25 + 0.75 / 11)


def test_values_leave_the_range_clamped():
    assert make_rule("even_abs_diff", low=5, high=9).choose((6, 8)).weights == {5: 1.0}
    assert make_rule("conditional_transform", low=4, high=9).image(6) == 4


def test_another_seed_gives_another_permutation():
    first, second = (make_rule("lookup_permutation", seed=seed) for seed in (1, 2))
    assert [first.image(x) for x in range(10)] != [second.image(x) for x in range(10)]
