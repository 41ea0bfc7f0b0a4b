"""The inputs that never change, with what is right: the page's live error is over them.

Of rules three contexts in four are full windows, the others begin a sequence; all of them demand something.
Of questions they are whole prompts: all, where there are few.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from glassformer.draw.measure.trials import draw_trials
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.proof.contexts import NOTHING, Demands, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Prompts, Strings, tabulate
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

CONTEXTS, FEWEST = 256, 16  # inputs, at most and at least
WORK = 2e7  # products of a pass over the whole set, about 50 ms in a browser
SEED = 7  # of the draws, neither training's nor a measure's


class RuleSet(NamedTuple):
    """Contexts that demand something, padded with token 0 behind their end."""

    tokens: Int[np.ndarray, "pos batch"]
    lengths: Int[np.ndarray, " batch"]
    allowed: Bool[np.ndarray, "tok batch"]


def affordable(most: int, architecture: Architecture, places: int) -> int:
    """How many inputs a page goes through while a parameter is dragged."""
    numbers = sum(parameter.size for parameter in parameters(architecture).values())
    return int(np.clip(WORK / max(1, numbers * places), FEWEST, most))


def rule_set(task: Strings, architecture: Architecture) -> RuleSet:
    """Prompts of a question, or full windows and beginnings of a rule's own sequences."""
    automaton, size = tabulate(task), architecture.context
    count = affordable(CONTEXTS, architecture, size)
    if automaton.length:
        return prompt_set(Prompts(automaton), count)
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        demands = None
    windows = full_windows(automaton, demands, size, count)
    short = beginnings(automaton, demands, size, count - min(len(windows.lengths), count * 3 // 4))
    parts = [first(windows, count - len(short.lengths)), short]
    return RuleSet(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


def prompt_set(prompts: Prompts, count: int) -> RuleSet:
    """All prompts, or so many of them, each equally likely."""
    drawn = (
        prompts.between(0, prompts.count)
        if prompts.count <= count
        else prompts.drawn(np.random.default_rng(SEED), count)
    )
    vocab, lengths = len(prompts.automaton.tokens), np.full(drawn.shape[1], len(drawn))
    return RuleSet(drawn, lengths, np.arange(vocab)[:, None] == prompts.answers(drawn))


def full_windows(automaton: Automaton, demands: Demands | None, size: int, count: int) -> RuleSet:
    """Windows whose next token is constrained and decided, whatever came before them."""
    trials = draw_trials(automaton, size, 2 * count, SEED)
    contexts, allowed = trials.contexts, trials.allowed
    if demands is not None:
        asked = demands.of(contexts, whole=True)
        contexts, allowed = contexts[asked != NOTHING], demands.allowed[asked[asked != NOTHING]]
    return first(RuleSet(contexts.T, np.full(len(contexts), size), allowed.T), count)


def beginnings(automaton: Automaton, demands: Demands | None, size: int, count: int) -> RuleSet:
    """Contexts shorter than the window, as evenly over their lengths as the rule allows."""
    tokens = draw_sequences(automaton, np.random.default_rng(SEED), 8 * count, max(size - 1, 1))  # pos batch
    found: list[RuleSet] = []
    for length in range(1, size):
        if demands is None:
            break
        asked = demands.of(tokens[:length].T, whole=False)
        contexts = tokens[:, asked != NOTHING].copy()
        contexts[length:] = 0
        padded = np.pad(contexts, ((0, size - len(contexts)), (0, 0)))
        allowed = demands.allowed[asked[asked != NOTHING]].T
        found.append(RuleSet(padded, np.full(contexts.shape[1], length), allowed))
    return in_turn(found, count, size, len(automaton.tokens))


def in_turn(sets: list[RuleSet], count: int, size: int, vocab: int) -> RuleSet:
    """The first of every set, then the second of every set, and so on; no context twice."""
    none = RuleSet(np.zeros((size, 0), np.int32), np.zeros(0, np.int64), np.zeros((vocab, 0), bool))
    unlike = [first(distinct(one), count) for one in sets if len(one.lengths)]
    if not unlike:
        return none
    whole = RuleSet(*(np.concatenate(arrays, axis=-1) for arrays in zip(*unlike, strict=True)))
    turn = np.concatenate([np.arange(len(one.lengths)) for one in unlike])
    order = np.argsort(turn, kind="stable")[:count]
    return RuleSet(*(array[..., order] for array in whole))


def distinct(one: RuleSet) -> RuleSet:
    _, where = np.unique(one.tokens, axis=1, return_index=True)
    return RuleSet(*(array[..., np.sort(where)] for array in one))


def first(one: RuleSet, count: int) -> RuleSet:
    return RuleSet(*(array[..., :count] for array in one))
