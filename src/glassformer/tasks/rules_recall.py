"""Rules that bring back something read before: a token some positions back, or what it implies."""

from dataclasses import dataclass

from glassformer.core.errors import require_bounds, require_value
from glassformer.tasks.choice import Choice, Token, free, only, uniform
from glassformer.tasks.rule import Rule, State, register, require_chance

_SEVEN = 7


@register
@dataclass(frozen=True)
class Lucky7(Rule):
    """After a 7 comes the token before that 7: `3 7 3`; after a 7 at the start anything may come.

    A sequence that starts `7 7` is sevens for ever, since each 7 asks for the 7 before it. Drawn
    plainly, a tenth of all sequences do, and hold a third of all constrained positions; so after
    an opening 7 the generator draws another number, unless avoid_7_7 is off.

    >>> Lucky7().after(3, 7)      # a free state is the last token, a constrained one names the next
    ('copy', 3)
    """

    s: float = 0.25  # chance of a 7 at a free position, on top of a uniform draw
    avoid_7_7: bool = True  # never draw a second 7 after an opening 7
    name = "lucky7"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_chance("s", self.s)
        require_value(self.low <= _SEVEN, "low", "at most 7", self.low)
        require_value(self.high >= _SEVEN, "high", "at least 7", self.high)

    def start(self) -> State:
        return None

    def choose(self, state: State) -> Choice:
        if isinstance(state, tuple):
            return only([state[1]])
        if state == _SEVEN and self.avoid_7_7:
            return uniform(x for x in self.integers() if x != _SEVEN)
        return _often(_SEVEN, self.s, self.integers())

    def after(self, state: State, token: int) -> State:
        if token != _SEVEN or state is None:
            return token
        return ("copy", _SEVEN if isinstance(state, tuple) else state)


@register
@dataclass(frozen=True)
class StepBack(Rule):
    """After the trigger comes the value k positions before it: `1 2 3 9 1` with trigger 9 and k = 3.

    An opening `9 9 9 9` is nines for ever; it is rare enough (4%) to be left in.

    >>> StepBack().choose((1, 2, 3, 9))   # a state is the last k + 1 tokens
    Choice(weights={1: 1.0}, constrained=True)
    """

    trigger: int = 9
    k: int = 3  # positions back from the trigger
    t: float = 0.4  # chance of the trigger at a free position, on top of a uniform draw
    name = "step_back"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_value(self.trigger in self.integers(), "trigger", f"in {self.low}..{self.high}", self.trigger)
        require_bounds(self, k=(1, 4_096))
        require_chance("t", self.t)

    def start(self) -> State:
        return ()

    def choose(self, state: tuple[int, ...]) -> Choice:
        if len(state) > self.k and state[-1] == self.trigger:
            return only(state[:1])
        return _often(self.trigger, self.t, self.integers())

    def after(self, state: tuple[int, ...], token: int) -> State:
        return (*state, token)[-self.k - 1 :]


@register
@dataclass(frozen=True)
class CopyModulo(Rule):
    """The first k tokens repeat: `5 0 8 5 0 8 5` with k = 3.

    >>> CopyModulo().choose((5, 0, 8))
    Choice(weights={5: 1.0}, constrained=True)
    """

    high: int = 20
    k: int = 3  # length of the period
    name = "copy_modulo"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, k=(1, 4_096))

    def start(self) -> State:
        return ()

    def choose(self, state: tuple[int, ...]) -> Choice:
        return only(state[:1]) if len(state) == self.k else uniform(self.integers())

    def after(self, state: tuple[int, ...], token: int) -> State:
        return (*state, token)[-self.k :]


@register
@dataclass(frozen=True)
class EvenRepeatLastOdd(Rule):
    """After an even number comes the last odd one: `7 4 7`; before any odd number, anything: `4 2`.

    >>> EvenRepeatLastOdd().after((7, False), 4)   # (last odd number, previous is even)
    (7, True)
    """

    high: int = 20
    name = "even_repeat_last_odd"

    def start(self) -> State:
        return None, False

    def choose(self, state: tuple[int | None, bool]) -> Choice:
        last_odd, is_even = state
        return only([last_odd]) if is_even and last_odd is not None else uniform(self.integers())

    def after(self, state: tuple[int | None, bool], token: int) -> State:
        return (token, False) if token % 2 else (state[0], True)


@register
@dataclass(frozen=True)
class EvenAbsDiff(Rule):
    """After an even number comes its distance to the one before it: `3 10 7`; else anything.

    >>> EvenAbsDiff().choose((3, 10))     # a state is the last two tokens
    Choice(weights={7: 1.0}, constrained=True)
    """

    high: int = 20
    name = "even_abs_diff"

    def start(self) -> State:
        return ()

    def choose(self, state: tuple[int, ...]) -> Choice:
        if len(state) == 2 and state[1] % 2 == 0:
            return only([self.clamp(abs(state[1] - state[0]))])
        return uniform(self.integers())

    def after(self, state: tuple[int, ...], token: int) -> State:
        return (*state, token)[-2:]


def _often(favourite: int, chance: float, numbers: range) -> Choice:
    """The favourite with this chance, else a uniform draw (which may be the favourite, too)."""
    weights: dict[Token, float] = dict.fromkeys(numbers, (1 - chance) / len(numbers))
    weights[favourite] += chance
    return free(weights)
