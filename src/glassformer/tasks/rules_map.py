"""Rules where each token is a fixed function of the one before it."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from glassformer.core.errors import require_bounds
from glassformer.tasks.choice import Choice, only, uniform
from glassformer.tasks.rule import Rule, State, register


@dataclass(frozen=True)
class MapRule(Rule):
    """The skeleton: any number first, then always the image of the last token, which is the state."""

    high: int = 9

    @abstractmethod
    def image(self, number: int) -> int:
        """The number that must follow this one."""

    def start(self) -> State:
        return None

    def choose(self, state: int | None) -> Choice:
        return uniform(self.integers()) if state is None else only([self.image(state)])

    def after(self, state: int | None, token: int) -> State:
        return token


@register
@dataclass(frozen=True)
class Successor(MapRule):
    """Counting up, then from the start again: `7 8 9 0 1` for the integers 0 to 9.

    >>> Successor().image(9)
    0
    """

    name = "successor"

    def image(self, number: int) -> int:
        return self.low + (number - self.low + 1) % len(self.integers())


@register
@dataclass(frozen=True)
class ConditionalTransform(MapRule):
    """An even number is halved, an odd one grows by one (modulo their count): `6 3 4 2 1 2`.

    >>> [ConditionalTransform().image(x) for x in (6, 3, 9)]
    [3, 4, 0]
    """

    name = "conditional_transform"

    def image(self, number: int) -> int:
        return self.clamp((number + 1) % len(self.integers()) if number % 2 else number // 2)


@register
@dataclass(frozen=True)
class LookupPermutation(MapRule):
    """Each number is followed by its image under one fixed random permutation.

    >>> rule = LookupPermutation(high=3)
    >>> sorted(rule.image(x) for x in rule.integers())
    [0, 1, 2, 3]
    """

    seed: int = 42  # of the permutation
    name = "lookup_permutation"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, seed=(-(2**53), 2**53))

    def image(self, number: int) -> int:
        return self.low + _draw_permutation(self.seed, len(self.integers()))[number - self.low]


@lru_cache
def _draw_permutation(seed: int, count: int) -> tuple[int, ...]:
    """A permutation of 0..count-1; the seed alone decides which."""
    return tuple(Random(seed).sample(range(count), count))
