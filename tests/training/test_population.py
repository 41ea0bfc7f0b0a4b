"""Populations: the same bits alone and among many, in one go and in stretches; and they learn."""

from dataclasses import replace
from functools import cache, partial

import jax
import numpy as np
import pytest

from glassformer.models.architecture import make_reference_architecture
from glassformer.tasks import Addition, Sequences, make_rule
from glassformer.training.objective import compute_window_loss
from glassformer.training.population import Population, TrainingState
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key
from tests.selection import each

MODEL = make_reference_architecture(vocab=12)
SOURCE = make_rule("plus_last_even").sampler(Sequences(200, 20, 50), 8)
TRAIN = TrainSettings(steps=40, evaluate_every=20, held_out=64, warm_up=10)


def rows_of(result, number):
    """One seed's part of a result, as bytes."""
    return [np.asarray(leaf)[number].tobytes() for leaf in jax.tree.leaves(result)]


@cache
def grown(seeds, threads):
    """Two stretches of 20 steps, everything that they leave behind."""
    population = Population(MODEL, SOURCE, replace(TRAIN, threads=threads), np.array(seeds))
    state = population.start()
    first = population.advance(state, 0, 20)
    return state, first, population.advance(first.state, 20, 20)


@pytest.mark.parametrize(
    ("seeds", "threads"),
    each(3, [(seeds, n) for n in (1, 2) for seeds in [(4,), (4, 5, 6), (3, 4, 5), (7, 4)]]),
)
def test_a_seed_has_the_same_bits_alone_and_among_many(seeds, threads):
    many = grown(tuple(range(2, 9)), 2)
    alone = grown(seeds, threads)
    for seed in seeds:
        assert rows_of(alone, seeds.index(seed)) == rows_of(many, seed - 2)


@pytest.mark.slow
def test_a_seed_has_the_same_bits_among_a_thousand():
    many = grown(tuple(range(1_000)), 2)
    for seed in (4, 999):
        assert rows_of(grown((seed,), 1), 0) == rows_of(many, seed)


def test_threads_do_not_change_the_bits():
    seeds = tuple(range(2, 9))
    for number in range(7):
        assert rows_of(grown(seeds, 1), number) == rows_of(grown(seeds, 2), number)


def test_seeds_differ():
    vectors = grown(tuple(range(2, 9)), 2)[2].state.vectors
    assert len({row.tobytes() for row in vectors}) == 7


def test_a_new_process_would_go_on_with_the_same_bits():
    """A population made anew continues from the stored numbers of another one."""
    _, first, second = grown((4,), 1)
    stored = jax.tree.map(
        lambda leaf: np.frombuffer(leaf.tobytes(), leaf.dtype).reshape(leaf.shape), first.state
    )
    again = Population(MODEL, SOURCE, TRAIN, np.array([4])).advance(TrainingState(*stored), 20, 20)
    assert rows_of(again, 0) == rows_of(second, 0)


def test_the_successor_is_learned():
    rule, data = make_rule("successor", high=6), Sequences(300, 12, 20)
    train = TrainSettings(seeds=1, steps=300, evaluate_every=300, held_out=512, warm_up=30)
    model = make_reference_architecture(vocab=7, width=4, head_size=4)
    population = Population(model, rule.sampler(data, 8), train, np.array([0]))
    start = population.start()
    stretch = population.advance(start, 0, 300)
    assert stretch.scores.argmax_accuracy[0] > 0.99
    assert stretch.scores.whole_accuracy[0] > 0.95
    assert stretch.scores.loss[0] < 0.05 < stretch.train_loss[0]


def test_polish_lowers_the_loss_of_its_batch():
    train = replace(TRAIN, polish_steps=5, polish_batch=256)
    population = Population(MODEL, SOURCE, train, np.array([4, 5]))
    state = grown((4, 5, 6), 1)[2].state
    state = jax.tree.map(lambda leaf: leaf[:2], state)
    polished = population.polished(state, np.array([0, 1]))
    tokens = SOURCE.held_out(make_stream_key(0, "polish"), 256).tokens
    goal = jax.jit(partial(compute_window_loss, MODEL, population.flat, tokens=tokens, outputs=8))
    for number in range(2):
        before, after = (float(goal(s.vectors[number])) for s in (state, polished.state))
        assert after < before - 0.005
        assert polished.train_loss[number] == pytest.approx(after, rel=1e-5)
    alone = population.polished(state, np.array([1]))
    np.testing.assert_array_equal(alone.state.vectors[0], polished.state.vectors[1])


@pytest.mark.slow
def test_addition_trains():
    addition = Addition(digits=2, digit_stages=(), carry_mix=0.0)
    length = addition.written().length
    model = make_reference_architecture(vocab=10, width=4, head_size=4, context=length - 1)
    train = TrainSettings(seeds=2, steps=20, evaluate_every=20, held_out=64, warm_up=5, batch=32)
    population = Population(model, addition.sampler(Sequences(), 0), train, np.arange(2))
    stretch = population.advance(population.start(), 0, 20)
    assert population.held_out.tokens.shape == (length, 64)
    assert np.isfinite(stretch.state.vectors).all()
    assert (stretch.scores.loss < 3.5).all()
    assert (stretch.scores.argmax_accuracy >= stretch.scores.whole_accuracy).all()
