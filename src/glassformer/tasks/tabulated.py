"""A rule as data: its automaton as text, which TOML, JSON and the metadata of weights can carry.

A user's rule is Python code where it is written, and this everywhere else: what a folder or a file from
somebody else holds is read, and never run. Counting 0 1 0 1, whose states are the start, `0` and `1`:

>>> from glassformer.tasks import make_rule
>>> rule = to_tabulated_rule(make_rule("successor", high=1), name="count")
>>> rule.next, rule.choices, rule.chooses
(('1 2', '1 2', '1 2'), ('free 0.5 0.5', 'only 0.0 1.0', 'only 1.0 0.0'), '0 1 2')
>>> tabulate_automaton(rule).allowed.tolist()
[[True, True], [False, True], [True, False]]
"""

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int32

from glassformer.core.errors import UserError, require_value
from glassformer.tasks.automaton import MOST_STATES, Automaton, require_table_room, tabulate_automaton
from glassformer.tasks.choice import Choice, Token
from glassformer.tasks.prompts import Prompts
from glassformer.tasks.question import Question
from glassformer.tasks.rule import MOST_TOKENS, PLUS, Rule
from glassformer.tasks.sequences import LONGEST
from glassformer.tasks.strings import State, Strings
from glassformer.tasks.task import Task, is_built_in

_ONLY, _FREE = "only", "free"
_WORDS = 1_000  # characters of a text that is for people
_MARKS = "+-*/=^%?:.|abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of labels that are no integers
_LONGEST_MARK = 8  # letters
_ROUNDING = 1e-9  # by which the chances of a state may miss 1


class _Table:
    """What both kinds of tables share: their automaton, checked, and the three methods read from it."""

    name: str
    about: str
    settings: str
    digest: str
    choices: tuple[str, ...]
    chooses: str
    next: tuple[str, ...]

    def values(self) -> tuple[Token, ...]:
        raise NotImplementedError

    def identity(self) -> tuple[object, ...]:
        """What the digest is taken of, beside the tables."""
        raise NotImplementedError

    def require_whole(self) -> None:
        """One sentence where a part does not fit the others."""
        plain = bool(self.name) and all(letter.isalnum() or letter in "-_." for letter in self.name)
        require_value(
            plain and len(self.name) <= 100, "name", "letters, digits, '-', '_' and '.'", self.name[:100]
        )
        require_value(not is_built_in(self.name), "name", "another than that of a built-in task", self.name)
        for field in ("about", "settings"):
            size = len(getattr(self, field))
            require_value(size <= _WORDS, field, f"a text of at most {_WORDS} characters", f"one of {size:,}")
        is_whole = self.digest == digest_tables(*self.identity(), self.choices, self.chooses, self.next)
        require_value(is_whole, "digest", "that of the rule's tables", self.digest[:64])
        require_value(
            1 <= len(self.next) <= MOST_STATES, "next", f"1 to {MOST_STATES} states", len(self.next)
        )
        require_table_room(max(len(self.next), len(self.choices)), len(self.values()))
        _ = self.stored  # tables that do not fit together say so here

    @cached_property
    def stored(self) -> Automaton:
        """The automaton, each part of it checked."""
        chance, constrained = _read_choices(self.choices, len(self.values()))
        chooses = _read_numbers("chooses", self.chooses, len(self.next), len(chance))
        rows = [_read_numbers("next", row, len(self.values()), len(self.next)) for row in self.next]
        probability, is_constrained = chance[chooses], constrained[chooses]
        allowed = (probability > 0) | ~is_constrained[:, None]
        labels, states = tuple(map(str, self.values())), tuple(range(len(rows)))
        length = getattr(self, "length", 0)
        return Automaton(labels, states, 0, np.stack(rows), probability, is_constrained, allowed, length)

    @property
    def is_data(self) -> bool:
        return True

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


@dataclass(frozen=True)
class TabulatedRule(_Table, Rule):
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
        Rule.__post_init__(self)
        self.require_whole()

    def values(self) -> tuple[Token, ...]:
        return Rule.values(self)

    def identity(self) -> tuple[object, ...]:
        return self.low, self.high, self.operator


@dataclass(frozen=True)
class TabulatedQuestion(_Table, Question):
    """A question that is its own table."""

    name: str = ""  # type: ignore[misc]  # other questions have it in their class
    labels: tuple[str, ...] = ()  # its tokens
    length: int = 0  # tokens of prompt and answer
    about: str = ""  # what it says, in words
    settings: str = ""  # that its class was given, in words
    digest: str = ""  # sha256 of the tokens, the length and of all that follows
    choices: tuple[str, ...] = ()  # as those of a rule
    chooses: str = ""
    next: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Question.__post_init__(self)
        is_good = all(_is_label(label) for label in self.labels) and len(set(self.labels)) == len(self.labels)
        expected = f"2 to {MOST_TOKENS} integers and marks of up to {_LONGEST_MARK} of the letters {_MARKS}"
        require_value(
            is_good and 2 <= len(self.labels) <= MOST_TOKENS, "labels", expected, str(self.labels)[:60]
        )
        require_value(2 <= self.length <= LONGEST, "length", f"2 to {LONGEST} tokens", self.length)
        self.require_whole()
        _ = Prompts(self.stored).slots  # a table that is no question says so here

    def values(self) -> tuple[Token, ...]:
        return tuple(int(label) if _is_integer(label) else label for label in self.labels)

    def identity(self) -> tuple[object, ...]:
        return self.labels, self.length

    def slots(self) -> tuple[tuple[Token, ...], ...]:
        every = self.values()
        return tuple(tuple(every[token] for token in slot) for slot in Prompts(self.stored).slots)

    def begin(self) -> State:
        return self.stored.start

    def read(self, memory: int, token: int | str) -> State:
        return self.after(memory, token)

    def answer(self, memory: int) -> Token:
        return self.values()[int(self.stored.allowed[memory].argmax())]


