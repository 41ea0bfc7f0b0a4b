"""What a trial demands, and the words for it."""

import numpy as np
import pytest

from glassformer.pictures.measure.demand import describe_answer, find_source
from glassformer.pictures.parts.sequence_matrices import group_token_positions
from glassformer.proofs.contexts import find_window_demand, list_demands
from glassformer.tasks import make_rule, tabulate_automaton
from tests.pictures.conftest import NAMES, subject_of


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_a_trial_is_the_one_that_windows_tell(name: str) -> None:
    """The demand's reader, from the right, against `measure_source_distance`, by sets of states from the left."""
    subject = subject_of(name)
    trials = subject.trials
    for index in range(0, len(trials), max(1, len(trials) // 150)):
        context = trials.contexts[index]
        found = find_window_demand(subject.automaton, context, subject.context)
        assert found is not None
        np.testing.assert_array_equal(found, trials.allowed[index])
        source = find_source(subject.automaton, context, subject.context)
        assert source == trials.source[index]


def test_demands_of_beginnings_windows_and_free_places() -> None:
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    evens = [int(token) for token in automaton.tokens if token.isdigit() and int(token) % 2 == 0]
    beginning = list_demands(automaton, automaton.ids("1 + 4 7 +"), 8)
    assert [None if allowed is None else np.flatnonzero(allowed).tolist() for allowed in beginning] == [
        None, evens, None, None, [4],
    ]  # fmt: skip
    window = automaton.ids("1 3 5 7 9 1 3 +")  # the even number stands before it: undecided
    assert find_window_demand(automaton, window, 8) is None
    assert find_source(automaton, window, 8) is None
    broken = automaton.ids("4 1 + 5 3 1 7 +")  # 5 breaks the rule, and 4 is demanded all the same
    assert find_source(automaton, broken, 8) == 0


def test_words() -> None:
    assert group_token_positions(("4", "6", "4", "+", "+", "+", "+")) == {
        "4": "4 (p0, p2)",
        "6": "6 (p1)",
        "+": "+ (4 positions)",
    }
    tokens, share = ("0", "1", "2"), np.array([0.5, 0.3, 0.2])
    assert describe_answer(tokens, share, None).endswith("the rule leaves the next token open")
    assert (
        describe_answer(tokens, share, np.array([True, False, False]))
        == "the model gives 50% to 0, as the rule demands"
    )
    assert "80% to the 2 tokens" in describe_answer(tokens, share, np.array([True, True, False]))
    assert "but the rule demands 1 or 2 (50% together)" in describe_answer(
        tokens, share, np.array([False, True, True])
    )
