"""Weights that underflow on huge values."""

import numpy as np

from glassformer.models.bounded import FloatFormat, bound_constant
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
