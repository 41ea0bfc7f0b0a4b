"""Proofs for a whole population: how many seeds are right on every input, not only on those that were tried.

Most seeds of an adder fail soon: some hundred hard pairs refute them without a proof. The others, and all
seeds of other models, are proved one by one, on all cores.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.proof.prove import prove_model
from glassformer.proof.verdict import Outcome
from glassformer.spread import spread
from glassformer.tasks import Sequences, Task
from glassformer.tasks.addition import Addition, add, require_addition
from glassformer.verify.addition import Failure, answers, failures_of, hard_blocks

QUICK_KIND, QUICK_PAIRS, QUICK_SEED = "sums_8_to_10", 256, 1  # hard pairs that are tried first
SECONDS = 20.0  # for one seed at most

Tell = Callable[[int], object]  # is told how many more seeds are done


@dataclass(frozen=True)
class SeedProof:
    """What became of one seed."""

    seed: int
    verdict: Outcome
    margin_bound: float | None  # of a proved one
    counterexample: dict[str, Any] | None  # as a verdict has it


def prove_population(
    architecture: Architecture,
    everyone: Mapping[str, np.ndarray],
    seeds: list[int],
    task: Task,
    seconds: float = SECONDS,
    tell: Tell | None = None,
) -> list[SeedProof]:
    """A verdict for every row of `everyone`, arrays with a first axis for the seeds."""

    def one(row: int) -> SeedProof:
        params = {name: array[row] for name, array in everyone.items()}
        if not all(np.isfinite(array).all() for array in params.values()):
            return SeedProof(seeds[row], "not_applicable", None, None)  # it diverged
        return prove_seed(Model(architecture, params), seeds[row], task, seconds)

    found: list[SeedProof] = []
    for proof in spread(one, iter(range(len(seeds)))):
        found.append(proof)
        if tell:
            tell(1)
    return found


def prove_seed(model: Model, seed: int, task: Task, seconds: float) -> SeedProof:
    """Refuted by a hard pair that was tried, or by the search; or proved."""
    failure = quick_failure(model, require_addition(task, "a seed")) if task.family == "addition" else None
    if failure:
        return SeedProof(seed, "refuted", None, asdict(failure))
    try:
        found = prove_model(model, task, Sequences(), f"seed {seed}", False, seconds, None, margins=False)
    except UserError:  # its numbers overflow
        return SeedProof(seed, "not_applicable", None, None)
    return SeedProof(seed, found.verdict, found.margin_bound, found.counterexample)


def quick_failure(model: Model, task: Addition) -> Failure | None:
    """The first of some hard pairs that the model gets wrong; numbers that overflow are wrong as well."""
    x, y = next(hard_blocks(QUICK_KIND, task, QUICK_SEED, QUICK_PAIRS))
    with np.errstate(all="ignore"):
        written = answers(model, task, x, y)
    return next(iter(failures_of(task, x, y, written, (written == add(x, y)).all(0))), None)
