"""All prompts of a question, numbered: how many there are, any stretch of them, and their answers.

>>> from glassformer.tasks import make_task, tabulate
>>> prompts = Prompts(tabulate(make_task("max_of", numbers=8, k=3)))
>>> prompts.count, prompts.between(500, 502).T.tolist(), prompts.answers(prompts.between(500, 502)).tolist()
(512, [[7, 6, 4], [7, 6, 5]], [7, 7])
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from jaxtyping import Int

from glassformer.errors import UserError
from glassformer.tasks.automaton import Automaton


@dataclass(frozen=True, eq=False)
class Prompts:
    """The prompts of an automaton whose strings have one length, in the order of their token ids."""

    automaton: Automaton

    @cached_property
    def slots(self) -> tuple[Int[np.ndarray, " choice"], ...]:
        """The tokens that may stand at each position; they must not depend on the tokens before."""
        found, states = [], np.array([self.automaton.start])
        for _ in range(self.automaton.length - 1):
            possible = self.automaton.probability[states] > 0  # state tok
            if not (possible == possible[:1]).all() or self.automaton.constrained[states].any():
                raise UserError("a question's prompt must be free, and the same at each position")
            tokens = np.flatnonzero(possible[0])
            found.append(tokens)
            states = np.unique(self.automaton.next[states][:, tokens])
        answers = self.automaton.probability[states] > 0
        if not self.automaton.constrained[states].all() or (answers.sum(1) != 1).any():
            raise UserError("a question must have exactly one answer to every prompt")
        return tuple(found)

    @cached_property
    def count(self) -> int:
        """How many there are, exactly."""
        return prod(len(slot) for slot in self.slots)

    def between(self, first: int, end: int) -> Int[np.ndarray, "pos prompt"]:
        """Those with the numbers first, ..., end - 1."""
        digits = np.unravel_index(np.arange(first, end), [len(slot) for slot in self.slots])
        return np.stack([slot[digit] for slot, digit in zip(self.slots, digits, strict=True)]).astype(
            np.int32
        )

    def drawn(self, random: np.random.Generator, count: int) -> Int[np.ndarray, "pos prompt"]:
        """So many at random, each equally likely."""
        return np.stack([random.choice(slot, count) for slot in self.slots]).astype(np.int32)

    def answers(self, tokens: Int[np.ndarray, "pos prompt"]) -> Int[np.ndarray, " prompt"]:
        """The one token that is right after each."""
        state = np.full(tokens.shape[1], self.automaton.start)
        for read in tokens:
            state = self.automaton.next[state, read]
        return self._answer[state]

    @cached_property
    def _answer(self) -> Int[np.ndarray, " state"]:
        found: np.ndarray = self.automaton.allowed.argmax(1).astype(np.int32)
        return found
