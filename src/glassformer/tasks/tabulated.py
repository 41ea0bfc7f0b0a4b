"""A rule as data: its automaton as text, which TOML, JSON and the metadata of weights can carry.

A user's rule is Python code where it is written, and this everywhere else: what a folder or a file from
somebody else holds is read, and never run. Counting 0 1 0 1, whose states are the start, `0` and `1`:

>>> from glassformer.tasks import make_rule
>>> rule = as_data(make_rule("successor", high=1), name="count")
>>> rule.next, rule.choices, rule.chooses
(('1 2', '1 2', '1 2'), ('free 0.5 0.5', 'only 0.0 1.0', 'only 1.0 0.0'), '0 1 2')
>>> tabulate(rule).allowed.tolist()
[[True, True], [False, True], [True, False]]
"""

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int32

from glassformer.errors import UserError, require
from glassformer.tasks.automaton import MOST_STATES, Automaton, require_room, tabulate
from glassformer.tasks.choice import Choice
from glassformer.tasks.rule import PLUS, RULES, Rule, State

ONLY, FREE = "only", "free"
WORDS = 1_000  # characters of a text that is for people
ROUNDING = 1e-9  # by which the chances of a state may miss 1


@dataclass(frozen=True)
class Tabulated(Rule):
    """A rule that is its own table; states are numbered, and the first is the start."""

    name: str = ""  # type: ignore[misc]  # other rules have it in their class
    operator: bool = False  # type: ignore[misc]  # the same
    about: str = ""  # what it says, in words
    settings: str = ""  # that its class was given, in words
    digest: str = ""  # sha256 of the tokens and of all that follows
    choices: tuple[str, ...] = ()  # each is `only` or `free`, then a chance per token
    chooses: str = ""  # the choice of each state
    next: tuple[str, ...] = ()  # of each state, the state after each token

    def __post_init__(self) -> None:
        super().__post_init__()
        plain = bool(self.name) and all(letter.isalnum() or letter in "-_." for letter in self.name)
        require(plain and len(self.name) <= 100, "name", "letters, digits, '-', '_' and '.'", self.name[:100])
        require(not is_built_in(self.name), "name", "another than that of a built-in rule", self.name)
        for field in ("about", "settings"):
            size = len(getattr(self, field))
            require(size <= WORDS, field, f"a text of at most {WORDS} characters", f"one of {size:,}")
        tables = (self.low, self.high, self.operator, self.choices, self.chooses, self.next)
        is_whole = self.digest == digest_tables(*tables)
        require(is_whole, "digest", "that of the rule's tables", self.digest[:64])
        require(1 <= len(self.next) <= MOST_STATES, "next", f"1 to {MOST_STATES} states", len(self.next))
        require_room(max(len(self.next), len(self.choices)), len(self.values()))
        _ = self.stored  # tables that do not fit together say so here

    @cached_property
    def stored(self) -> Automaton:
        """The automaton, each part of it checked."""
        chance, constrained = _read_choices(self.choices, len(self.values()))
        chooses = _read_numbers("chooses", self.chooses, len(self.next), len(chance))
        rows = [_read_numbers("next", row, len(self.values()), len(self.next)) for row in self.next]
        probability, is_constrained = chance[chooses], constrained[chooses]
        allowed = (probability > 0) | ~is_constrained[:, None]
        states = tuple(range(len(rows)))
        return Automaton(self.tokens(), states, 0, np.stack(rows), probability, is_constrained, allowed)

    def describe(self) -> str:
        return self.about

    def start(self) -> State:
        return self.stored.start

    def choose(self, state: int) -> Choice:
        row = self.stored.probability[state]
        weights = {self.values()[token]: float(row[token]) for token in np.flatnonzero(row)}
        return Choice(weights, bool(self.stored.constrained[state]))

    def after(self, state: int, token: int | str) -> State:
        return int(self.stored.next[state, self.values().index(token)])


def as_data(rule: Rule, name: str | None = None) -> Tabulated:
    """The same rule as its table; its settings are kept in words."""
    automaton = tabulate(rule)
    expected = (*range(rule.low, rule.high + 1), *([PLUS] if rule.operator else []))
    require(
        rule.values() == expected, f"the tokens of {rule.name}", "the integers low..high, and +", "others"
    )
    rows = [_write_choice(*row) for row in zip(automaton.constrained, automaton.probability, strict=True)]
    choices = list(dict.fromkeys(rows))
    number = {choice: str(place) for place, choice in enumerate(choices)}
    chooses = " ".join(number[row] for row in rows)
    following = tuple(" ".join(map(str, row)) for row in automaton.next.tolist())
    return Tabulated(
        low=rule.low,
        high=rule.high,
        name=name or rule.name,
        operator=rule.operator,
        about=rule.describe()[:WORDS],
        settings=", ".join(f"{one.name} = {getattr(rule, one.name)!r}" for one in fields(rule))[:WORDS],
        digest=digest_tables(rule.low, rule.high, rule.operator, choices, chooses, following),
        choices=tuple(choices),
        chooses=chooses,
        next=following,
    )


def is_data(rule: Rule) -> bool:
    """Whether a rule can be written down as it is: a built-in one by its name, a table by its rows."""
    return isinstance(rule, Tabulated) or is_built_in(rule.name)


def is_built_in(name: str) -> bool:
    return name in RULES and RULES[name].__module__.startswith("glassformer.")


def digest_tables(*tables: object) -> str:
    """What makes the rule: two tables with the same digest are the same rule."""
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()


def _write_choice(constrained: np.bool_, probability: Float[np.ndarray, " tok"]) -> str:
    """Chances are written with all their digits, so that reading gives the same bits."""
    return " ".join([ONLY if constrained else FREE, *map(repr, probability.tolist())])


def _read_choices(
    choices: tuple[str, ...], tokens: int
) -> tuple[Float[np.ndarray, "choice tok"], Bool[np.ndarray, " choice"]]:
    """The chances of each choice, and whether the rule has a say there."""
    chance = np.empty((len(choices), tokens))
    constrained = np.empty(len(choices), bool)
    for place, choice in enumerate(choices):
        kind, *words = choice.split() or [""]
        is_good = kind in (ONLY, FREE) and len(words) == tokens
        require(is_good, "choices", f"'only' or 'free' and {tokens} chances", choice[:60])
        chance[place], constrained[place] = _read_chances(words), kind == ONLY
    return chance, constrained


def _read_chances(words: list[str]) -> Float[np.ndarray, " tok"]:
    try:
        chances = np.array([float(word) for word in words])
    except ValueError as error:
        raise UserError(f"choices must hold chances, but there is a {error}") from None
    is_good = (chances >= 0).all() and abs(chances.sum() - 1) <= ROUNDING
    require(bool(is_good), "choices", "chances of at least 0 that sum to 1", " ".join(words)[:60])
    return chances


def _read_numbers(field: str, text: str, count: int, end: int) -> Int32[np.ndarray, " number"]:
    """So many numbers, each from 0 to before `end`."""
    words = text.split()
    is_good = len(words) == count and all(word.isascii() and word.isdigit() for word in words)
    numbers = [int(word) if len(word) < 10 else end for word in words] if is_good else []
    is_good = is_good and all(number < end for number in numbers)
    require(is_good, field, f"{count} whole numbers below {end}", text[:60])
    return np.array(numbers, np.int32)
