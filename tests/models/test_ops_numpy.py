"""Bends are exact, and quiet far out."""

import math

import numpy as np
import pytest

from glassformer.models.ops_numpy import NumpyOps


def test_gelu_is_the_exact_one():
    """At 1 it is the normal distribution function at 1; the tanh form would give 0.84119."""
    assert NumpyOps().gelu(np.array([1.0]))[0] == pytest.approx((1 + math.erf(math.sqrt(0.5))) / 2, abs=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bends_are_quiet_far_out(dtype):
    far = np.array([-1e4, 1e4], dtype)
    for bend in ("relu", "gelu", "silu"):
        np.testing.assert_allclose(getattr(NumpyOps(dtype), bend)(far), [0, 1e4])
