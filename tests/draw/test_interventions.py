"""Interventions and fidelities against plain NumPy on the raw weights."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.figures import algorithm, causal_tests
from glassformer.draw.measure import changes
from glassformer.draw.measure import rule_steps as fidelity
from glassformer.draw.measure.interventions import forward_with, outcome, own_weights
from glassformer.draw.measure.trials import Trials
from glassformer.draw.theme import THEMES
from tests.draw.conftest import NAMES, subject_of


def copy_of(name, params=None):
    """A subject of its own, whose cached arrays are not shared."""
    subject = subject_of(name)
    model = subject.model if params is None else replace(subject.model, params=params)
    return replace(subject, model=model)


def shuffled(name):
    """The same numbers in other places."""
    random = np.random.default_rng(0)
    params = {
        key: random.permutation(array.ravel()).reshape(array.shape)
        for key, array in subject_of(name).model.params.items()
    }
    return copy_of(name, params)


def weights_by_hand(params, e):
    """Attention of the last place of one context, one head, from e: `pos dim`."""
    q = e[-1] @ params["attn.q.weight"].T
    k = e @ params["attn.k.weight"].T
    scores = k @ q / np.sqrt(len(q))
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def logits_by_hand(params, context, weights=None, e=None, residual=True):
    """One context of a model with one head and no output projection."""
    p = {name: array.astype(np.float64) for name, array in params.items()}
    e = p["token.weight"][context] + p["position.weight"][: len(context)] if e is None else e
    weights = weights_by_hand(p, e) if weights is None else weights
    moved = weights @ (e @ p["attn.v.weight"].T)
    z = e[-1] + moved if residual else moved
    bent = np.maximum(p["ff.up.weight"] @ z + p["ff.up.bias"], 0)
    written = p["ff.down.weight"] @ bent + p["ff.down.bias"]
    h = z + written if residual else written
    return p["head.weight"] @ h + p["head.bias"]


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_without_a_change_is_the_models_own(name):
    subject = subject_of(name)
    contexts = subject.trials.contexts[:300]
    own = subject.model.forward(contexts, last=1)[:, 0]
    np.testing.assert_array_equal(forward_with(subject.model, contexts), own)
    put_back = forward_with(
        subject.model, contexts, own_weights(subject)[:, :300], subject.trial_traces["embedded"][:300]
    )
    np.testing.assert_allclose(put_back, own, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7_no_resid", "step_back"])
def test_every_patch_by_hand(name):
    subject = subject_of(name)
    params, residual = subject.model.params, name != "lucky7_no_resid"
    table, places = (params[key].astype(np.float64) for key in ("token.weight", "position.weight"))
    for patch in changes.all_patches(subject):
        found = outcome(subject, patch) if len(patch.which) else None
        for row in range(0, len(patch.which), 700):
            context, trial = patch.contexts[row], patch.which[row]
            source, old = subject.trials.source[trial], subject.trials.contexts[trial]
            e, weights, size = None, None, len(context)
            own = weights_by_hand(params, table[old] + places)
            if patch.name == "one code for all places":
                e = table[context] + places.mean(0)
            elif patch.name == "attend to the source alone":
                weights = np.eye(size)[source]
            elif patch.name == "hide the source":
                weights = np.where(np.arange(size) == source, 0, own)
            elif patch.name == "hide the source and its copies":
                weights = np.where(old == old[source], 0, own)
            elif patch.name == "attend to all alike":
                weights = np.full(size, 1 / size)
            elif patch.name == "attend to another place":
                weights = np.eye(size)[patch.marked[row]]
            elif patch.name == "attend as another trial does":
                weights = patch.weights[0, row].astype(np.float64)
            if weights is not None:
                weights = weights / weights.sum()
            logits = logits_by_hand(params, context, weights, e, residual)
            assert found.answers[row] == logits.argmax(), patch.name


def demanded_by_hand(context):
    """plus_last_even: after `+` (token 11) the last even number; none where there is no such thing."""
    if context[-1] != 11:
        return None
    evens = [token for token in context if token != 11 and token % 2 == 0]
    return evens[-1] if evens else None


def test_swaps_change_what_plus_last_even_asks_for():
    subject = subject_of("plus_last_even")
    swap, control = changes.swapped_source(subject), changes.swapped_bystander(subject)
    assert len(swap.which) > 1000 and len(control.which) > 1000
    for row in range(0, len(swap.which), 50):
        old, new = subject.trials.contexts[swap.which[row]], swap.contexts[row]
        assert np.flatnonzero(old != new).tolist() == [subject.trials.source[swap.which[row]]]
        assert demanded_by_hand(new) != demanded_by_hand(old)
        assert np.flatnonzero(swap.target[row]).tolist() == [demanded_by_hand(new)]
    for row in range(0, len(control.which), 50):
        old, new = subject.trials.contexts[control.which[row]], control.contexts[row]
        assert (old != new).sum() == 1 and demanded_by_hand(new) == demanded_by_hand(old)
        assert np.flatnonzero(control.target[row]).tolist() == [demanded_by_hand(old)]


def test_borrowed_attention_comes_from_a_trial_with_another_source():
    subject = subject_of("plus_last_even")
    patch = changes.attention_of_another(subject)
    assert len(patch.which) > 500
    assert (patch.marked != subject.trials.source[patch.which]).all()
    everyone = {row.tobytes() for row in own_weights(subject)[0]}
    assert all(row.tobytes() in everyone for row in patch.weights[0])
    assert (patch.weights[0].argmax(1) == patch.marked).mean() > 0.99  # this model looks at the source


def test_knocked_out_weights():
    weights = np.array([[[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]]])
    hidden = np.array([[True, False, False], [False, True, False]])
    expected = [[[0.0, 0.6, 0.4], [0.5, 0.0, 0.5]]]
    np.testing.assert_allclose(changes.knocked_out(weights, hidden), expected)


def test_trained_models_follow_and_shuffled_ones_do_not():
    for name in ("plus_last_even", "step_back"):
        good, bad = subject_of(name), shuffled(name)
        for make in (changes.unchanged, changes.swapped_source, changes.attention_on_source):
            assert outcome(good, make(good)).after.low > 0.99
            assert outcome(bad, make(bad)).after.high < 0.5
        assert outcome(good, changes.without_copies(good)).after.high < 0.3
        assert fidelity.retrieve(good).share.low > 0.99 > 0.6 > fidelity.retrieve(bad).share.high
        assert fidelity.decide(good).share.low > 0.99 > 0.5 > fidelity.decide(bad).share.high
        assert fidelity.detect(good).share.low > 0.99 > fidelity.detect(bad).share.value


def test_fidelities_by_a_second_way():
    subject = subject_of("plus_last_even")
    trials, params = subject.trials, subject.model.params
    pairs = params["token.weight"][:, None].astype(float) + params["position.weight"][None]
    hits = sum(
        np.linalg.norm(pairs[token, place] - pairs.mean(1), axis=1).argmin() == token
        for token in range(12)
        for place in range(8)
    )
    assert fidelity.encode(subject).token.value == pytest.approx(hits / 96)
    some = range(0, len(trials), 40)
    tops, own, right = [], [], []
    for trial in some:
        e = pairs[trials.contexts[trial], np.arange(8)]
        weights = weights_by_hand(params, e)
        own.append(weights[trials.source[trial]])
        tops.append(weights.argmax() == trials.source[trial])
        answer = logits_by_hand(params, trials.contexts[trial]).argmax()
        right.append(trials.allowed[trial, answer])
    assert fidelity.retrieve(subject).share.value == pytest.approx(np.mean(tops), abs=0.05)
    assert fidelity.retrieve(subject).weight == pytest.approx(np.mean(own), abs=0.02)
    assert fidelity.decide(subject).share.value == pytest.approx(np.mean(right), abs=0.05)


def test_carry_by_a_second_way():
    subject = subject_of("plus_last_even")
    z, asked = subject.trial_traces["mid"][:, -1].astype(float), subject.trials.allowed.argmax(1)
    evens = range(0, 11, 2)
    means = np.stack([z[::2][asked[::2] == token].mean(0) for token in evens])
    guess = [evens[np.linalg.norm(state - means, axis=1).argmin()] for state in z[1::2]]
    assert fidelity.carry(subject).share.value == pytest.approx(np.mean(guess == asked[1::2]))


def test_free_contexts_are_free_and_told_apart():
    subject = subject_of("plus_last_even")
    contexts = fidelity.free_contexts(subject)
    assert len(contexts) > 1000 and (contexts[:, -1] != 11).all()
    found = fidelity.detect(subject)
    logits = subject.model.forward(contexts[:5], last=1)[:, 0].astype(float)
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(found.free[:5], -(shares * np.log(shares)).sum(1), rtol=1e-4)
    assert found.asked.max() < found.threshold < np.median(found.free)


@pytest.mark.parametrize("low", [[0.0, 1.0, 2.0], [0.0, 5.0]])
def test_best_threshold_makes_the_fewest_mistakes(low):
    high = [3.0, 4.0, 1.5]
    cut = fidelity.best_threshold(np.array(low), np.array(high))
    mistakes = [sum(x >= t for x in low) + sum(x < t for x in high) for t in np.arange(-1, 7, 0.25)]
    assert sum(x >= cut for x in low) + sum(x < cut for x in high) == min(mistakes)


def test_profile_by_hand():
    weights, source = np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0])
    np.testing.assert_allclose(fidelity.by_offset(weights, source), [0.25, (0.75 + 0.5) / 2, 0.5])


def test_figures_of_a_rule_without_trials():
    subject = copy_of("plus_last_even")
    none = Trials(
        *(getattr(subject.trials, field)[:0] for field in ("contexts", "allowed", "source", "following"))
    )
    subject = copy_of("plus_last_even")
    subject.__dict__["trials"] = none
    for figure in (algorithm, causal_tests):
        data = figure.compute(subject)
        assert "no trials" in figure.title(data)
        figure.draw(data, THEMES["light"])
        assert figure.caption(data)


def test_numbers_of_the_figures_are_the_outcomes():
    subject = subject_of("plus_last_even")
    data = causal_tests.compute(subject)
    after = {test["name"]: test["after"].value for test in data["tests"]}
    assert after["swap the source"] == outcome(subject, changes.swapped_source(subject)).after.value
    assert f"{after['hide the source']:.1%}" in causal_tests.title(data)
    cards = {card.name: card.share for card in algorithm.compute(subject)["cards"]}
    assert list(cards) == ["encode", "detect", "retrieve", "carry", "decide"]
    assert cards["carry"] == fidelity.carry(subject).share
