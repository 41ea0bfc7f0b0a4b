"""Every pair of numbers of two digits, column by column."""

from itertools import product

import numpy as np

from glassformer.tasks import add_digits, to_digits

PAIRS = list(product(range(100), repeat=2))
X, Y = (to_digits(side, 2, 10) for side in zip(*PAIRS, strict=True))  # column pair
Z = add_digits(X, Y, 10)
CARRY = np.stack([np.zeros_like(X[0]), (X[0] + Y[0]) // 10, Z[2]])  # into each column


def inside(masks, last):
    """Which of all pairs a class has, by what it leaves open: `column carry x y` and the last carries."""
    held = last[CARRY[2]]
    for column in range(2):
        held &= masks[column, CARRY[column], X[column], Y[column]]
    return held