def to_data_task(task: Task) -> Task:
    """The same task as a file can carry it: by its name, or as its table, with its settings in words."""
    if task.is_data or not isinstance(task, Strings):
        return task
    return to_tabulated_question(task) if task.length else to_tabulated_rule(task)


def to_tabulated_rule(rule: Any, name: str | None = None) -> TabulatedRule:
    """A rule as its table."""
    expected = (*range(rule.low, rule.high + 1), *([PLUS] if rule.operator else []))
    require_value(
        rule.values() == expected, f"the tokens of {rule.name}", "the integers low..high, and +", "others"
    )
    tables = _write_tables(rule)
    digest = digest_tables(rule.low, rule.high, rule.operator, *tables.values())
    about = _write_words(rule) | {"digest": digest, "name": name or rule.name}
    return TabulatedRule(low=rule.low, high=rule.high, operator=rule.operator, **about, **tables)


def to_tabulated_question(question: Strings) -> TabulatedQuestion:
    tables, labels = _write_tables(question), question.tokens()
    digest = digest_tables(labels, question.length, *tables.values())
    words: dict[str, Any] = _write_words(question) | {"digest": digest, "name": question.name}
    words["balance"] = getattr(question, "balance", Question.balance)
    return TabulatedQuestion(labels=labels, length=question.length, **words, **tables)


def _write_words(task: Strings) -> dict[str, str]:
    """What it says and how it was set, for people."""
    every = fields(task)  # type: ignore[arg-type]  # tasks are dataclasses
    settings = ", ".join(f"{one.name} = {getattr(task, one.name)!r}" for one in every)
    return {"about": task.describe()[:_WORDS], "settings": settings[:_WORDS]}


def _write_tables(task: Strings) -> dict[str, Any]:
    """Choices, the choice of each state, and where each token leads."""
    automaton = tabulate_automaton(task)
    rows = [_write_choice(*row) for row in zip(automaton.constrained, automaton.probability, strict=True)]
    choices = tuple(dict.fromkeys(rows))
    number = {choice: str(place) for place, choice in enumerate(choices)}
    chooses = " ".join(number[row] for row in rows)
    following = tuple(" ".join(map(str, row)) for row in automaton.next.tolist())
    return {"choices": choices, "chooses": chooses, "next": following}


def _is_label(label: str) -> bool:
    return _is_integer(label) or (
        0 < len(label) <= _LONGEST_MARK and all(letter in _MARKS for letter in label)
    )


def _is_integer(label: str) -> bool:
    """As Python writes it, so that two labels are never one value."""
    digits = label.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 11 and str(int(label)) == label


def digest_tables(*tables: object) -> str:
    """What makes the rule: two tables with the same digest are the same rule."""
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()


def _write_choice(constrained: np.bool_, probability: Float[np.ndarray, " tok"]) -> str:
    """Chances are written with all their digits, so that reading gives the same bits."""
    return " ".join([_ONLY if constrained else _FREE, *map(repr, probability.tolist())])


def _read_choices(
    choices: tuple[str, ...], tokens: int
) -> tuple[Float[np.ndarray, "choice tok"], Bool[np.ndarray, " choice"]]:
    """The chances of each choice, and whether the rule has a say there."""
    chance = np.empty((len(choices), tokens))
    constrained = np.empty(len(choices), bool)
    for place, choice in enumerate(choices):
        kind, *words = choice.split() or [""]
        is_good = kind in (_ONLY, _FREE) and len(words) == tokens
        require_value(is_good, "choices", f"'only' or 'free' and {tokens} chances", choice[:60])
        chance[place], constrained[place] = _read_chances(words), kind == _ONLY
    return chance, constrained


def _read_chances(words: list[str]) -> Float[np.ndarray, " tok"]:
    try:
        chances = np.array([float(word) for word in words])
    except ValueError as error:
        raise UserError(f"choices must hold chances, but there is a {error}") from None
    is_good = (chances >= 0).all() and abs(chances.sum() - 1) <= _ROUNDING
    require_value(bool(is_good), "choices", "chances of at least 0 that sum to 1", " ".join(words)[:60])
    return chances


def _read_numbers(field: str, text: str, count: int, end: int) -> Int32[np.ndarray, " number"]:
    """So many numbers, each from 0 to before `end`."""
    words = text.split()
    is_good = len(words) == count and all(word.isascii() and word.isdigit() for word in words)
    numbers = [int(word) if len(word) < 10 else end for word in words] if is_good else []
    is_good = is_good and all(number < end for number in numbers)
    require_value(is_good, field, f"{count} whole numbers below {end}", text[:60])
    return np.array(numbers, np.int32)
