"""The landscape of values is the weights' product."""

import numpy as np

from glassformer.pictures.figures import (
    value_landscape,
)
from tests.pictures.conftest import subject_of
from tests.pictures.figures.landscapes import CLOSE, computed, weights


def test_every_value_lies_in_the_map_and_is_the_weights_product():
    subject = subject_of("even_repeat_last_odd")
    data, p = computed(value_landscape, "even_repeat_last_odd"), weights(subject)
    low, high = data["limits"].T
    assert ((data["messages"] > low) & (data["messages"] < high)).all()
    e = p["token.weight"][:, None] + p["position.weight"][None]
    out = p.get("attn.out.weight", np.eye(12))
    for head in range(2):
        own = slice(6 * head, 6 * head + 6)
        message = e @ p["attn.v.weight"][own].T @ out[:, own].T
        np.testing.assert_allclose(data["messages"][head], data["plane"](message), **CLOSE)
