"""Random inputs of any task: windows of a rule, or pairs of numbers with their sums.

>>> from glassformer.tasks import Addition
>>> tokens, outputs = random_inputs(Addition(digits=2), size=0, count=5)
>>> tokens.shape, outputs  # a sum of two digits has three; the last is written and not read
((8, 5), 3)
"""

import numpy as np
from jaxtyping import Int

from glassformer.tasks.addition import Addition, add
from glassformer.tasks.rule import Rule


def random_inputs(task: Rule | Addition, size: int, count: int) -> tuple[Int[np.ndarray, "pos batch"], int]:
    """The same ones every time, and how many of the last places are outputs; a rule's have this size."""
    random = np.random.default_rng(0)
    if isinstance(task, Rule):
        return random.integers(0, len(task.tokens()), (size, count)), size
    x, y = random.integers(0, 10, (2, task.digits, count))
    return task.written().encode(x, y, add(x, y))[:-1], task.digits + 1
