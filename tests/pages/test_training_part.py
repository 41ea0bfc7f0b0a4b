"""A long history is thinned."""

import numpy as np

from glassformer.pages.training_part import thin_history
from glassformer.runs.history import History


def test_a_long_history_is_thinned_evenly_and_keeps_its_ends():
    history = History(np.arange(0, 5_000_000, 1_000), {"token.weight": np.zeros((5_000, 1_000), np.float32)})
    kept = thin_history(history).steps
    assert (kept[0], kept[-1]) == (0, 4_999_000)
    assert len(kept) < 1_000 and set(np.diff(kept)) <= {6_000, 7_000, 8_000}
