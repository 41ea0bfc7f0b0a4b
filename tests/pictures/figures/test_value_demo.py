"""The sum of messages is the mean of what each alone would do."""

import numpy as np
import pytest

from glassformer.pictures.figures import (
    value_demo,
)
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.landscapes import CLOSE, by_hand


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", [0, 2])
def test_the_sum_is_the_mean_of_what_each_message_alone_would_do(name, index):
    subject = subject_of(name)
    data, found = value_demo.compute(subject, index), by_hand(subject, subject.sequences[index])
    carry = data["carry"]
    np.testing.assert_allclose(carry.weights, found["weights"], atol=2e-3)
    np.testing.assert_allclose(carry.messages, found["messages"], **CLOSE)
    for head in range(subject.heads):
        mean = found["weights"][head] @ data["states"][head]
        np.testing.assert_allclose(mean, found["z"], rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(data["probability"], found["chances"], atol=5e-3)
    assert next(iter(data["relevant"])) == found["chances"].argmax()
    plane = data["sums"]["plane"]
    np.testing.assert_allclose(plane.lift(plane(carry.mid)), carry.mid, atol=1e-6)  # z lies in the slice


def test_no_reason_is_given_twice():
    for why in value_demo.compute(subject_of("plus_last_even"))["relevant"].values():
        assert not ("predicted" in why and "number" in why)
