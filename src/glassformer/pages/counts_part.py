"""The parameter counts of `glassformer count`, without the rank, which takes too long for a page.

A learned parameter is dead if it changes no logit. Each one is changed, in double precision, over a few
inputs; those without effect are changed again over many.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Bool, Int

from glassformer.models.architecture import Architecture
from glassformer.models.constants import count_fixed_nonzero, list_constants
from glassformer.models.count import (
    ParameterCounts,
    count_by_part,
    count_learned,
    count_stored_bits,
    find_routing,
    mark_free_entries,
    name_chosen_entries,
)
from glassformer.models.forward import forward, list_all_parameters, list_parameters
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pages.families import find_family
from glassformer.tasks import Task

_MOST_MOVED = 1_000  # learned parameters; in a larger model none is called dead
_FEW = 16  # inputs that are tried first
_STEP = 0.01  # of a parameter's own size
_STILL = 1e-11  # of the largest logit: rounding is about 1e-15 of it

_Params = Mapping[str, np.ndarray]
_Tokens = Int[np.ndarray, "pos batch"]


def make_counts_part(model: Model, task: Task) -> ParameterCounts:
    """Every count that is fast; `glassformer count` has the rank."""
    shape, kept = model.architecture, list_parameters(model.architecture)
    learned = {name: np.asarray(model.params[name]) for name, one in kept.items() if one.learned}
    dead, chosen = _find_dead_parameters(model, task, learned), tuple(list_constants(shape))
    return ParameterCounts(
        stored=sum(parameter.size for parameter in list_all_parameters(shape).values()),
        unique=sum(parameter.free for parameter in kept.values()),
        nonzero=sum(int(np.count_nonzero(model.params[name])) for name in kept) - count_fixed_nonzero(shape),
        learned=count_learned(kept),
        constants=len(chosen),
        both=count_learned(kept) + len(chosen),
        chosen=chosen,
        bits=count_stored_bits(kept, model.params),
        routing=find_routing(shape),
        rank=None,
        dead=dead,
        parts=count_by_part(shape),
        rank_contexts=0 if dead is None else find_family(task).tried,
        rank_settled=False,
    )


def _find_dead_parameters(model: Model, task: Task, learned: _Params) -> tuple[str, ...] | None:
    """Names of the learned parameters that change no logit; None for a large model: not known."""
    size = sum(array.size for array in learned.values())
    if size > _MOST_MOVED:
        return None
    params = {name: np.asarray(array, np.float64) for name, array in model.params.items()}
    still = mark_free_entries(model.architecture, learned)
    for count in (_FEW, find_family(task).tried):
        tokens, outputs = task.random_inputs(model.architecture.context, count)
        still = _mark_dead_parameters(model.architecture, params, learned, tokens, outputs, still)
    return name_chosen_entries(learned, still)


def _mark_dead_parameters(
    shape: Architecture,
    params: dict[str, np.ndarray],
    learned: _Params,
    tokens: _Tokens,
    outputs: int,
    asked: Bool[np.ndarray, " learned"],
) -> Bool[np.ndarray, " learned"]:
    """Which of the parameters asked for change no logit."""
    before = _compute_page_logits(shape, params, tokens, outputs)
    limit, still = _STILL * np.abs(np.where(before > -1e29, before, 0.0)).max(), asked.copy()
    for index, (name, place) in enumerate(_list_learned_entries(learned)):
        if asked[index]:
            after = _compute_page_logits(
                shape, params | {name: _move_entry(params[name], place)}, tokens, outputs
            )
            still[index] = not np.abs(after - before).max() > limit
    return still


def _list_learned_entries(learned: _Params) -> Iterator[tuple[str, int]]:
    """Every learned parameter: its array's name and its index in it."""
    for name, array in learned.items():
        yield from ((name, place) for place in range(array.size))


def _move_entry(array: np.ndarray, place: int) -> np.ndarray:
    """The array with one entry moved by a share of its size, or of its array's size where it is 0."""
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[place] += _STEP * (abs(flat[place]) or np.abs(array).max() or 1.0)
    return changed


def _compute_page_logits(shape: Architecture, params: _Params, tokens: _Tokens, outputs: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        found: np.ndarray = forward(shape, NumpyOps("float64"), params, tokens, last=outputs)
    return found
