"""The chain of messages ends at their sum."""

import numpy as np
import pytest

from glassformer.pictures.parts.message_sums import compute_carry
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.figures.sequences import CLOSE, nudged, raw_pass


@pytest.mark.parametrize("name", NAMES)
def test_the_chain_of_the_stream_ends_at_the_sum(name: str) -> None:
    subject = subject_of(name)
    raw, carry = raw_pass(subject, subject.sequences[0]), compute_carry(subject, 0)
    vertices = carry.chain(carry.kept)
    residual = subject.model.architecture.layers[0].residual
    np.testing.assert_allclose(vertices[0], raw["e"][-1] * residual, **CLOSE)
    np.testing.assert_allclose(vertices[-1], carry.mid, atol=1e-5)
    np.testing.assert_allclose(vertices[-1], raw["z"][-1], atol=3e-3)
    steps = np.diff(vertices, axis=0).reshape(*carry.weights.shape, -1)
    np.testing.assert_allclose(steps, raw["weights"][:, -1, :, None] * raw["messages"], atol=3e-3)
    other = compute_carry(nudged(subject, "attn.v.weight"), 0)
    assert np.abs(other.chain(other.kept)[-1] - vertices[-1]).max() > 1e-4
    np.testing.assert_allclose(other.chain(other.kept)[-1], other.mid, atol=1e-5)
