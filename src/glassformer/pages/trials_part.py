"""The fixed test set of a page, with the right answers: its live error is over these inputs.

Rules: three contexts in four are full windows, the others begin a sequence; every next token is constrained.
Questions: whole prompts, all of them where there are few.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.pictures.measure.trials import draw_trials
from glassformer.proofs.contexts import NOTHING, Demands, tabulate_demands
from glassformer.proofs.tables import NotProvableError
from glassformer.tasks import Prompts, Strings, tabulate_automaton
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

_CONTEXTS, _FEWEST = 256, 16  # inputs, at most and at least
_WORK = 2e7  # products of a pass over the whole set, about 50 ms in a browser
SEED = 7  # of the draws, neither training's nor a measure's


class ContextSet(NamedTuple):
    """Contexts with a constrained next token, padded with token 0 at the end."""

    tokens: Int[np.ndarray, "pos batch"]
    lengths: Int[np.ndarray, " batch"]
    allowed: Bool[np.ndarray, "tok batch"]


def count_affordable_inputs(most: int, architecture: Architecture, places: int) -> int:
    """How many inputs a page can run while a parameter is dragged."""
    numbers = sum(parameter.size for parameter in list_parameters(architecture).values())
    return int(np.clip(_WORK / max(1, numbers * places), _FEWEST, most))


def make_context_set(task: Strings, architecture: Architecture) -> ContextSet:
    """Prompts of a question, or full windows and beginnings of a rule's own sequences."""
    automaton, size = tabulate_automaton(task), architecture.context
    count = count_affordable_inputs(_CONTEXTS, architecture, size)
    if automaton.length:
        return _make_prompt_set(Prompts(automaton), count)
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        demands = None
    windows = _draw_full_windows(automaton, demands, size, count)
    short = _draw_beginnings(automaton, demands, size, count - min(len(windows.lengths), count * 3 // 4))
    parts = [_take_first_contexts(windows, count - len(short.lengths)), short]
    return ContextSet(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


def _make_prompt_set(prompts: Prompts, count: int) -> ContextSet:
    """All prompts, or `count` of them, each equally likely."""
    drawn = (
        prompts.between(0, prompts.count)
        if prompts.count <= count
        else prompts.drawn(np.random.default_rng(SEED), count)
    )
    vocab, lengths = len(prompts.automaton.tokens), np.full(drawn.shape[1], len(drawn))
    return ContextSet(drawn, lengths, np.arange(vocab)[:, None] == prompts.answers(drawn))


def _draw_full_windows(automaton: Automaton, demands: Demands | None, size: int, count: int) -> ContextSet:
    """Windows whose next token is constrained, whatever came before them."""
    trials = draw_trials(automaton, size, 2 * count, SEED)
    contexts, allowed = trials.contexts, trials.allowed
    if demands is not None:
        asked = demands.of(contexts, whole=True)
        contexts, allowed = contexts[asked != NOTHING], demands.allowed[asked[asked != NOTHING]]
    return _take_first_contexts(ContextSet(contexts.T, np.full(len(contexts), size), allowed.T), count)


def _draw_beginnings(automaton: Automaton, demands: Demands | None, size: int, count: int) -> ContextSet:
    """Contexts shorter than the window, as evenly over their lengths as the rule allows."""
    tokens = draw_sequences(automaton, np.random.default_rng(SEED), 8 * count, max(size - 1, 1))  # pos batch
    found: list[ContextSet] = []
    for length in range(1, size):
        if demands is None:
            break
        asked = demands.of(tokens[:length].T, whole=False)
        contexts = tokens[:, asked != NOTHING].copy()
        contexts[length:] = 0
        padded = np.pad(contexts, ((0, size - len(contexts)), (0, 0)))
        allowed = demands.allowed[asked[asked != NOTHING]].T
        found.append(ContextSet(padded, np.full(contexts.shape[1], length), allowed))
    return _interleave_sets(found, count, size, len(automaton.tokens))


def _interleave_sets(sets: list[ContextSet], count: int, size: int, vocab: int) -> ContextSet:
    """The first of every set, then the second of every set, and so on; no context twice."""
    none = ContextSet(np.zeros((size, 0), np.int32), np.zeros(0, np.int64), np.zeros((vocab, 0), bool))
    unlike = [_take_first_contexts(_drop_repeated_contexts(one), count) for one in sets if len(one.lengths)]
    if not unlike:
        return none
    whole = ContextSet(*(np.concatenate(arrays, axis=-1) for arrays in zip(*unlike, strict=True)))
    turn = np.concatenate([np.arange(len(one.lengths)) for one in unlike])
    order = np.argsort(turn, kind="stable")[:count]
    return ContextSet(*(array[..., order] for array in whole))


def _drop_repeated_contexts(one: ContextSet) -> ContextSet:
    _, where = np.unique(one.tokens, axis=1, return_index=True)
    return ContextSet(*(array[..., np.sort(where)] for array in one))


def _take_first_contexts(one: ContextSet, count: int) -> ContextSet:
    return ContextSet(*(array[..., :count] for array in one))
