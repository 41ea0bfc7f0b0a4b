"""Inputs on which an exported file is compared with the model itself.

Adders: the board's edge cases, hard pairs of every kind and random ones, with their sums written out. Rules
and all others: windows of random tokens, which hold what lawful sequences do not.
"""

from itertools import islice

import numpy as np
from jaxtyping import Int

from glassformer.model.model import Model
from glassformer.tasks import Addition, Rule, add, digits_of, numbers_of
from glassformer.tasks.board import BOARD_DIGITS, EDGE_CASES, random_pairs
from glassformer.tasks.hard import hard_pairs

SEED = 2026  # not the board's: its random pairs are the last word, and belong to the board's own test
Pair = tuple[int, int]


def example_tokens(model: Model, task: Rule | Addition, count: int) -> Int[np.ndarray, "batch pos"]:
    """Inputs as long as the task has them, the same every time."""
    if not isinstance(task, Addition):
        return task.random_inputs(model.architecture.context, count)[0].T
    a, b = zip(*example_pairs(task, count), strict=True)
    x, y = digits_of(a, task.digits), digits_of(b, task.digits)
    tokens: Int[np.ndarray, "batch pos"] = task.written().encode(x, y, add(x, y))[:-1].T
    return tokens[:, -model.architecture.context :]


def example_pairs(task: Addition, count: int) -> list[Pair]:
    """Half of them hard; the edge cases first, where the numbers have the board's ten digits."""
    edges = EDGE_CASES if task.digits == BOARD_DIGITS else ()
    hard = hard_pairs(np.random.default_rng(SEED), count // 2, task.digits)
    drawn = zip(*(numbers_of(part) for part in hard), strict=True)
    return list(islice((*edges, *drawn, *random_pairs(SEED, count, task.digits)), count))
