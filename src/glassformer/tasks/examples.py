"""Pairs of numbers to compare two adders on: edge cases, hard pairs of every kind, random ones."""

from itertools import islice

import numpy as np
from jaxtyping import Int

from glassformer.tasks.addition import Addition, to_digits, to_numbers
from glassformer.tasks.board import EDGE_CASES, draw_random_pairs, is_board_task
from glassformer.tasks.hard import draw_hard_pairs

_SEED = 2026  # not the board's: its random pairs are the last word, and belong to the board's own test
_Pair = tuple[int, int]


def list_example_pairs(task: Addition, count: int) -> list[_Pair]:
    """Half of them hard; the edge cases first, where they are pairs of the task."""
    edges = EDGE_CASES if is_board_task(task) else ()
    hard = task.match_pair(*draw_hard_pairs(np.random.default_rng(_SEED), count // 2, task.digits, task.base))
    drawn = zip(*(to_numbers(part, task.base) for part in hard), strict=True)
    return list(islice((*edges, *drawn, *draw_random_pairs(_SEED, count, task.base**task.digits)), count))


def encode_example_sums(task: Addition, count: int) -> Int[np.ndarray, "pos batch"]:
    """The same, with their sums written out but for the last digit, which is not read."""
    a, b = zip(*list_example_pairs(task, count), strict=True)
    x, y = (to_digits(side, task.digits, task.base) for side in (a, b))
    return np.asarray(task.written().encode(x, y, task.solve_digits(x, y))[:-1])
