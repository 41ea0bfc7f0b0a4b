"""The decision map agrees with what the model writes."""

import numpy as np
import pytest

from glassformer.pictures.poster.panels import (
    bottleneck,
)  # fmt: skip
from tests.pictures.poster.adders import MICRO, sums_of


@pytest.mark.parametrize("name", [MICRO, "nanogpt-58-repaired", "tinyadder-95", "hand-6"])
def test_the_decision_map_agrees_with_what_the_model_writes(name):
    data = bottleneck.compute(sums_of(name))
    low, high, bottom, top = data["extent"]
    rows, columns = data["map"].shape
    chosen = (
        np.arange(len(data["score"])) if data["fixed"] < 0 else np.flatnonzero(data["own"] == data["fixed"])
    )
    across = ((data["score"][chosen] - low) / (high - low) * columns).astype(int)
    up = ((data["up"][chosen] - bottom) / (top - bottom) * rows).astype(int)
    written = data["written"][chosen]
    assert (data["map"][up, across] == written).mean() > 0.9
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]  # a border may be nearer than a cell is wide
    around = [data["map"][(up + i).clip(0, rows - 1), (across + j).clip(0, columns - 1)] for i, j in shifts]
    assert (np.stack(around) == written).any(0).all()
