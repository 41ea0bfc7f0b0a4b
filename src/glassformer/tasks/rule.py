"""A rule: its fields are its configuration, three small methods are its meaning.

>>> rule = make_rule("plus_last_even", p=0.5)
>>> state = rule.start()
>>> for token in (4, 7, "+"):
...     state = rule.after(state, token)
>>> rule.choose(state)                    # 4 7 + must be followed by 4
Choice(weights={4: 1.0}, constrained=True)
"""

from abc import ABC
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from glassformer.core.errors import require_value
from glassformer.tasks.choice import Token
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.strings import State, Strings
from glassformer.tasks.task import TASKS, TaskWords, make_task, register, require_field_kinds

if TYPE_CHECKING:
    from glassformer.tasks.sampler import Sampler

__all__ = [
    "PLUS",
    "Rule",
    "State",
    "list_rules",
    "make_rule",
    "register",
    "require_chance",
    "require_integers",
]

PLUS = "+"
MOST_TOKENS = 4_096  # integers of a vocabulary: far beyond any rule here, and small for any machine
_LARGEST = 10**9  # integer of a vocabulary, either way


@dataclass(frozen=True)
class Rule(Strings, ABC):
    """Strings of the integers low..high (and `+` for operator rules), made by an automaton."""

    low: int = 0  # smallest integer of the vocabulary
    high: int = 10  # largest integer of the vocabulary

    family = "rule"
    words = TaskWords(
        model="rule model",
        ability="follows a rule",
        input="context",
        inputs="inputs",
        held_out="windows",
        progress="right",
        error="rule error",
        demand="the rule demands",
        counted="full contexts",
        fails="break the rule",
    )
    best_by = ("argmax_accuracy", "right_probability")  # a rule is followed position by position
    proves_seeds = False  # a proof covers every context and takes long
    has_one_answer = False
    operator: ClassVar[bool] = False  # whether "+" is the last token of the vocabulary

    def __post_init__(self) -> None:
        require_field_kinds(self)
        require_value(self.high > self.low, "high", f"an integer above low = {self.low}", self.high)
        size = self.high - self.low + 1
        require_value(
            size <= MOST_TOKENS, "high", f"such that low..high holds at most {MOST_TOKENS}", self.high
        )
        require_value(abs(self.low) <= _LARGEST, "low", "between -10^9 and 10^9", self.low)

    def integers(self) -> range:
        """The integers of the vocabulary, in order."""
        return range(self.low, self.high + 1)

    def evens(self) -> tuple[int, ...]:
        """The even integers of the vocabulary."""
        return tuple(x for x in self.integers() if x % 2 == 0)

    def odds(self) -> tuple[int, ...]:
        """The odd integers of the vocabulary."""
        return tuple(x for x in self.integers() if x % 2 == 1)

    def clamp(self, value: int) -> int:
        """The integer of the vocabulary nearest to the value."""
        return min(max(value, self.low), self.high)

    def values(self) -> tuple[Token, ...]:
        """The vocabulary: token id -> value."""
        return (*self.integers(), PLUS) if self.operator else tuple(self.integers())

    def sampler(self, data: Sequences, context: int) -> "Sampler":
        from glassformer.tasks.sampler import WindowSampler

        return WindowSampler(self, data, context)

    def require_fit(self, context: int, data: Sequences) -> None:
        most = data.min_length - 1
        fits = f"at most {most}, one less than data.min_length"
        require_value(context <= most, "model.context", fits, context)

    def count_inputs(self, context: int) -> int:
        """Contexts of all lengths."""
        return sum(len(self.values()) ** length for length in range(1, context + 1))

    def name_inputs(self, count: str, context: int) -> str:
        return f"{count} contexts of 1 to {context} tokens"


def list_rules() -> dict[str, type[Rule]]:
    """Every registered rule by its name."""
    return {name: task for name, task in TASKS.items() if issubclass(task, Rule)}


def make_rule(name: str, **settings: object) -> Rule:
    """The named rule with these settings; the others keep their defaults."""
    rule: Rule = make_task(name, **settings)
    return rule


def require_chance(field: str, value: float) -> None:
    """A probability strictly between 0 and 1: both branches of the generator must occur."""
    require_value(0 < value < 1, field, "a probability between 0 and 1", value)


def require_integers(field: str, values: Iterable[int], what: str, got: int) -> None:
    """The range must hold at least one integer of the kind that the rule draws from."""
    require_value(any(True for _ in values), field, f"such that low..high holds {what}", got)
