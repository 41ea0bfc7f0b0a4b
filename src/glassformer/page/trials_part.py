"""The inputs that never change, with what is right: the page's live error is over them.

Of rules three contexts in four are full windows, the others begin a sequence; all of them demand something.
Of adders half of the pairs are uniform, half are hard.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from glassformer.draw.measure.trials import draw_trials
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.page.pack import packed
from glassformer.page.words import grouped
from glassformer.proof.contexts import NOTHING, Demands, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Addition, Rule, Strings, Task, add, tabulate
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences
from glassformer.tasks.hard import hard_pairs

CONTEXTS, PAIRS, FEWEST = 256, 128, 16
WORK = 2e7  # products of a pass over the whole set, about 50 ms in a browser
SEED = 7  # of the draws, neither training's nor a measure's


class RuleSet(NamedTuple):
    """Contexts that demand something, padded with token 0 behind their end."""

    tokens: Int[np.ndarray, "pos batch"]
    lengths: Int[np.ndarray, " batch"]
    allowed: Bool[np.ndarray, "tok batch"]


class PairSet(NamedTuple):
    """Problems with their right answers, whose last digit is written and not read."""

    tokens: Int[np.ndarray, "pos batch"]
    answers: Int[np.ndarray, "step batch"]


def trial_set(task: Task, architecture: Architecture) -> RuleSet | PairSet:
    """The same inputs at every call; of a model with many numbers fewer."""
    return rule_set(task, architecture) if isinstance(task, Rule) else pair_set(task, architecture)


def trials_part(found: RuleSet | PairSet) -> dict[str, Any]:
    """As the page reads it."""
    count = grouped(found.tokens.shape[1])
    if isinstance(found, RuleSet):
        about = f"{count} contexts in which the rule demands something, drawn once"
        return {
            "about": about,
            "tokens": packed(found.tokens),
            "lengths": packed(found.lengths),
            "allowed": packed(found.allowed),
            "answers": None,
        }
    about = (
        f"{count} sums, half of uniform digits, half of hard ones (runs of nines, long carries), drawn once"
    )
    return {
        "about": about,
        "tokens": packed(found.tokens),
        "lengths": None,
        "allowed": None,
        "answers": packed(found.answers),
    }


def affordable(most: int, architecture: Architecture, places: int) -> int:
    """How many inputs a page goes through while a parameter is dragged."""
    numbers = sum(parameter.size for parameter in parameters(architecture).values())
    return int(np.clip(WORK / max(1, numbers * places), FEWEST, most))


def pair_set(task: Addition, architecture: Architecture) -> PairSet:
    """Uniform pairs, then hard ones."""
    random, layout = np.random.default_rng(SEED), task.written()
    count = affordable(PAIRS, architecture, layout.length)
    plain = random.integers(0, 10, (2, task.digits, count - count // 2)).astype(np.int32)
    hard = hard_pairs(random, count // 2, task.digits)
    x, y = (np.concatenate([plain[i], hard[i]], axis=1) for i in (0, 1))
    tokens = layout.encode(x, y, add(x, y))
    return PairSet(tokens[:-1], tokens[layout.answer])


def rule_set(rule: Strings, architecture: Architecture) -> RuleSet:
    """Full windows and beginnings of the rule's own sequences."""
    automaton, size = tabulate(rule), architecture.context
    count = affordable(CONTEXTS, architecture, size)
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        demands = None
    windows = full_windows(automaton, demands, size, count)
    short = beginnings(automaton, demands, size, count - min(len(windows.lengths), count * 3 // 4))
    parts = [first(windows, count - len(short.lengths)), short]
    return RuleSet(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


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
