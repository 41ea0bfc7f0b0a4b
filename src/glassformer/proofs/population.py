"""Proofs for a whole population: how many seeds are right on every input, not only on those that were tried.

Most seeds of an adder of one length fail soon: some hundred hard pairs refute them without a proof. The
others, and all seeds of other models, are proved one by one, on all cores.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from glassformer.core.errors import UserError
from glassformer.core.spread import map_threads
from glassformer.core.waiting import TellCount
from glassformer.models.architecture import Architecture
from glassformer.models.lengths import is_any_length
from glassformer.models.model import Model
from glassformer.proofs.prove import prove_model
from glassformer.proofs.verdict import Outcome
from glassformer.tasks import Sequences, Task
from glassformer.tasks.addition import Addition, require_addition
from glassformer.verify.addition import WrongSum, list_wrong_sums, make_hard_blocks, write_answers

_QUICK_KIND, _QUICK_PAIRS, _QUICK_SEED = "sums_8_to_10", 256, 1  # hard pairs that are tried first
_SECONDS = 20.0  # for one seed at most


@dataclass(frozen=True)
class SeedProof:
    """What became of one seed."""

    seed: int
    verdict: Outcome
    margin_bound: float | None  # of a proved one
    counterexample: dict[str, Any] | None  # as a verdict has it


def prove_seeds(
    architecture: Architecture,
    everyone: Mapping[str, np.ndarray],
    seeds: list[int],
    task: Task,
    seconds: float = _SECONDS,
    tell: TellCount | None = None,
) -> list[SeedProof]:
    """A verdict for every row of `everyone`, arrays with a first axis for the seeds."""

    def one(row: int) -> SeedProof:
        params = {name: array[row] for name, array in everyone.items()}
        if not all(np.isfinite(array).all() for array in params.values()):
            return SeedProof(seeds[row], "not_applicable", None, None)  # it diverged
        return prove_seed(Model(architecture, params), seeds[row], task, seconds)

    found: list[SeedProof] = []
    for proof in map_threads(one, iter(range(len(seeds)))):
        found.append(proof)
        if tell:
            tell(1)
    return found


def prove_seed(model: Model, seed: int, task: Task, seconds: float) -> SeedProof:
    """Refuted by a hard pair, or by the search (of every length: by a shortest pair); or proved."""
    has_one_length = task.family == "addition" and not is_any_length(model.architecture, task)
    failure = _find_quick_failure(model, require_addition(task, "a seed")) if has_one_length else None
    if failure:
        return SeedProof(seed, "refuted", None, asdict(failure))
    try:
        found = prove_model(model, task, Sequences(), f"seed {seed}", False, seconds, None, margins=False)
    except UserError:  # its values overflow
        return SeedProof(seed, "not_applicable", None, None)
    return SeedProof(seed, found.verdict, found.margin_bound, found.counterexample)


def _find_quick_failure(model: Model, task: Addition) -> WrongSum | None:
    """The first of some hard pairs that the model gets wrong; values that overflow are wrong as well."""
    x, y = next(make_hard_blocks(_QUICK_KIND, task, _QUICK_SEED, _QUICK_PAIRS))
    with np.errstate(all="ignore"):
        written = write_answers(model, task, x, y)
    is_right = (written == task.solve_digits(x, y)).all(0)
    return next(iter(list_wrong_sums(task, x, y, written, is_right)), None)
