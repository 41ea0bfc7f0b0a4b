"""Strings of an automaton: what rules and questions share.

Three small methods are its meaning; a state is whatever must be remembered of the tokens so far.

>>> from glassformer.tasks import make_task
>>> rule = make_task("plus_last_even", p=0.5)
>>> state = rule.start()
>>> for token in (4, 7, "+"):
...     state = rule.after(state, token)
>>> rule.choose(state)                    # 4 7 + must be followed by 4
Choice(weights={4: 1.0}, constrained=True)
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Int

from glassformer.core.errors import UserError
from glassformer.tasks.choice import Choice, Token
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.task import Task

# Whatever a task must remember of the tokens so far; any hashable value.
State: TypeAlias = Any


class Strings(Task):
    """Strings of tokens, made and judged by an automaton."""

    @abstractmethod
    def values(self) -> tuple[Token, ...]:
        """The vocabulary: token id -> value, an integer or a mark such as "+"."""

    @abstractmethod
    def start(self) -> State:
        """The state before the first token."""

    @abstractmethod
    def choose(self, state: State) -> Choice:
        """What may come next in this state."""

    @abstractmethod
    def after(self, state: State, token: Any) -> State:
        """The state once this token was read, also where it breaks the rule."""

    @property
    def stored(self) -> Any:
        """The automaton of a task that is a table already; others are explored."""
        return None

    @property
    def length(self) -> int:
        """Tokens of every string, prompt and answer together; 0: strings never end."""
        return 0

    def own_lengths(self, data: Sequences) -> Sequences:
        """The data with the lengths that the strings have, whatever it says."""
        return replace(data, min_length=self.length, max_length=self.length) if self.length else data

    def tokens(self) -> tuple[str, ...]:
        return tuple(str(value) for value in self.values())

    def random_inputs(self, size: int, count: int) -> tuple[Int[np.ndarray, "pos batch"], int]:
        """Windows of random tokens, which hold what lawful strings do not."""
        random = np.random.default_rng(0)
        return random.integers(0, len(self.values()), (size, count)), size

    def positions(self, context: int) -> int:
        return context


def require_strings(task: Task, model: str) -> Strings:
    """The task of a model that reads strings of an automaton; one sentence for any other."""
    if not isinstance(task, Strings):
        raise UserError(f"{model} reads no strings of an automaton: it was made for {task.name}")
    return task
