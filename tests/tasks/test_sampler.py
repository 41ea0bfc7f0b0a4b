"""What is trained on and what is counted, against brute force over all states that a window leaves open."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import Addition, Rule, Sequences, make_rule, tabulate_automaton, to_numbers
from glassformer.tasks.board import HARMLESS, can_be_on_board, draw_board_pairs
from glassformer.tasks.hard import HARD, draw_hard_pairs
from glassformer.tasks.sampler import SumSampler, WindowSampler
from glassformer.training.streams import STREAMS, make_stream_key

TINY = {
    "plus_last_even": {"high": 3},
    "lucky7": {"low": 5, "high": 8},
    "copy_modulo": {"high": 2, "k": 2},
    "parity_based": {"high": 3},
    "successor": {"high": 4},
}
DATA = Sequences(40, 8, 12)
CONTEXT = 5


def demands(rule: Rule, window: list[int]) -> set:
    """What all states that fit the window ask of the next token; None where it is free."""
    states, new = set(), {rule.start()}
    while new:
        states |= new
        new = {rule.after(s, t) for s in new for t, w in rule.choose(s).weights.items() if w > 0} - states
    for token in window:
        states = {rule.after(s, token) for s in states if rule.choose(s).weights.get(token, 0) > 0}
    choices = [rule.choose(state) for state in states]
    return {frozenset(choice.weights) if choice.constrained else None for choice in choices}


@pytest.mark.parametrize("name", TINY)
def test_counted_are_the_constrained_places_that_the_window_resolves(name):
    rule = make_rule(name, **TINY[name])
    values = rule.values()
    held_out = WindowSampler(rule, DATA, CONTEXT).held_out(make_stream_key(0, "held_out"), 200)
    tokens, allowed, counted = map(np.asarray, held_out)
    assert (tokens.shape, counted.shape) == ((CONTEXT + 1, 200), (CONTEXT, 200))
    for place in range(CONTEXT):
        for which in range(200):
            window = [values[token] for token in tokens[: place + 1, which]]
            found = demands(rule, window)
            assert counted[place, which] == (len(found) == 1 and found != {None})
            if counted[place, which]:
                right = {values[token] for token in np.flatnonzero(allowed[:, place, which])}
                assert right == set(*found)
                assert values[tokens[place + 1, which]] in right
    assert 0 < counted.mean() <= 1


def test_draws_are_windows_of_rule_following_sequences():
    rule = make_rule("successor", high=6)
    source = WindowSampler(rule, DATA, CONTEXT)
    windows = np.asarray(
        source.draw(
            source.shared(make_stream_key(0, "pool")), make_stream_key(4, "steps"), jnp.arange(8, 11), 20
        )
    )
    assert windows.shape == (3, CONTEXT + 1, 20)
    assert ((windows[:, 1:] - windows[:, :-1]) % 7 == 1).all()


def test_every_use_and_seed_and_stretch_draws_something_else():
    keys = {
        tuple(jax.random.key_data(make_stream_key(seed, use)).tolist())
        for seed in range(3)
        for use in STREAMS
    }
    assert len(keys) == 3 * len(STREAMS)
    rule = make_rule("plus_last_even")
    source = WindowSampler(rule, Sequences(200, 20, 50), 8)
    shared = source.shared(jax.random.fold_in(make_stream_key(0, "pool"), 0))
    draws = [
        source.draw(shared, make_stream_key(seed, "steps"), jnp.array([step]), 64)[0]
        for seed in (0, 1)
        for step in (0, 500)
    ]
    held_out = source.held_out(make_stream_key(0, "held_out"), 64).tokens
    fresh = source.shared(jax.random.fold_in(make_stream_key(0, "fresh"), 0)).tokens[:9, :64]
    every = [np.asarray(part).tobytes() for part in (*draws, held_out, fresh)]
    assert len(set(every)) == len(every)


def test_new_stretches_bring_new_sequences():
    source = WindowSampler(make_rule("plus_last_even"), Sequences(50, 20, 50), 8)
    pools = [
        source.shared(jax.random.fold_in(make_stream_key(0, "pool"), first)).tokens for first in (0, 500)
    ]
    assert not np.array_equal(*pools)


@pytest.mark.parametrize("layout", ["lsb", "msb", "nanogpt", "lsb24"])
def test_addition_counts_exactly_the_digits_of_the_answer(layout):
    addition = Addition(digits=2, layout=layout)
    written, source = addition.written(), SumSampler(addition)
    tokens, allowed, counted = map(np.asarray, source.held_out(make_stream_key(0, "held_out"), 300))
    assert source.outputs == 3
    targets = np.arange(1, written.length)
    np.testing.assert_array_equal(counted.all(1), np.isin(targets, list(written.z_positions)))
    np.testing.assert_array_equal(counted.any(1), counted.all(1))
    np.testing.assert_array_equal(allowed.argmax(0), tokens[1:])
    assert (allowed.sum(0) == 1).all()
    x, y, z = (
        to_numbers(tokens[list(places)], 10)
        for places in (written.x_positions, written.y_positions, written.z_positions)
    )
    assert [a + b for a, b in zip(x, y, strict=True)] == z
    assert max(x) > 90  # full length, as after the curriculum


def test_held_out_sums_are_half_uniform_and_half_hard():
    source = SumSampler(Addition())
    places = [
        list(places)
        for places in (source.addition.written().x_positions, source.addition.written().y_positions)
    ]
    tokens = np.asarray(source.held_out(make_stream_key(3, "held_out"), 14_001).tokens)
    x, y = (tokens[place] for place in places)
    uniform, hard = (x[:, :7001], y[:, :7001]), (x[:, 7001:], y[:, 7001:])
    for part in uniform:
        np.testing.assert_allclose((part == 9).mean(1), 0.1, atol=0.02)
    nines, sums, special, *_ = (
        tuple(part[:, 1000 * i : 1000 * (i + 1)] for part in hard) for i in range(len(HARD))
    )
    taken_out = can_be_on_board(*(np.array([[digit]]) for digit in HARMLESS))  # what stands in is not flagged
    assert not taken_out.any()
    assert ((nines[0] == 9) | (nines[1] == 9)).any(0).mean() > 0.97
    assert np.isin(sums[0] + sums[1], (8, 9, 10)).all(0).mean() > 0.97
    assert np.isin(special, (0, 1, 8, 9)).all((0, 1)).mean() > 0.97


def test_held_out_sums_depend_on_the_key_alone():
    first, again, other = (
        np.asarray(SumSampler(Addition(digits=6)).held_out(make_stream_key(seed, "held_out"), 300).tokens)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(0)[:150].mean() > 0.9
    assert (first != other).any(0)[150:].mean() > 0.9


def test_nothing_that_is_trained_on_is_on_the_board():
    """Carry-heavy pairs would hit 0 + 0 and 0 + 1 many times in so many draws."""
    source, board = SumSampler(Addition()), set(draw_board_pairs())
    layout, steps = source.addition.written(), jnp.array([0, 1, 5_000, 10_000, 30_000])
    for tokens in np.asarray(source.draw((), make_stream_key(0, "steps"), steps, 20_000)):
        x, y = (
            to_numbers(tokens[list(layout.x_positions)], 10),
            to_numbers(tokens[list(layout.y_positions)], 10),
        )
        assert not board & set(zip(x, y, strict=True))


def test_no_held_out_sum_is_on_the_board():
    source, board = SumSampler(Addition()), set(draw_board_pairs())
    layout = source.addition.written()
    tokens = np.asarray(source.held_out(make_stream_key(0, "held_out"), 60_000).tokens)
    x, y = to_numbers(tokens[list(layout.x_positions)], 10), to_numbers(tokens[list(layout.y_positions)], 10)
    assert not board & set(zip(x, y, strict=True))
    hard = draw_hard_pairs(np.random.default_rng(0), 30_000, 10, 10)
    assert board & set(zip(*(to_numbers(part, 10) for part in hard), strict=True))  # they would be there


def test_addition_draws_problems_of_their_step():
    source = SumSampler(Addition(digits=4, digit_stages=((10, 1),)))
    places = list(source.addition.written().x_positions)
    early, late = (
        source.draw((), make_stream_key(0, "steps"), jnp.array([step]), 200)[0] for step in (9, 10)
    )
    assert max(to_numbers(np.asarray(early)[places], 10)) <= 9
    assert max(to_numbers(np.asarray(late)[places], 10)) > 1000


def test_sources_by_task():
    assert isinstance(make_rule("successor").sampler(DATA, 3), WindowSampler)
    assert isinstance(Addition().sampler(DATA, 33), SumSampler)
    assert Addition(layout="msb").sampler(DATA, 0).vocab == 14
    with pytest.raises(
        UserError, match="the window must be between 1 and min_length = 8 tokens, but it is 9"
    ):
        make_rule("successor").sampler(DATA, 8)


def test_counted_states_are_those_before_the_target():
    """The first target of a window is judged by the state after its first token."""
    rule = make_rule("successor", high=4)
    tokens, allowed, counted = map(
        np.asarray, WindowSampler(rule, DATA, 1).held_out(make_stream_key(0, "held_out"), 50)
    )
    assert counted.all()
    np.testing.assert_array_equal(allowed[:, 0].argmax(0), (tokens[0] + 1) % 5)
    assert tabulate_automaton(rule).tokens == ("0", "1", "2", "3", "4")
