"""Figures 07, 11, 15, 16 to 18 and S6, against the forward pass written out here from the raw weights."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    output_landscape,
    value_landscape,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.landscapes import CLOSE, by_hand, chances, computed, fold

NEAR_BORDER = 1  # pixels


@pytest.mark.parametrize("module", [output_landscape, value_landscape])
@pytest.mark.parametrize("name", ["plus_last_even", "lucky7", "even_to_odd_transition"])
def test_points_of_narrow_models_sit_on_their_own_colour(module, name):
    subject = subject_of(name)
    data = computed(module, name)
    low, high = data["limits"].T
    for kind, predicted in (("points", "predicted"), ("others", "others_predicted")):
        assert ((data[kind] > low) & (data[kind] < high)).all()
        states = data["plane"].lift(data[kind])
        final = states if module is output_landscape else fold(subject, states)
        assert (chances(subject, final).argmax(-1) == data[predicted]).mean() > 0.99  # single precision
    cells = np.floor((data["points"] - low) / (high - low) * len(data["winner"])).astype(int)
    for (column, row), own in zip(cells, data["predicted"], strict=True):
        rows, columns = (slice(max(0, at - NEAR_BORDER), at + NEAR_BORDER + 1) for at in (row, column))
        assert own in data["winner"][rows, columns]
    assert data["agreeing"] >= 0.98 * len(data["points"])  # those on a border may differ by a pixel


@pytest.mark.parametrize("name", NAMES)
def test_the_points_of_a_landscape_are_what_real_contexts_come_to(name):
    subject = subject_of(name)
    final, middle = computed(output_landscape, name), computed(value_landscape, name)
    chosen = np.unique(np.linspace(0, len(subject.trials) - 1, 400).astype(int))
    for index in (0, 17, 399):
        tokens = subject.trials.contexts[chosen[index]]
        found = by_hand(subject, tokens)
        spot = final["plane"](found["h"], subject.context - 1.0)
        np.testing.assert_allclose(final["points"][index], spot, rtol=1e-2, atol=2e-2)
        spot = middle["plane"](found["z"], subject.context - 1.0)
        np.testing.assert_allclose(middle["points"][index], spot, **CLOSE)
        assert final["predicted"][index] == found["chances"].argmax()
    answers = subject.trial_traces["logits"][:, -1].argmax(-1)
    assert final["right"] == sum(map(bool, subject.trials.allowed[np.arange(len(answers)), answers]))
    assert set(final["predicted"]) <= set(final["answers"]) <= set(final["maps"])


def test_a_slice_says_how_many_points_it_is_true_for():
    subject = subject_of("even_repeat_last_odd")
    data = computed(output_landscape, "even_repeat_last_odd")
    lifted = chances(subject, data["plane"].lift(data["points"])).argmax(-1)
    same = int((lifted == data["predicted"]).sum())
    assert abs(same - data["agreeing"]) <= 0.03 * len(lifted)  # pixels on a border
    assert 0 < data["agreeing"] < len(lifted)
    assert f"{data['agreeing']} of the {len(lifted)}" in data["remark"] + output_landscape.caption(data)
