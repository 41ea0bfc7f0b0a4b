"""Every change of an intervention, against plain NumPy on the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.measure import changes
from glassformer.pictures.measure.interventions import (
    collect_trial_weights,
    run_patch,
)
from tests.pictures.conftest import subject_of
from tests.pictures.measure.by_hand import logits_by_hand, weights_by_hand


@pytest.mark.parametrize("name", ["plus_last_even", "lucky7_no_resid", "step_back"])
def test_every_patch_by_hand(name):
    subject = subject_of(name)
    params, residual = subject.model.params, name != "lucky7_no_resid"
    table, places = (params[key].astype(np.float64) for key in ("token.weight", "position.weight"))
    for patch in changes.list_patches(subject):
        found = run_patch(subject, patch) if len(patch.which) else None
        for row in range(0, len(patch.which), 700):
            context, trial = patch.contexts[row], patch.which[row]
            source, old = subject.trials.source[trial], subject.trials.contexts[trial]
            e, weights, size = None, None, len(context)
            own = weights_by_hand(params, table[old] + places)
            if patch.name == "one code for all positions":
                e = table[context] + places.mean(0)
            elif patch.name == "attend to the source alone":
                weights = np.eye(size)[source]
            elif patch.name == "hide the source":
                weights = np.where(np.arange(size) == source, 0, own)
            elif patch.name == "hide the source and its copies":
                weights = np.where(old == old[source], 0, own)
            elif patch.name == "attend to all alike":
                weights = np.full(size, 1 / size)
            elif patch.name == "attend to another position":
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
    swap, control = changes.swap_source(subject), changes.swap_bystander(subject)
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
    patch = changes.borrow_attention(subject)
    assert len(patch.which) > 500
    assert (patch.marked != subject.trials.source[patch.which]).all()
    everyone = {row.tobytes() for row in collect_trial_weights(subject)[0]}
    assert all(row.tobytes() in everyone for row in patch.weights[0])
    assert (patch.weights[0].argmax(1) == patch.marked).mean() > 0.99  # this model looks at the source


def test_knocked_out_weights():
    weights = np.array([[[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]]])
    hidden = np.array([[True, False, False], [False, True, False]])
    expected = [[[0.0, 0.6, 0.4], [0.5, 0.0, 0.5]]]
    np.testing.assert_allclose(changes.knock_out_weights(weights, hidden), expected)
