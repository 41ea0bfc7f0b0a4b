"""All prompts of a question, numbered: how many there are, any stretch of them, and their answers.

>>> from glassformer.tasks import make_task, tabulate_automaton
>>> prompts = Prompts(tabulate_automaton(make_task("modular", p=5)))
>>> prompts.count, prompts.between(18, 20).T.tolist(), prompts.answers(prompts.between(18, 20)).tolist()
(25, [[3, 3, 5], [3, 4, 5]], [1, 2])
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.tasks.automaton import Automaton

_MOST = 10**299  # prompts: a result has their number, in 300 digits at most, and shares of it in float64


class _PromptLevel(NamedTuple):
    """One position of a prompt: its states are numbered within it."""

    ends: Float[np.ndarray, "state answer choice"]  # upper ends of each choice's share of [0, 1)
    after: Int[np.ndarray, "state choice"]


class _AnswerShares(NamedTuple):
    """Which tokens prompts of an answer have, given the tokens before."""

    answers: Int[np.ndarray, " answer"]
    levels: tuple[_PromptLevel, ...]


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
                raise UserError("next must give prompts that are free, and the same at each position")
            tokens = np.flatnonzero(possible[0])
            found.append(tokens)
            states = np.unique(self.automaton.next[states][:, tokens])
        answers = self.automaton.probability[states] > 0
        if not self.automaton.constrained[states].all() or (answers.sum(1) != 1).any():
            raise UserError("choices must give exactly one answer to every prompt")
        if prod(map(len, found)) > _MOST:
            raise UserError("a question must have at most 1e299 prompts")
        return tuple(found)

    @cached_property
    def count(self) -> int:
        """How many there are, exactly."""
        return prod(len(slot) for slot in self.slots)

    def between(self, first: int, end: int) -> Int[np.ndarray, "pos prompt"]:
        """Those with the numbers first, ..., end - 1."""
        numbers, found = np.arange(first, end), []
        for slot in reversed(
            self.slots
        ):  # the last token changes fastest; all may be more than fit an integer
            numbers, digit = np.divmod(numbers, len(slot))
            found.append(slot[digit])
        return np.stack(found[::-1]).astype(np.int32)

    def drawn(self, random: np.random.Generator, count: int) -> Int[np.ndarray, "pos prompt"]:
        """So many at random, each equally likely."""
        return np.stack([random.choice(slot, count) for slot in self.slots]).astype(np.int32)

    def answers(self, tokens: Int[np.ndarray, "pos prompt"]) -> Int[np.ndarray, " prompt"]:
        """The one token that is right after each."""
        state = np.full(tokens.shape[1], self.automaton.start)
        for read in tokens:
            state = self.automaton.next[state, read]
        found: np.ndarray = self._answer[state]
        return found

    def balanced(self, random: np.random.Generator, count: int) -> Int[np.ndarray, "pos prompt"]:
        """So many at random, every answer equally likely, and so every prompt that has it."""
        answer = random.integers(0, len(self.shares.answers), count)
        state, found = np.zeros(count, np.int32), []
        for level, slot in zip(self.shares.levels, self.slots, strict=True):
            ends = level.ends[state, answer]  # prompt choice
            choice = np.minimum((ends <= random.random(count)[:, None]).sum(1), len(slot) - 1)
            found.append(slot[choice])
            state = level.after[state, choice]
        return np.stack(found).astype(np.int32)

    @cached_property
    def shares(self) -> "_AnswerShares":
        """How prompts of one answer are spread, position by position."""
        states, levels = [np.array([self.automaton.start])], []
        for slot in self.slots:
            states.append(np.unique(self.automaton.next[states[-1]][:, slot]))
        answer = self._answer[states[-1]]
        answers = np.unique(answer)
        ways = (answer[:, None] == answers).astype(np.float64)  # state answer: prompts that end here
        for at, slot, after in reversed(list(zip(states[:-1], self.slots, states[1:], strict=True))):
            move = np.searchsorted(after, self.automaton.next[at][:, slot])  # state choice
            through = np.moveaxis(ways[move], 2, 1)  # state answer choice
            total = through.sum(2, keepdims=True)
            ends = np.cumsum(through / np.where(total > 0, total, 1), axis=2)
            levels.append(
                _PromptLevel(np.where(through[..., ::-1].cumsum(2)[..., ::-1] > through, ends, 2.0), move)
            )
            ways = total[..., 0]
        return _AnswerShares(answers, tuple(levels[::-1]))

    @cached_property
    def _answer(self) -> Int[np.ndarray, " state"]:
        return np.asarray(self.automaton.allowed.argmax(1), np.int32)


@lru_cache(maxsize=16)
def make_prompts(automaton: Automaton) -> Prompts:
    """The same object for the same automaton, since its tables take a while."""
    return Prompts(automaton)
