"""Norms by hand."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.norm import FlatNorm, NoNorm, RMSNorm, SpiralNorm
from glassformer.models.ops_numpy import NumpyOps

OPS = NumpyOps()
X = np.array([3.0, 4.0])[:, None, None]


@pytest.mark.parametrize(
    ("norm", "size", "constants"),
    [(NoNorm(), 0, 0), (RMSNorm(), 2, 1), (FlatNorm(), 0, 2), (SpiralNorm(), 0, 3)],
)
def test_counts(norm, size, constants):
    assert sum(parameter.size for parameter in norm.parameters("n", 2).values()) == size
    assert len(norm.list_constants(8)) == constants


def test_three_and_four():
    root = np.sqrt(12.5)
    gain = {"n.gain": np.array([1.0, 10.0])}
    np.testing.assert_allclose(RMSNorm(eps=0)(OPS, gain, "n", X)[:, 0, 0], [3 / root, 40 / root])
    np.testing.assert_allclose(FlatNorm(eps=0, factor=4.0)(OPS, {}, "n", X)[:, 0, 0], [12 / root, 16 / root])
    assert NoNorm()(OPS, {}, "n", X) is X


def test_eps_keeps_nothing_nothing():
    assert FlatNorm()(OPS, {}, "n", 0 * X).tolist() == [[[0]], [[0]]]


def test_spiral_gain():
    gain = SpiralNorm(amplitude=2.0, period=4.0).gain(OPS, {}, "n", 4)
    np.testing.assert_allclose(gain, [1, 3, 1, -1], atol=1e-15)


def test_a_boost_that_is_not_there():
    with pytest.raises(UserError, match=r"no parameter called 'position.zhi'; did you mean 'position.z_hi'"):
        SpiralNorm(boost="position.zhi").gain(OPS, {"position.z_hi": np.ones(3)}, "n", 5)
