"""The feed-forward layer by hand."""

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import ignore_record
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import FullProjection


@pytest.mark.parametrize(
    ("feedforward", "size"),
    [
        (FeedForward(), 162),  # width 2: 32 x 2 + 32 up, 2 x 32 + 2 down
        (FeedForward(hidden=2, up=FullProjection(), down=FullProjection()), 8),
        (FeedForward(hidden=2, gate=FullProjection(), up=FullProjection(), down=FullProjection()), 12),
    ],
)
def test_counts(feedforward, size):
    assert sum(parameter.size for parameter in feedforward.parameters("ff", 2).values()) == size


def run(feedforward, x, **weights):
    params = {f"ff.{key}.weight": np.array(value, float) for key, value in weights.items()}
    return feedforward(NumpyOps(), params, "ff", np.array(x, float)[:, None, None], ignore_record)[:, 0, 0]


def test_two_hinges_make_a_distance():
    """ReLU(x) + ReLU(-x) = |x|."""
    plain = FeedForward(hidden=2, up=FullProjection(), down=FullProjection())
    assert run(plain, [-3], up=[[1], [-1]], down=[[1, 1]]).tolist() == [3]


def test_a_gate_opens_for_positive_inputs():
    gated = FeedForward(hidden=1, gate=FullProjection(), up=FullProjection(), down=FullProjection())
    weights = {"gate": [[1, 0]], "up": [[0, 1]], "down": [[1], [0]]}
    assert run(gated, [2, 5], **weights).tolist() == [10, 0]
    assert run(gated, [-2, 5], **weights).tolist() == [0, 0]


def test_swiglu_by_hand():
    gated = FeedForward(
        hidden=1, bend="silu", gate=FullProjection(), up=FullProjection(), down=FullProjection()
    )
    silu = 2 / (1 + np.exp(-2))
    np.testing.assert_allclose(run(gated, [2], gate=[[1]], up=[[3]], down=[[1]]), [6 * silu])


def test_no_hidden_units():
    with pytest.raises(UserError, match="hidden must be at least 1, but it is 0"):
        FeedForward(hidden=0)
