"""How large a model is, as `glassformer count` has it, but for the rank, which takes longer than a page.

A learned number is dead if no logit moves with it: here each is moved, in double precision, over a few
contexts, and those that did nothing are moved again over many.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Bool, Int

from glassformer.model.architecture import Architecture
from glassformer.model.count import (
    Counts,
    by_part,
    constants,
    fixed_constants,
    free_entries,
    names_of,
)
from glassformer.model.forward import all_parameters, forward, parameters
from glassformer.model.model import Model
from glassformer.model.ops_numpy import NumpyOps
from glassformer.page.families import family_of
from glassformer.tasks import Task

MOST_MOVED = 1_000  # learned numbers; of a larger model none is called dead
FEW = 16  # inputs that are tried first
STEP = 0.01  # of a number's own size
STILL = 1e-11  # of the largest logit: what cancels comes out as rounding, about 1e-15 of it

Params = Mapping[str, np.ndarray]
Tokens = Int[np.ndarray, "pos batch"]


def counts_part(model: Model, task: Task) -> Counts:
    """Every count that takes no time; the rank is left to `glassformer count`."""
    shape, kept = model.architecture, parameters(model.architecture)
    learned = {name: np.asarray(model.params[name]) for name, one in kept.items() if one.learned}
    dead = dead_numbers(model, task, learned)
    return Counts(
        stored=sum(parameter.size for parameter in all_parameters(shape).values()),
        unique=sum(parameter.free for parameter in kept.values()),
        nonzero=sum(int(np.count_nonzero(model.params[name])) for name in kept) - fixed_constants(shape),
        learned=sum(parameter.free for parameter in kept.values() if parameter.learned),
        constants=constants(shape),
        rank=None,
        dead=dead,
        parts=by_part(shape),
        rank_contexts=0 if dead is None else family_of(task).tried,
        rank_settled=False,
    )


def dead_numbers(model: Model, task: Task, learned: Params) -> tuple[str, ...] | None:
    """Names of the learned numbers that move no logit; none of a large model, which is not known."""
    size = sum(array.size for array in learned.values())
    if size > MOST_MOVED:
        return None
    params = {name: np.asarray(array, np.float64) for name, array in model.params.items()}
    still = free_entries(model.architecture, learned)
    for count in (FEW, family_of(task).tried):
        tokens, outputs = task.random_inputs(model.architecture.context, count)
        still = without_effect(model.architecture, params, learned, tokens, outputs, still)
    return names_of(learned, still)


def without_effect(
    shape: Architecture,
    params: dict[str, np.ndarray],
    learned: Params,
    tokens: Tokens,
    outputs: int,
    asked: Bool[np.ndarray, " learned"],
) -> Bool[np.ndarray, " learned"]:
    """Which of the numbers asked for leave every logit where it was."""
    before = logits(shape, params, tokens, outputs)
    limit, still = STILL * np.abs(np.where(before > -1e29, before, 0.0)).max(), asked.copy()
    for index, (name, place) in enumerate(places_of(learned)):
        if asked[index]:
            after = logits(shape, params | {name: moved(params[name], place)}, tokens, outputs)
            still[index] = not np.abs(after - before).max() > limit
    return still


def places_of(learned: Params) -> Iterator[tuple[str, int]]:
    """Every learned number: its array's name, and where it stands in it."""
    for name, array in learned.items():
        yield from ((name, place) for place in range(array.size))


def moved(array: np.ndarray, place: int) -> np.ndarray:
    """The array with one number moved by a share of its own size; a nought by that of its array."""
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[place] += STEP * (abs(flat[place]) or np.abs(array).max() or 1.0)
    return changed


def logits(shape: Architecture, params: Params, tokens: Tokens, outputs: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        found: np.ndarray = forward(shape, NumpyOps("float64"), params, tokens, last=outputs)
    return found
