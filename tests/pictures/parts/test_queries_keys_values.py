"""Spots of labels, steps of axes, shares of variance."""

import numpy as np
import pytest

from glassformer.pictures.parts.queries_keys_values import (
    choose_label_spots,
    choose_round_step,
    measure_variance_shares,
)


def test_small_helpers():
    assert [choose_round_step(length, 10) for length in (10, 23, 47)] == [1, 2, 5]
    points = np.zeros((2, 3, 2))
    points[1, 2] = 5.0  # the one point of the second path that is away from the first
    np.testing.assert_array_equal(choose_label_spots(points)[1], [5.0, 5.0])
    only_places = np.broadcast_to(np.arange(4.0)[None, :, None], (3, 4, 1))
    assert measure_variance_shares(only_places) == pytest.approx((0.0, 1.0))
