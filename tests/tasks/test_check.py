"""Following a string through the tables."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import follow_states, make_rule, mark_allowed, mark_constrained, tabulate_automaton

AUTOMATON = tabulate_automaton(make_rule("plus_last_even"))


def test_a_mistake_is_counted_once_and_the_checker_goes_on():
    tokens = AUTOMATON.ids("4 + 6 + 6 + 5 + 6")[:, None]
    assert mark_allowed(AUTOMATON, tokens)[:, 0].tolist() == [1, 1, 0, 1, 1, 1, 0, 1, 1]


def test_batches_are_independent():
    tokens = np.stack([AUTOMATON.ids("4 7 + 4"), AUTOMATON.ids("3 + 8 +")], axis=1)
    both = mark_constrained(AUTOMATON, tokens)
    for batch in range(2):
        np.testing.assert_array_equal(both[:, batch], mark_constrained(AUTOMATON, tokens[:, [batch]])[:, 0])


def test_states_have_one_row_more_than_tokens():
    states = follow_states(AUTOMATON, AUTOMATON.ids("4 +")[:, None])
    assert [AUTOMATON.states[state] for state in states[:, 0]] == [(None, ""), (4, "number"), (4, "+")]


def test_nothing_to_check():
    assert mark_allowed(AUTOMATON, np.zeros((0, 3), np.int32)).shape == (0, 3)


@pytest.mark.parametrize("token", [-1, 12])
def test_token_ids_out_of_range(token):
    with pytest.raises(UserError, match=f"a token id must be between 0 and 11, but it is {token}"):
        mark_allowed(AUTOMATON, np.array([[token]]))
