"""The tables: total, normalised, cached, and honest about bad rules."""

from dataclasses import dataclass

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import Rule, automaton, free, list_rules, make_rule, only, tabulate_automaton, uniform


@pytest.mark.parametrize("name", sorted(list_rules()))
def test_tables_are_total_and_normalised(name):
    table = tabulate_automaton(make_rule(name))
    assert table.next.shape == table.probability.shape == (len(table.states), len(table.tokens))
    assert 0 <= table.next.min() <= table.next.max() < len(table.states)
    np.testing.assert_allclose(table.probability.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(table.allowed[~table.constrained], True)
    np.testing.assert_array_equal(table.allowed[table.constrained], table.probability[table.constrained] > 0)


def test_state_counts():
    assert len(tabulate_automaton(make_rule("plus_last_even")).states) == 1 + 2 * 7  # memory: an even or none
    assert len(tabulate_automaton(make_rule("step_back")).states) == 1 + 11 + 11**2 + 11**3 + 11**4
    assert len(tabulate_automaton(make_rule("copy_modulo")).states) == 1 + 21 + 21**2 + 21**3


def test_equal_rules_share_one_automaton():
    assert tabulate_automaton(make_rule("lucky7")) is tabulate_automaton(make_rule("lucky7"))


def test_text_and_ids_are_inverse():
    table = tabulate_automaton(make_rule("plus_last_even"))
    assert table.text(table.ids("4 7 + 4 10")) == "4 7 + 4 10"
    with pytest.raises(UserError, match="no token called '11'; did you mean '1'"):
        table.ids("4 11")


def test_state_distribution_by_hand():
    """Successor on {0, 1}: the start, then either token, for ever."""
    table = tabulate_automaton(make_rule("successor", high=1))
    assert automaton.compute_state_distribution(table, 3).tolist() == [
        [1, 0, 0],
        [0, 0.5, 0.5],
        [0, 0.5, 0.5],
    ]


@dataclass(frozen=True)
class Wayward(Rule):
    """A rule made wrong in the way that its first field says."""

    fault: str = "foreign"
    name = "wayward"

    def start(self):
        return 0

    def choose(self, state):
        choices = {"foreign": only([99]), "empty": only([]), "negative": free({0: -1.0, 1: 3.0})}
        return choices.get(self.fault, uniform([0]))

    def after(self, state, token):
        return state + 1 if self.fault == "endless" else 0


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("foreign", "rule wayward offers 99 in state 0, which is no token"),
        ("empty", "rule wayward must give weights of at least 0, not all 0, in state 0"),
        ("negative", "rule wayward must give weights of at least 0, not all 0, in state 0"),
        ("endless", "the number of states must be at most 1000, but it is 1001"),
    ],
)
def test_bad_rules_get_one_sentence(fault, sentence, monkeypatch):
    monkeypatch.setattr(automaton, "MOST_STATES", 1000)
    with pytest.raises(UserError) as error:
        tabulate_automaton(Wayward(fault=fault))
    assert str(error.value) == sentence
