"""Outputs of one message alone."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    frozen_output,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.landscapes import by_hand, chances, fold, nudged


@pytest.mark.parametrize("name", NAMES)
def test_frozen_outputs_are_those_of_one_message_alone(name):
    subject = subject_of(name)
    data, found = frozen_output.compute(subject), by_hand(subject, subject.sequences[0])
    random, count = np.random.default_rng(3), len(subject.sequences[0])
    for _ in range(8):
        head, token, place = (int(random.integers(n)) for n in (subject.heads, len(subject.tokens), count))
        swapped = subject.sequences[0].copy()
        swapped[place] = token
        # a message depends on its own token and place alone; only the last place's own would change the query
        message = by_hand(subject, swapped)["messages"][head, place]
        state = found["z"] - found["weights"][head] @ found["messages"][head] + message
        expected = chances(subject, fold(subject, state))
        np.testing.assert_allclose(
            data["probability"][head, token, place], expected[data["target"]].sum(), atol=1e-2
        )
        assert expected[data["winner"][head, token, place]] >= expected.max() - 1e-2


def test_frozen_outputs_follow_the_values():
    subject = subject_of("plus_last_even")
    before, after = (frozen_output.compute(one) for one in (subject, nudged(subject, "attn.v.weight")))
    assert np.abs(before["probability"] - after["probability"]).max() > 0.01


def test_runs_of_equal_cells():
    cells, single = np.array([[1, 1, 2], [3, 3, 3]]), np.array([[False] * 3, [False, True, False]])
    assert frozen_output.find_equal_runs(cells, single) == [
        (0, 0, 2),
        (0, 2, 3),
        (1, 0, 1),
        (1, 1, 2),
        (1, 2, 3),
    ]
