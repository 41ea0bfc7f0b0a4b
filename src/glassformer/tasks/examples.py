"""Pairs of numbers to compare two adders on: edge cases, hard pairs of every kind, random ones."""

from itertools import islice

import numpy as np
from jaxtyping import Int

from glassformer.tasks.addition import Addition, add, digits_of, numbers_of
from glassformer.tasks.board import BOARD_DIGITS, EDGE_CASES, random_pairs
from glassformer.tasks.hard import hard_pairs

SEED = 2026  # not the board's: its random pairs are the last word, and belong to the board's own test
Pair = tuple[int, int]


def example_pairs(task: Addition, count: int) -> list[Pair]:
    """Half of them hard; the edge cases first, where the numbers have the board's ten digits."""
    edges = EDGE_CASES if task.digits == BOARD_DIGITS else ()
    hard = hard_pairs(np.random.default_rng(SEED), count // 2, task.digits)
    drawn = zip(*(numbers_of(part) for part in hard), strict=True)
    return list(islice((*edges, *drawn, *random_pairs(SEED, count, task.digits)), count))


def example_sums(task: Addition, count: int) -> Int[np.ndarray, "pos batch"]:
    """The same, with their sums written out but for the last digit, which is not read."""
    a, b = zip(*example_pairs(task, count), strict=True)
    x, y = digits_of(a, task.digits), digits_of(b, task.digits)
    return np.asarray(task.written().encode(x, y, add(x, y))[:-1])
