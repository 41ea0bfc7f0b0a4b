"""Schedules by their values; the optimiser against recurrences written out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.training.optimiser import grokfast, make_optimiser, make_rate_schedule
from glassformer.training.settings import TrainSettings


def rates(steps, **settings):
    rate = make_rate_schedule(TrainSettings(steps=100, warm_up=10, peak_rate=0.5, final_rate=0.1, **settings))
    return [float(rate(jnp.array(step))) for step in steps]


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
def test_warm_up_rises_in_a_line_to_the_peak(schedule):
    assert rates(range(10), schedule=schedule) == pytest.approx([0.05 * k for k in range(1, 11)])
    assert rates([10], schedule=schedule) == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("schedule", "middle", "last"),
    [("cosine", 0.5 * 0.55, 0.05), ("linear", 0.5 * 0.55, 0.05), ("constant", 0.5, 0.5)],
)
def test_the_fall_after_warm_up(schedule, middle, last):
    assert rates([55, 100, 1000], schedule=schedule) == pytest.approx([middle, last, last])


def test_cosine_is_flat_at_both_ends_and_linear_is_not():
    cosine, linear = (-np.diff(rates(range(10, 101), schedule=name)) for name in ("cosine", "linear"))
    assert cosine[0] < 0.1 * cosine[45] > cosine[-1]
    np.testing.assert_allclose(linear, 0.5 * 0.9 / 90, rtol=1e-3)


def test_no_warm_up_starts_at_the_peak():
    rate = make_rate_schedule(TrainSettings(steps=10, warm_up=0, peak_rate=0.5))
    assert float(rate(jnp.array(0))) == pytest.approx(0.5)


def test_warm_up_longer_than_the_run():
    rate = make_rate_schedule(TrainSettings(steps=5, warm_up=10, peak_rate=1.0))
    assert [float(rate(jnp.array(step))) for step in (0, 4)] == pytest.approx([0.1, 0.5])


def test_grokfast_is_its_recurrence():
    gradients = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    stage = grokfast(decay=0.9, gain=2.0)
    state, average = stage.init(jnp.zeros(3)), np.zeros(3)
    for gradient in gradients:
        given, state = stage.update(jnp.asarray(gradient), state)
        average = 0.9 * average + 0.1 * gradient
        np.testing.assert_allclose(given, gradient + 2.0 * average, rtol=1e-5)


def adamw_by_hand(train, start, gradients):
    """Clipping to norm `clip`, then Loshchilov and Hutter's AdamW, in float64."""
    vector, mean, square = np.array(start, float), np.zeros(len(start)), np.zeros(len(start))
    for step, gradient in enumerate(gradients, start=1):
        norm = np.linalg.norm(gradient)
        clipped = gradient * min(1, train.clip / norm) if train.clip else gradient
        mean = train.beta1 * mean + (1 - train.beta1) * clipped
        square = train.beta2 * square + (1 - train.beta2) * clipped**2
        unbiased = mean / (1 - train.beta1**step)
        direction = unbiased / (np.sqrt(square / (1 - train.beta2**step)) + 1e-8)
        rate = float(make_rate_schedule(train)(jnp.array(step - 1)))
        vector = vector - rate * (direction + train.weight_decay * vector)
    return vector


@pytest.mark.parametrize(("clip", "decay"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3)])
def test_the_optimiser_is_clipped_adamw(clip, decay):
    train = TrainSettings(steps=8, warm_up=3, peak_rate=0.1, clip=clip, weight_decay=decay, beta2=0.9)
    gradients = np.random.default_rng(1).normal(size=(8, 4)) * np.geomspace(0.01, 10, 8)[:, None]
    optimiser, vector = make_optimiser(train), jnp.array([1.0, -2.0, 3.0, 0.5])
    expected, state = adamw_by_hand(train, vector, gradients), optimiser.init(vector)
    for gradient in gradients:
        change, state = optimiser.update(jnp.asarray(gradient, jnp.float32), state, vector)
        vector = vector + change
    np.testing.assert_allclose(vector, expected, rtol=1e-5)


def test_clipping_bounds_what_adam_sees():
    """The second step shows it: a clipped giant weighs like a gradient of norm 1."""
    train = TrainSettings(warm_up=0, clip=1.0, schedule="constant")
    optimiser, vector = make_optimiser(train), jnp.zeros(2)

    def second_change(first):
        _, state = optimiser.update(jnp.array([first, 0.0]), optimiser.init(vector), vector)
        change, _ = optimiser.update(jnp.array([1.0, 0.0]), state, vector)
        return np.asarray(change)

    np.testing.assert_allclose(second_change(1e6), second_change(1.0), rtol=1e-6)
    assert np.abs(second_change(1e6) - second_change(0.1)).max() > 1e-4


def test_weight_decay_alone_shrinks_by_rate_times_decay():
    train = TrainSettings(warm_up=0, schedule="constant", peak_rate=0.1, weight_decay=0.5)
    optimiser, vector = make_optimiser(train), jnp.array([2.0, -4.0])
    state = optimiser.init(vector)
    for _ in range(3):
        change, state = optimiser.update(jnp.zeros(2), state, vector)
        vector = vector + change
    np.testing.assert_allclose(vector, np.array([2.0, -4.0]) * 0.95**3, rtol=1e-6)


def test_grokfast_comes_before_clipping():
    train = TrainSettings(
        warm_up=0, clip=1.0, grokfast_gain=4.0, grokfast_decay=0.5, schedule="constant", beta1=0.0
    )
    plain = TrainSettings(warm_up=0, clip=1.0, schedule="constant", beta1=0.0)
    gradients = [jnp.array([0.3, 0.0]), jnp.array([0.0, 0.3])]
    amplified = [np.array([0.3 + 4 * 0.15, 0.0]), np.array([4 * 0.075, 0.3 + 4 * 0.15])]

    def last_change(train, gradients):
        optimiser, vector = make_optimiser(train), jnp.zeros(2)
        state = optimiser.init(vector)
        for gradient in gradients:
            change, state = optimiser.update(jnp.asarray(gradient, jnp.float32), state, vector)
        return np.asarray(change)

    np.testing.assert_allclose(last_change(train, gradients), last_change(plain, amplified), rtol=1e-5)
