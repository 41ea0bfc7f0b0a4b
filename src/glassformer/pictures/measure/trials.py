"""Thousands of contexts whose next token the task fixes and the window tells: what figures measure on.

`4 1 + 4 6 9 5 +` asks for 6, and its source is the 6, four positions before what is asked.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from glassformer.tasks import (
    Addition,
    TokenSource,
    classify_positions,
    follow_states,
    measure_source_distance,
)
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

_ROUNDS = 40  # pools of sequences at most; a rule that hardly ever constrains ends there
_POOL = 400  # sequences in a pool


@dataclass(frozen=True, eq=False)
class Trials:
    """Contexts of lawful sequences whose next token is constrained and decided by the context."""

    contexts: Int[np.ndarray, "trial pos"]
    allowed: Bool[np.ndarray, "trial tok"]
    source: Int[np.ndarray, " trial"]  # the position of the earliest token that is needed
    following: Int[np.ndarray, " trial"]  # the token that comes next in the sequence

    def __len__(self) -> int:
        return len(self.contexts)


def draw_trials(automaton: Automaton, context: int, count: int, seed: int = 0) -> Trials:
    """At most `count` trials, from sequences that start far enough back to fill the window."""
    if automaton.length:
        return draw_prompts(automaton, count, seed)
    random = np.random.default_rng(seed)
    found: list[Trials] = []
    for _ in range(_ROUNDS):
        tokens = draw_sequences(automaton, random, _POOL, context + 24)
        found.append(_extract_trials(automaton, tokens, context))
        if sum(map(len, found)) >= count:
            break
    return Trials(
        *(
            np.concatenate([getattr(trials, name) for trials in found])[:count]
            for name in ("contexts", "allowed", "source", "following")
        )
    )


def draw_prompts(automaton: Automaton, count: int, seed: int = 0) -> Trials:
    """So many whole prompts of a question, each with its answer; every token counts, from the first on."""
    tokens = draw_sequences(automaton, np.random.default_rng(seed), count, automaton.length)
    allowed = automaton.allowed[follow_states(automaton, tokens[:-1])[-1]]
    return Trials(tokens[:-1].T, allowed, np.zeros(count, np.int64), tokens[-1])


def draw_sum_trials(task: Addition, count: int, seed: int = 0) -> Trials:
    """Random sums, each written up to its middle digit, which comes next; its source is that digit of A."""
    random, middle = np.random.default_rng(seed), task.digits // 2
    x, y = random.integers(0, task.base, (2, task.digits, count))
    layout = task.written()
    written = list(layout.z_positions)[middle]
    tokens = layout.encode(x, y, task.solve_digits(x, y)).T  # trial pos
    following = tokens[:, written]
    allowed = np.arange(len(layout.labels)) == following[:, None]
    source = np.full(count, list(layout.x_positions)[middle])
    return Trials(tokens[:, :written], allowed, source, following)


def _extract_trials(automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], context: int) -> Trials:
    """Every trial of these sequences."""
    inside = classify_positions(automaton, tokens, context) == TokenSource.IN_WINDOW
    inside[:context] = False
    at, which = np.nonzero(inside)
    distance = measure_source_distance(automaton, tokens, context)[at, which]
    windows = tokens[at[:, None] - context + np.arange(context), which[:, None]]  # trial pos
    allowed = automaton.allowed[follow_states(automaton, tokens)[at, which]]
    return Trials(windows, allowed, context - distance, tokens[at, which])
