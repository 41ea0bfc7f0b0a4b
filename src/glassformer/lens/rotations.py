"""The rotation that rotary positions apply: pair i of a head's dimensions by position * rates[i] radians.

A pair (a, b) becomes (a cos - b sin, b cos + a sin), as in RoFormer. A quarter turn of the pair of dimensions
0 and 2 ("halves"), and dimensions 1 and 3 left as they are:

>>> quarter = compute_rotation(RopeLayout(rates=(math.pi / 2, 0.0), pairs="halves"), position=1, size=4)
>>> (quarter @ np.array([1.0, 5.0, 0.0, 7.0])).round(12).tolist()
[0.0, 5.0, 1.0, 7.0]
"""

import math

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.lens.layout import RopeLayout


def compute_rotation(rope: RopeLayout, position: int, size: int) -> Float[np.ndarray, "head head"]:
    """What turns a query or key of that size at a position; dimensions outside the pairs stay."""
    first, second = _list_pair_dimensions(rope)
    if rope.first + 2 * len(rope.rates) > size:
        needed = rope.first + 2 * len(rope.rates)
        raise UserError(f"rotary positions need {needed} dimensions of a head, but a head here has {size}")
    angles = np.fmod(position * np.asarray(rope.rates, dtype=np.float64), 2 * math.pi)
    turned = np.eye(size)
    turned[first, first] = turned[second, second] = np.cos(angles)
    turned[first, second] = -np.sin(angles)
    turned[second, first] = np.sin(angles)
    return turned


def _list_pair_dimensions(rope: RopeLayout) -> tuple[Int[np.ndarray, "pair"], Int[np.ndarray, "pair"]]:
    """The first and the second dimension of every pair.

    >>> [dims.tolist() for dims in _list_pair_dimensions(RopeLayout((1.0, 0.1), "adjacent", first=4))]
    [[4, 6], [5, 7]]
    """
    count = len(rope.rates)
    index = np.arange(count)
    if rope.pairs == "halves":
        return rope.first + index, rope.first + index + count
    return rope.first + 2 * index, rope.first + 2 * index + 1
