"""What JAX draws: accepted by the checker, distributed as the automaton says."""

import subprocess
import sys

import jax
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import (
    Sequences,
    compute_state_distribution,
    follow_states,
    list_rules,
    make_rule,
    mark_allowed,
    mark_constrained,
    tabulate_automaton,
)
from glassformer.tasks.sample import cut_windows, sample_pool, sample_sequences, sample_windows

SIGMAS = 5.5  # about 5,000 cells are compared; a fair sampler passes 5.5 sigmas once in 5,000 runs


@pytest.mark.parametrize("name", sorted(list_rules()))
def test_the_checker_accepts_what_the_sampler_makes(name):
    automaton = tabulate_automaton(make_rule(name))
    tokens, states = map(np.asarray, sample_sequences(automaton, jax.random.key(1), 200, 40))
    assert mark_allowed(automaton, tokens).all()
    np.testing.assert_array_equal(states, follow_states(automaton, tokens))


@pytest.mark.parametrize("name", sorted(list_rules()))
def test_marginals_by_position_are_those_of_the_automaton(name):
    automaton, count, length = tabulate_automaton(make_rule(name)), 20_000, 12
    tokens, _ = sample_sequences(automaton, jax.random.key(2), count, length)
    expected = compute_state_distribution(automaton, length) @ automaton.probability  # pos tok
    seen = (np.asarray(tokens)[:, :, None] == np.arange(len(automaton.tokens))).mean(axis=1)
    assert (seen[expected == 0] == 0).all()
    spread = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(seen - expected) <= SIGMAS * spread + 1 / count).all()


def test_lucky7_never_opens_with_two_sevens():
    plain = make_rule("lucky7", avoid_7_7=False)
    shares = []
    for rule in (make_rule("lucky7"), plain):
        tokens = np.asarray(sample_sequences(tabulate_automaton(rule), jax.random.key(3), 20_000, 2)[0])
        shares.append(float((tokens == 7).all(axis=0).mean()))
    assert shares[0] == 0
    assert shares[1] == pytest.approx((0.25 + 0.75 / 11) ** 2, abs=0.01)


def test_a_key_fixes_the_sequences():
    automaton = tabulate_automaton(make_rule("lucky7"))
    first, again, other = (sample_sequences(automaton, jax.random.key(k), 5, 20)[0] for k in (0, 0, 1))
    assert (first == again).all()
    assert not (first == other).all()


def test_pools_are_small_and_lengths_are_uniform():
    data = Sequences(count=9000, min_length=20, max_length=22)
    sequences = sample_pool(tabulate_automaton(make_rule("step_back")), jax.random.key(0), data)
    assert (sequences.tokens.dtype, sequences.states.dtype) == (np.int8, np.int16)
    shares = np.bincount(np.asarray(sequences.lengths), minlength=23)[20:] / 9000
    np.testing.assert_allclose(shares, 1 / 3, atol=0.03)


def test_windows_are_pieces_of_the_pool_with_their_states():
    automaton = tabulate_automaton(make_rule("plus_last_even"))
    sequences = sample_pool(automaton, jax.random.key(0), Sequences(50, 12, 16))
    tokens, states = jax.jit(cut_windows, static_argnums=(2, 3))(sequences, jax.random.key(1), (7, 30), 9)
    assert (tokens.shape, states.shape) == ((9, 7, 30), (10, 7, 30))
    tokens, states = np.asarray(tokens).astype(int), np.asarray(states)
    np.testing.assert_array_equal(automaton.next[states[:-1], tokens], states[1:])
    assert automaton.allowed[states[:-1], tokens].all()


def test_window_starts_are_distributed_as_sequences_says():
    """A window starts its sequence exactly where the first state is the start."""
    automaton = tabulate_automaton(make_rule("successor", high=40))
    data = Sequences(count=20_000, min_length=9, max_length=12)
    _, states = sample_windows(automaton, jax.random.key(0), 20_000, data, size=9)
    at_start = float((np.asarray(states)[0] == automaton.start).mean())
    assert at_start == pytest.approx(data.start_chances(9)[0], abs=0.02)


def test_constrained_positions_come_with_the_states():
    automaton = tabulate_automaton(make_rule("lucky7"))
    tokens, states = map(np.asarray, sample_sequences(automaton, jax.random.key(5), 30, 20))
    np.testing.assert_array_equal(automaton.constrained[states[:-1]], mark_constrained(automaton, tokens))


def test_sequences_say_what_is_wrong():
    for bad, sentence in [
        ({"count": 0}, "count must be at least 1, but it is 0"),
        ({"min_length": 0}, "min_length must be at least 1, but it is 0"),
        ({"max_length": 19}, "max_length must be at least min_length = 20, but it is 19"),
    ]:
        with pytest.raises(UserError) as error:
            Sequences(**bad)
        assert str(error.value) == sentence


def test_windows_must_fit():
    automaton = tabulate_automaton(make_rule("lucky7"))
    with pytest.raises(UserError, match="the window must be between 1 and min_length = 20 tokens"):
        sample_windows(automaton, jax.random.key(0), 1, Sequences(), size=21)
    with pytest.raises(UserError, match="the window must be between 1 and 50 tokens"):
        cut_windows(sample_pool(automaton, jax.random.key(0), Sequences()), jax.random.key(0), (1,), 51)


def test_importing_the_tasks_does_not_import_jax():
    code = "import sys, glassformer.tasks; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
