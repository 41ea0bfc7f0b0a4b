"""The entropy floor, against sums over every string of a tiny alphabet."""

from collections import Counter
from math import log

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import (
    Sequences,
    compute_entropy_floor,
    compute_position_floors,
    floor,
    make_rule,
    tabulate_automaton,
)

from .plain import histories

TINY = {
    "plus_last_even": {"high": 2},
    "plus_max_of_two": {"high": 1},
    "lucky7": {"low": 5, "high": 7},
    "step_back": {"high": 2, "trigger": 2, "k": 1},
    "copy_modulo": {"high": 2, "k": 2},
    "even_repeat_last_odd": {"high": 2},
    "odd_even_index": {"high": 2},
}


def joint_entropies(rule, data, context):
    """Entropy of the first 1, 2, ... tokens of a window, summed over all sequences and starts."""
    windows = Counter()
    for length in range(data.min_length, data.max_length + 1):
        starts = length - context
        for tokens, chance, _ in histories(rule, length):
            for start in range(starts):
                windows[tokens[start : start + context + 1]] += chance / starts
    total = data.max_length - data.min_length + 1
    entropies = []
    for size in range(1, context + 2):
        heads = Counter()
        for window, weight in windows.items():
            heads[window[:size]] += weight / total
        entropies.append(-sum(chance * log(chance) for chance in heads.values()))
    return np.array(entropies)


@pytest.mark.parametrize("name", TINY)
def test_floor_is_the_difference_of_joint_entropies(name):
    rule, data = make_rule(name, **TINY[name]), Sequences(1, 5, 7)
    expected = np.diff(joint_entropies(rule, data, context=4))
    np.testing.assert_allclose(
        compute_position_floors(tabulate_automaton(rule), data, 4), expected, atol=1e-9
    )


def test_known_floors():
    """By hand: after an odd ln 10, after an even ln 11; half of each; three free tokens in a period."""
    parity = tabulate_automaton(make_rule("odd_even_index"))
    data = Sequences(1, 20, 20)
    assert compute_entropy_floor(parity, data, 1) == pytest.approx(
        (10 * log(10) + 10 * log(11)) / 20, abs=0.01
    )
    assert compute_entropy_floor(tabulate_automaton(make_rule("successor")), data, 10) == 0
    assert compute_entropy_floor(
        tabulate_automaton(make_rule("even_greater_than_10")), data, 8
    ) == pytest.approx(log(10))


def test_the_floor_of_plus_last_even():
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    assert compute_entropy_floor(automaton, Sequences(2000, 20, 50), 8) == pytest.approx(1.836, abs=0.003)


def test_longer_contexts_lower_the_floor():
    automaton = tabulate_automaton(make_rule("plus_max_of_two"))
    by_position = compute_position_floors(automaton, Sequences(1, 100, 100), 12)
    assert (np.diff(by_position) < 1e-3).all()  # windows are nearly stationary, not quite


def test_too_many_beliefs(monkeypatch):
    monkeypatch.setattr(floor, "MOST_ENTRIES", 10)
    with pytest.raises(UserError, match="the entries of all beliefs must be at most 10"):
        compute_entropy_floor(tabulate_automaton(make_rule("lucky7")), Sequences(), 8)


def test_the_context_must_fit():
    with pytest.raises(UserError, match="the window must be between 1 and min_length = 20 tokens"):
        compute_entropy_floor(tabulate_automaton(make_rule("lucky7")), Sequences(), 20)
