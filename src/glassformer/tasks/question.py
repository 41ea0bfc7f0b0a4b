"""A question: a prompt of one length, and the one token that answers it.

Its class says what may stand at each position of the prompt, what is remembered of the tokens read, and what
answers them. All inputs can be counted, and so decided: `3 4 =` is one of 5 x 5 for sums modulo 5.

>>> from glassformer.tasks import make_task
>>> task = make_task("modular", p=5)
>>> task.slots()[0], task.slots()[2], task.length
(range(0, 5), ('=',), 4)
>>> task.choose(task.read_all(3, 4, "="))              # 3 + 4 is 2 modulo 5
Choice(weights={2: 1.0}, constrained=True)
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from glassformer.core.errors import require_value
from glassformer.tasks.automaton import tabulate_automaton
from glassformer.tasks.choice import Choice, Token, only, uniform
from glassformer.tasks.prompts import Prompts
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.strings import State, Strings
from glassformer.tasks.task import TaskWords, require_field_kinds

if TYPE_CHECKING:
    from glassformer.tasks.sampler import Sampler

_LOST: State = (
    -1,
    None,
)  # after a token that the prompt cannot have, and after the answer: anything may come


@dataclass(frozen=True)
class Question(Strings, ABC):
    """A prompt and its answer; a state is the number of tokens read and what is remembered of them."""

    family = "question"
    words = TaskWords(
        model="model",
        ability="answers a prompt",
        input="prompt",
        inputs="prompts",
        held_out="prompts",
        progress="of prompts right",
        error="prompts answered wrongly",
        demand="the answer is",
        counted="prompts",
        fails="are answered wrongly",
    )
    best_by = ("whole_accuracy", "smallest_margin")
    proves_seeds = True
    has_one_answer = True

    balance: float = 0.5  # share of the prompts to train on that are drawn with all answers equally likely

    def __post_init__(self) -> None:
        require_field_kinds(self)
        require_value(0 <= self.balance <= 1, "balance", "a share between 0 and 1", self.balance)

    @abstractmethod
    def slots(self) -> Sequence[Sequence[Token]]:
        """What may stand at each position of the prompt, each equally likely."""

    @abstractmethod
    def begin(self) -> Any:
        """What is remembered before the first token."""

    @abstractmethod
    def read(self, memory: Any, token: Any) -> Any:
        """What is remembered once this token of the prompt was read."""

    @abstractmethod
    def answer(self, memory: Any) -> Token:
        """The token that answers the prompt."""

    @cached_property
    def _slots(self) -> tuple[Sequence[Token], ...]:
        return tuple(self.slots())

    def values(self) -> tuple[Token, ...]:
        """The tokens of all positions, numbers first, each once."""
        every = dict.fromkeys(token for slot in self._slots for token in slot)
        return tuple(sorted(every, key=lambda token: isinstance(token, str)))

    @property
    def length(self) -> int:
        return len(self._slots) + 1

    def start(self) -> State:
        return 0, self.begin()

    def choose(self, state: State) -> Choice:
        read, memory = state
        if state == _LOST:
            return uniform(self.values())
        return uniform(self._slots[read]) if read < len(self._slots) else only([self.answer(memory)])

    def after(self, state: State, token: Any) -> State:
        read, memory = state
        fits = 0 <= read < len(self._slots) and token in self._slots[read]
        return (read + 1, self.read(memory, token)) if fits else _LOST

    def read_all(self, *tokens: Token) -> State:
        """The state after these tokens."""
        state = self.start()
        for token in tokens:
            state = self.after(state, token)
        return state

    def sampler(self, data: Sequences, context: int) -> "Sampler":
        from glassformer.tasks.sampler import PromptSampler

        return PromptSampler(self)

    def require_fit(self, context: int, data: Sequences) -> None:
        size = self.length - 1
        require_value(
            context == size, "model.context", f"{size}, the prompt's (--model.context {size})", context
        )

    def random_inputs(self, size: int, count: int) -> tuple[Int[np.ndarray, "pos batch"], int]:
        """Prompts, whose last position alone is asked."""
        return Prompts(tabulate_automaton(self)).drawn(np.random.default_rng(0), count), 1

    def held_out(self, count: int) -> int:
        """No more than there are."""
        return min(count, self.count_inputs(self.length - 1))

    def count_inputs(self, context: int) -> int:
        return Prompts(tabulate_automaton(self)).count

    def name_inputs(self, count: str, context: int) -> str:
        return f"{count} prompts"

    def usual_settings(self) -> dict[str, Any]:
        """A context of one prompt."""
        return {"model": {"context": self.length - 1}}
