"""The inputs of a model as figures use them: which to follow, which to measure on, what must come next.

One class per family of tasks, and the only place under pictures/ where the family is asked for:

>>> from glassformer.tasks import make_task
>>> make_inputs(make_task("modular", p=11), 3).read("3 7 =")
array([ 3,  7, 11], dtype=int32)
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from glassformer.core.errors import UserError, require_value
from glassformer.models.adding import require_summand
from glassformer.pictures.measure.demand import find_source
from glassformer.pictures.measure.trials import Trials, draw_prompts, draw_sum_trials, draw_trials
from glassformer.proofs.contexts import Demand, list_demands
from glassformer.tasks import (
    Addition,
    Sequences,
    Task,
    compute_entropy_floor,
    tabulate_automaton,
    to_digits,
    to_numbers,
)
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences
from glassformer.tasks.operations import ADD
from glassformer.tasks.task import Family

_DEMOS = 3  # sequences that a figure of several shows
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Inputs(ABC):
    """What a model reads: the part of a subject that differs by the family of its task."""

    task: Any  # of the class's own family
    context: int  # positions that the model has

    law: ClassVar[str]  # what says which token comes next: the `rule`, the `task`
    one: ClassVar[str]  # one whole input
    options: ClassVar[tuple[str, ...]]  # of the command line, that choose an input or how it is shown
    meant_for: ClassVar[str]  # the models that these options are for
    instead: ClassVar[str]  # the option that chooses an input
    usual: ClassVar[str]  # what is drawn where nothing is said: `figures`, `panels`, or what `fits`
    asked: ClassVar[slice] = slice(None)  # the positions whose answers count

    @property
    def has_columns(self) -> bool:
        """Whether it is two numbers, digit under digit, that are added."""
        return False

    @abstractmethod
    def trials(self, count: int) -> Trials:
        """At most so many inputs whose next token the task fixes, the same every time."""

    @abstractmethod
    def follow(self, texts: tuple[str, ...], pair: Pair | None) -> tuple[Int[np.ndarray, " pos"], ...]:
        """The inputs that are followed through the model: those of the user, then chosen ones."""

    def automaton(self) -> Automaton | None:
        """The task as tables, where it is one."""
        return None

    def demands(self, sequence: Int[np.ndarray, " pos"]) -> list[Demand]:
        """The tokens that may follow each position, where the task says so and the tokens tell."""
        return [None] * len(sequence)

    def lengths(self, data: Sequences) -> Sequences:
        """The data with the lengths that the task's own strings have."""
        return data

    def floor(self, data: Sequences) -> float:
        """The least mean loss that a model with this context can have: none where every answer is told."""
        return 0.0

    def source(self, sequence: Int[np.ndarray, " pos"]) -> int | None:
        """The position of the one token that decides what follows; none where no token does so alone."""
        return None


class _RuleInputs(Inputs):
    """Windows of endless strings."""

    law, one, usual = "rule", "context", "figures"
    options, meant_for, instead = ("sequences", "query", "dims"), "rules", "--sequence"

    def automaton(self) -> Automaton:
        return tabulate_automaton(self.task)

    def trials(self, count: int) -> Trials:
        return draw_trials(self.automaton(), self.context, count)

    def read(self, text: str) -> Int[np.ndarray, " pos"]:
        """The tokens of a text such as "4 1 + 4"; of a longer one than the model sees, the last tokens."""
        return _read_tokens(self.automaton(), text)[-self.context :]

    def follow(self, texts: tuple[str, ...], pair: Pair | None = None) -> tuple[Int[np.ndarray, " pos"], ...]:
        chosen = [self.read(text) for text in texts]
        return tuple([*chosen, *self.choose()][:_DEMOS])

    def choose(self) -> list[Int[np.ndarray, " pos"]]:
        """Inputs with something to predict, as different in source and answer as a hundred allow."""
        automaton = self.automaton()
        trials = draw_trials(automaton, self.context, 100, seed=5)
        if not len(trials):
            return list(draw_sequences(automaton, np.random.default_rng(5), _DEMOS, self.context).T)
        return [trials.contexts[index] for index in _most_different(trials)]

    def lengths(self, data: Sequences) -> Sequences:
        found: Sequences = self.task.own_lengths(data)
        return found

    def floor(self, data: Sequences) -> float:
        return compute_entropy_floor(self.automaton(), data, self.context)

    def demands(self, sequence: Int[np.ndarray, " pos"]) -> list[Demand]:
        return list_demands(self.automaton(), sequence, self.context)

    def source(self, sequence: Int[np.ndarray, " pos"]) -> int | None:
        return find_source(self.automaton(), sequence, self.context)


