"""Rules about kinds of numbers: even or odd, small or large. Each allows a set, never just one token."""

from dataclasses import dataclass

from glassformer.core.errors import require_value
from glassformer.tasks.choice import Choice, only, uniform
from glassformer.tasks.rule import Rule, State, register

_TEN = 10


@register
@dataclass(frozen=True)
class OddEvenIndex(Rule):
    """Even numbers at positions 0, 2, 4, ..., odd ones between: `4 7 0 3`.

    >>> OddEvenIndex(high=5).choose(1).weights    # a state is the position modulo 2
    {1: 1.0, 3: 1.0, 5: 1.0}
    """

    high: int = 20
    name = "odd_even_index"

    def start(self) -> State:
        return 0

    def choose(self, state: int) -> Choice:
        return only(self.odds() if state else self.evens())

    def after(self, state: int, token: int) -> State:
        return 1 - state


@register
@dataclass(frozen=True)
class EvenToOddTransition(Rule):
    """After an even number comes an odd one: `4 7`; after an odd one anything: `7 7 4`.

    >>> EvenToOddTransition(high=3).choose(True).weights    # a state: whether the last was even
    {1: 1.0, 3: 1.0}
    """

    high: int = 20
    name = "even_to_odd_transition"

    def start(self) -> State:
        return False

    def choose(self, state: bool) -> Choice:
        return only(self.odds()) if state else uniform(self.integers())

    def after(self, state: bool, token: int) -> State:
        return token % 2 == 0


@dataclass(frozen=True)
class ParityPairRule(Rule):
    """The skeleton: two free numbers, then a set picked by whether the last two have equal parity.

    A state is the parities of the last two tokens.
    """

    high: int = 20

    def start(self) -> State:
        return ()

    def after(self, state: tuple[int, ...], token: int) -> State:
        return (*state, token % 2)[-2:]


@register
@dataclass(frozen=True)
class ParityBased(ParityPairRule):
    """Two numbers of equal parity are followed by an even one, others by an odd one: `3 5 2 7 1 8`.

    >>> ParityBased(high=3).choose((1, 1)).weights
    {0: 1.0, 2: 1.0}
    """

    name = "parity_based"

    def choose(self, state: tuple[int, ...]) -> Choice:
        if len(state) < 2:
            return uniform(self.integers())
        return only(self.evens() if state[0] == state[1] else self.odds())


@register
@dataclass(frozen=True)
class TwoTokenParity(ParityPairRule):
    """Two numbers of equal parity are followed by one below 10, others by 10 or more: `3 5 8 11`.

    >>> TwoTokenParity(low=8, high=12).choose((1, 0)).weights
    {10: 1.0, 11: 1.0, 12: 1.0}
    """

    name = "two_token_parity"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_value(self.low < _TEN, "low", "below 10", self.low)
        require_value(self.high >= _TEN, "high", "at least 10", self.high)

    def choose(self, state: tuple[int, ...]) -> Choice:
        if len(state) < 2:
            return uniform(self.integers())
        is_small = state[0] == state[1]
        return only(x for x in self.integers() if (x < _TEN) == is_small)


@register
@dataclass(frozen=True)
class EvenGreaterThan10(Rule):
    """After an even number comes one above 10, after an odd one a number below 10: `4 13 8 15`.

    >>> EvenGreaterThan10(low=8, high=12).choose(0).weights    # a state is the last parity
    {11: 1.0, 12: 1.0}
    """

    high: int = 20
    name = "even_greater_than_10"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_value(self.low < _TEN, "low", "below 10", self.low)
        require_value(self.high > _TEN, "high", "above 10", self.high)

    def start(self) -> State:
        return None

    def choose(self, state: int | None) -> Choice:
        if state is None:
            return uniform(self.integers())
        return only(x for x in self.integers() if (x < _TEN if state else x > _TEN))

    def after(self, state: int | None, token: int) -> State:
        return token % 2
