"""Interventions and fidelities against plain NumPy on the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.measure import changes
from glassformer.pictures.measure import rule_steps as fidelity
from glassformer.pictures.measure.interventions import (
    run_patch,
)
from tests.pictures.conftest import subject_of
from tests.pictures.measure.by_hand import copy_of, logits_by_hand, weights_by_hand


def shuffled(name):
    """The same numbers in other places."""
    random = np.random.default_rng(0)
    params = {
        key: random.permutation(array.ravel()).reshape(array.shape)
        for key, array in subject_of(name).model.params.items()
    }
    return copy_of(name, params)


def test_trained_models_follow_and_shuffled_ones_do_not():
    for name in ("plus_last_even", "step_back"):
        good, bad = subject_of(name), shuffled(name)
        for make in (changes.change_nothing, changes.swap_source, changes.focus_attention):
            assert run_patch(good, make(good)).after.low > 0.99
            assert run_patch(bad, make(bad)).after.high < 0.5
        assert run_patch(good, changes.hide_copies(good)).after.high < 0.3
        assert (
            fidelity.measure_retrieval(good).share.low
            > 0.99
            > 0.6
            > fidelity.measure_retrieval(bad).share.high
        )
        assert (
            fidelity.measure_decision(good).share.low > 0.99 > 0.5 > fidelity.measure_decision(bad).share.high
        )
        assert fidelity.measure_detection(good).share.low > 0.99 > fidelity.measure_detection(bad).share.value


def test_fidelities_by_a_second_way():
    subject = subject_of("plus_last_even")
    trials, params = subject.trials, subject.model.params
    pairs = params["token.weight"][:, None].astype(float) + params["position.weight"][None]
    hits = sum(
        np.linalg.norm(pairs[token, place] - pairs.mean(1), axis=1).argmin() == token
        for token in range(12)
        for place in range(8)
    )
    assert fidelity.measure_encoding(subject).token.value == pytest.approx(hits / 96)
    some = range(0, len(trials), 40)
    tops, own, right = [], [], []
    for trial in some:
        e = pairs[trials.contexts[trial], np.arange(8)]
        weights = weights_by_hand(params, e)
        own.append(weights[trials.source[trial]])
        tops.append(weights.argmax() == trials.source[trial])
        answer = logits_by_hand(params, trials.contexts[trial]).argmax()
        right.append(trials.allowed[trial, answer])
    assert fidelity.measure_retrieval(subject).share.value == pytest.approx(np.mean(tops), abs=0.05)
    assert fidelity.measure_retrieval(subject).weight == pytest.approx(np.mean(own), abs=0.02)
    assert fidelity.measure_decision(subject).share.value == pytest.approx(np.mean(right), abs=0.05)


def test_carry_by_a_second_way():
    subject = subject_of("plus_last_even")
    z, asked = subject.trial_traces["mid"][:, -1].astype(float), subject.trials.allowed.argmax(1)
    evens = range(0, 11, 2)
    means = np.stack([z[::2][asked[::2] == token].mean(0) for token in evens])
    guess = [evens[np.linalg.norm(state - means, axis=1).argmin()] for state in z[1::2]]
    assert fidelity.measure_carrying(subject).share.value == pytest.approx(np.mean(guess == asked[1::2]))


def test_free_contexts_are_free_and_told_apart():
    subject = subject_of("plus_last_even")
    contexts = fidelity.draw_free_contexts(subject)
    assert len(contexts) > 1000 and (contexts[:, -1] != 11).all()
    found = fidelity.measure_detection(subject)
    logits = subject.model.forward(contexts[:5], last=1)[:, 0].astype(float)
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(found.free[:5], -(shares * np.log(shares)).sum(1), rtol=1e-4)
    assert found.asked.max() < found.threshold < np.median(found.free)


@pytest.mark.parametrize("low", [[0.0, 1.0, 2.0], [0.0, 5.0]])
def test_best_threshold_makes_the_fewest_mistakes(low):
    high = [3.0, 4.0, 1.5]
    cut = fidelity.find_best_threshold(np.array(low), np.array(high))
    mistakes = [sum(x >= t for x in low) + sum(x < t for x in high) for t in np.arange(-1, 7, 0.25)]
    assert sum(x >= cut for x in low) + sum(x < cut for x in high) == min(mistakes)


def test_profile_by_hand():
    weights, source = np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0])
    np.testing.assert_allclose(fidelity.average_by_offset(weights, source), [0.25, (0.75 + 0.5) / 2, 0.5])
