"""Weights that underflow on huge values."""

import numpy as np
import pytest
from flint import arb

from glassformer.models.bounded import bound_constant
from glassformer.models.float_format import FloatFormat
from glassformer.models.ops_numpy import NumpyOps
from glassformer.proofs.heads import ScoreTable, make_head_table


def test_weights_that_underflow_on_huge_values():
    score = np.array([0.0, -102.7], np.float32).reshape(1, 1, 2, 1)
    values = bound_constant(FloatFormat("float32"), np.array([[[1.0], [3e38]]]))
    floats, there = FloatFormat("float32"), np.ones((1, 1, 2, 1), bool)
    head = make_head_table(
        floats, 0.0, ScoreTable(score.astype(float), 0 * score, 0 * score, True), values, there
    )
    powers = np.exp(score - 0)[0, 0, :, 0]
    deployed = float(powers[1] / powers.sum() * np.float32(3e38) + powers[0] / powers.sum())
    exact = np.exp(score.astype(float))[0, 0, :, 0]
    real = float((exact * [1.0, 3e38]).sum() / exact.sum())
    assert abs(deployed - real) <= head.error[0, 0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_a_key_of_little_weight_and_a_value_far_above_the_mean(seed):
    """A score 80 below the largest loses 64 units of roundoff, and e^80 makes them count."""
    random, floats = np.random.default_rng(seed), FloatFormat("float32")
    least, top = np.float32(-80 - 4 * random.random()), np.float32(0.5 + 3 * random.random())
    score = np.array([[top, top], [least, least - 1]], np.float32)[None, None].astype(float)
    value = np.float32(np.exp(80.0))
    values = bound_constant(floats, np.array([[[0.0, 0.0], [value, value]]]))
    there = np.ones(score.shape, bool)
    head = make_head_table(floats, 0.0, ScoreTable(score, 0 * score, 0 * score, True), values, there)
    ops = NumpyOps("float32")
    shares = ops.softmax(score[0, 0, :, :1].astype(np.float32)[None, :, :], 0.0)
    deployed = float(ops.mix(shares, values.centre[:, :, :1].astype(np.float32))[0, 0, 0])
    far = arb(float(least)).exp()
    real = float(far * arb(float(value)) / (far + arb(float(top)).exp()))
    assert abs(deployed - real) <= head.error[0, 0, 0]
