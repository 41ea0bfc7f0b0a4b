"""Rules with an operator: numbers, now and then a `+`, and the rule says what follows the `+`."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from glassformer.tasks.choice import Choice, Token, free, only, uniform
from glassformer.tasks.rule import PLUS, Rule, State, register, require_chance, require_integers


@dataclass(frozen=True)
class OperatorRule(Rule):
    """The skeleton: a number first; after a number `+` with chance p; after `+` what the rule wants.

    A state is (memory, previous), where previous is "" at the start, "number" or "+".
    """

    p: float = 0.3  # chance of `+` after a number
    operator = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_chance("p", self.p)
        require_integers("high", self.evens(), "an even integer", self.high)

    @abstractmethod
    def remember(self, memory: State, number: int) -> State:
        """The memory once this number was read."""

    @abstractmethod
    def answers(self, memory: State) -> Iterable[int]:
        """The numbers that are right after `+`."""

    def start(self) -> State:
        return None, ""

    def choose(self, state: State) -> Choice:
        memory, previous = state
        if previous == PLUS:
            return only(self.answers(memory))
        if previous == "":
            return uniform(self.integers())
        numbers = self.integers()
        return free({**dict.fromkeys(numbers, (1 - self.p) / len(numbers)), PLUS: self.p})

    def after(self, state: State, token: Token) -> State:
        memory, _ = state
        return (self.remember(memory, token), "number") if isinstance(token, int) else (memory, PLUS)


@register
@dataclass(frozen=True)
class PlusLastEven(OperatorRule):
    """After `+` comes the last even number: `4 7 + 4`; any even number when there was none: `7 + 2`.

    >>> rule = PlusLastEven()
    >>> rule.after((4, "number"), 7), rule.after((4, "number"), 6)
    ((4, 'number'), (6, 'number'))
    """

    name = "plus_last_even"

    def remember(self, memory: int | None, number: int) -> int | None:
        return memory if number % 2 else number

    def answers(self, memory: int | None) -> Iterable[int]:
        return self.evens() if memory is None else [memory]


@register
@dataclass(frozen=True)
class PlusMaxOfTwo(OperatorRule):
    """After `+` comes the larger of the two numbers before it: `3 8 + 8`, `8 + 8 2 + 8`, `5 + 5`.

    >>> rule = PlusMaxOfTwo()
    >>> rule.answers(rule.remember((3, 8), 2))   # 3 8 2 +
    [8]
    """

    high: int = 20
    name = "plus_max_of_two"

    def remember(self, memory: tuple[int, ...] | None, number: int) -> tuple[int, ...]:
        return (*(memory or ())[-1:], number)

    def answers(self, memory: tuple[int, ...] | None) -> Iterable[int]:
        return [max(memory)] if memory else self.integers()


@register
@dataclass(frozen=True)
class PlusMeansEven(OperatorRule):
    """After `+` comes any even number: `3 + 14` is right, `3 + 5` is wrong.

    >>> list(PlusMeansEven(high=5).answers(None))
    [0, 2, 4]
    """

    high: int = 20
    p: float = 0.25
    name = "plus_means_even"

    def remember(self, memory: None, number: int) -> None:
        return None

    def answers(self, memory: None) -> Iterable[int]:
        return self.evens()
