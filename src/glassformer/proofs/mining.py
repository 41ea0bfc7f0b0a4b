"""Hard examples from the prover: pairs at the ends of the classes that a model gets wrong, or barely right.

Training draws pairs at random and never meets the few that fail; these are exactly those.
"""

import numpy as np
from jaxtyping import Int

from glassformer.core.spread import map_threads
from glassformer.models.model import Model
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.paths import Digits
from glassformer.proofs.search import ClassLevel, ClassStatus, list_bound_ends
from glassformer.runs.config import Run
from glassformer.tasks.addition import Addition, require_addition
from glassformer.tasks.board import replace_board_pairs

MODELS = 16  # best ones that are looked into: with so many pairs of each they fill half a batch of 8,192
PAIRS = 256  # of each at most: the wrong ones, then those with the smallest margins
_SECONDS = (
    2.0  # for each; a model that is nearly right takes a tenth, one that is not has wrong pairs by then
)


def mine_problems(run: Run, everyone: dict[str, np.ndarray]) -> Int[np.ndarray, "pos batch"]:
    """Problems with their answers, from the first models of a population; none of the board's."""
    task = require_addition(run.task, run.name)
    count = min(MODELS, len(next(iter(everyone.values()))))
    models = [
        Model(run.architecture, {name: array[i] for name, array in everyone.items()}) for i in range(count)
    ]
    digits = np.concatenate(list(map_threads(lambda model: find_hard_digits(model, task), iter(models))))
    x, y = replace_board_pairs(digits[:, :, 0].T, digits[:, :, 1].T, task.base)
    return np.asarray(task.written().encode(x, y, task.solve_digits(x, y)))


def find_hard_digits(model: Model, task: Addition) -> Digits:
    """The pairs of one model, worst first."""
    proof = prove_adder(model, task, seconds=_SECONDS, margins=False)
    if proof.run:
        return proof.run.hardest[np.argsort(proof.run.least, kind="stable")[:PAIRS]]
    if not proof.levels:  # the method does not fit the model
        return np.zeros((0, task.digits, 2), np.int64)
    found = [_list_end_pairs(level) for level in proof.levels]
    every, least = (np.concatenate(parts) for parts in zip(*found, strict=True))
    _, first = np.unique(every[order := np.argsort(least, kind="stable")], axis=0, return_index=True)
    return np.asarray(every[order[np.sort(first)[:PAIRS]]])


def _list_end_pairs(level: ClassLevel) -> tuple[Digits, np.ndarray]:
    """Refuting pairs, and those at the ends of every class, each with the smallest gap of its class."""
    wrong = level.wrong[level.status == ClassStatus.REFUTED]
    both = [wrong, *list_bound_ends(level.bounds)]
    least = [np.full(len(wrong), -np.inf), *[np.nan_to_num(level.least, nan=-np.inf)] * (len(both) - 1)]
    return np.concatenate(both), np.concatenate(least)
