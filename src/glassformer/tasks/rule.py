"""A rule: its fields are its configuration, three small methods are its meaning.

>>> rule = make_rule("plus_last_even", p=0.5)
>>> state = rule.start()
>>> for token in (4, 7, "+"):
...     state = rule.after(state, token)
>>> rule.choose(state)                    # 4 7 + must be followed by 4
Choice(weights={4: 1.0}, constrained=True)
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, TypeAlias, TypeVar

from glassformer.errors import UserError, require, unknown
from glassformer.tasks.choice import Choice, Token

PLUS = "+"
MOST_TOKENS = 4_096  # integers of a vocabulary: far beyond any rule here, and small for any machine
LARGEST = 10**9  # integer of a vocabulary, either way

# Whatever a rule must remember of the tokens so far; any hashable value.
State: TypeAlias = Any

KINDS: dict[type, str] = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


@dataclass(frozen=True)
class Rule(ABC):
    """Strings of the integers low..high (and `+` for operator rules), made by an automaton."""

    low: int = 0  # smallest integer of the vocabulary
    high: int = 10  # largest integer of the vocabulary

    name: ClassVar[str]
    operator: ClassVar[bool] = False  # whether "+" is the last token of the vocabulary

    def __post_init__(self) -> None:
        _require_kinds(self)
        require(self.high > self.low, "high", f"an integer above low = {self.low}", self.high)
        size = self.high - self.low + 1
        require(size <= MOST_TOKENS, "high", f"such that low..high holds at most {MOST_TOKENS}", self.high)
        require(abs(self.low) <= LARGEST, "low", "between -10^9 and 10^9", self.low)

    @abstractmethod
    def start(self) -> State:
        """The state before the first token."""

    @abstractmethod
    def choose(self, state: State) -> Choice:
        """What may come next in this state."""

    @abstractmethod
    def after(self, state: State, token: Any) -> State:
        """The state once this token (an integer, or "+") was read, also where it breaks the rule."""

    @property
    def stored(self) -> Any:
        """The automaton of a rule that is a table already; other rules are explored."""
        return None

    def describe(self) -> str:
        """The rule in its own words: the first line of its docstring, where it has one."""
        words = (type(self).__doc__ or "").strip().split("\n")[0]
        return "" if words.startswith(f"{type(self).__name__}(") else words

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

    def tokens(self) -> tuple[str, ...]:
        """The vocabulary as text: token id -> label."""
        return tuple(str(value) for value in self.values())


RULES: dict[str, type[Rule]] = {}

AnyRule = TypeVar("AnyRule", bound=Rule)


def register(rule: type[AnyRule]) -> type[AnyRule]:
    """Class decorator: make the rule known by its name."""
    name = getattr(rule, "name", None)
    require(isinstance(name, str) and name != "", f"the name of {rule.__name__}", "a text", name)
    if name in RULES:
        raise UserError(f"there is a rule called '{name}' already; give {rule.__name__} another name")
    RULES[rule.name] = rule
    return rule


def make_rule(name: str, **settings: object) -> Rule:
    """The named rule with these settings; the others keep their defaults."""
    if name not in RULES:
        raise unknown("rule", name, RULES)
    known = [field.name for field in fields(RULES[name])]
    for setting in settings:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    return RULES[name](**settings)  # type: ignore[arg-type]  # __post_init__ checks the kinds


def require_chance(field: str, value: float) -> None:
    """A probability strictly between 0 and 1: both branches of the generator must occur."""
    require(0 < value < 1, field, "a probability between 0 and 1", value)


def require_some(field: str, values: Iterable[int], what: str, got: int) -> None:
    """The range must hold at least one integer of the kind that the rule draws from."""
    require(any(True for _ in values), field, f"such that low..high holds {what}", got)


def _require_kinds(rule: Rule) -> None:
    """Each field must be of its default's kind (an integer also serves as a number)."""
    for field in fields(rule):
        kind, got = type(field.default), getattr(rule, field.name)
        if field.default is MISSING or kind not in KINDS:
            continue
        accepted = (int, float) if kind is float else (kind,)
        fits = isinstance(got, accepted) and (kind is bool) == isinstance(got, bool)
        require(fits, field.name, KINDS[kind], got)
