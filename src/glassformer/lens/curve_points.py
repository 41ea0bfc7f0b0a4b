"""Where a long spectrum is drawn: at its first components all, then at ever fewer, and at the last.

>>> choose_curve_components(1_000, 8)
array([  0,   2,   6,  18,  51, 138, 372, 999])
"""

import numpy as np
from jaxtyping import Int


def choose_curve_components(count: int, points: int) -> Int[np.ndarray, "point"]:
    """Components, counted from 0, evenly spaced on a logarithmic scale; at most `points` of them."""
    return np.unique(np.geomspace(1, count, points).round().astype(int)) - 1