class _PromptInputs(_RuleInputs):
    """Whole prompts: every token counts, and only the last position has an answer."""

    law, one, usual = "task", "prompt", "fits"
    meant_for = "rules and prompts"
    asked = slice(-1, None)

    def trials(self, count: int) -> Trials:
        return draw_prompts(self.automaton(), count)

    def read(self, text: str) -> Int[np.ndarray, " pos"]:
        """A whole prompt such as "3 7 5"; no other has an answer."""
        tokens = _read_tokens(self.automaton(), text)
        require_value(len(tokens) == self.context, "--sequence", f"a prompt of {self.context} tokens", text)
        return tokens

    def choose(self) -> list[Int[np.ndarray, " pos"]]:
        trials = draw_prompts(self.automaton(), 100, seed=5)
        return [trials.contexts[index] for index in _most_different(trials)]

    def floor(self, data: Sequences) -> float:
        return 0.0

    def source(self, sequence: Int[np.ndarray, " pos"]) -> int | None:
        return None


class _SumInputs(Inputs):
    """Two numbers, and their sum as far as it is written."""

    law, one, usual = "task", "sum", "panels"
    options, meant_for, instead = ("pair",), "adders", "--pair A+B"
    asked = slice(-1, None)
    task: Addition

    @property
    def has_columns(self) -> bool:
        """Panels are about sums; what else is done with columns they do not say."""
        return self.task.does == ADD

    def trials(self, count: int) -> Trials:
        return draw_sum_trials(self.task, count)

    def follow(self, texts: tuple[str, ...], pair: Pair | None = None) -> tuple[Int[np.ndarray, " pos"], ...]:
        """One sum up to its middle digit: the pair's, or one that carries in every column."""
        digits, base = self.task.digits, self.task.base
        for letter, number in zip("AB", pair or (), strict=False):
            require_summand(letter, number, self.task)
        x, y = (to_digits([number], digits, base) for number in (pair or _make_carrying_pair(digits, base)))
        layout = self.task.written()
        written = list(layout.z_positions)[digits // 2]
        return (layout.encode(x, y, self.task.solve_digits(x, y))[:written, 0],)


INPUTS: dict[Family, type[Inputs]] = {"rule": _RuleInputs, "question": _PromptInputs, "addition": _SumInputs}


def make_inputs(task: Task, context: int) -> Any:
    """The inputs of a task, for a model with this context."""
    return INPUTS[task.family](task, context)


def _make_carrying_pair(digits: int, base: int) -> Pair:
    """Two numbers of so many digits with a carry in every column, each of which sums to the base.

    >>> _make_carrying_pair(4, base=10), _make_carrying_pair(2, base=2)
    ((6543, 4567), (3, 3))
    """
    lowest = max(1, base // 2 - 1)
    ascending = lowest + np.arange(digits) % min(4, base - lowest)  # highest digit first
    first, second = to_numbers(np.stack([base - ascending, ascending], 1)[::-1], base)
    return first, second


def _read_tokens(automaton: Automaton, text: str) -> Int[np.ndarray, " pos"]:
    tokens = automaton.ids(text)
    if not len(tokens):
        raise UserError(f"--sequence must hold tokens parted by blanks; valid: {', '.join(automaton.tokens)}")
    return tokens


def _most_different(trials: Trials) -> list[int]:
    """Three trials at most, each as rarely as can be with a source or an answer of those before it."""
    chosen: list[int] = []
    for _ in range(min(_DEMOS, len(trials))):
        used = [(int(trials.source[i]), int(trials.following[i])) for i in chosen]
        scores = [
            (
                np.sum([s == trials.source[i] for s, _ in used])
                + np.sum([f == trials.following[i] for _, f in used]),
                i,
            )
            for i in range(len(trials))
            if i not in chosen
        ]
        chosen.append(int(min(scores)[1]))
    return chosen
