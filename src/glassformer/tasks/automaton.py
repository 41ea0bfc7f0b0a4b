"""A rule as tables: the one definition that sampling, checking, figures and proofs share.

>>> from glassformer.tasks import make_task
>>> automaton = tabulate_automaton(make_task("plus_means_even", high=3))
>>> automaton.tokens                      # states: at the start, after a number, after `+`
('0', '1', '2', '3', '+')
>>> automaton.constrained.tolist()
[False, False, True]
>>> automaton.allowed[2].tolist()
[True, False, True, False, False]
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

import numpy as np
from jaxtyping import Bool, Float, Int, Int32

from glassformer.core.errors import UserError, locate_error, make_unknown_error, require_value
from glassformer.tasks.choice import Choice
from glassformer.tasks.strings import State, Strings

MOST_STATES = 200_000  # about ten times the largest built-in rule; beyond it tables fill memory
_MOST_CHANCES = 20_000_000  # states times tokens of a sequence, about ten times the largest built-in rule's
_MOST_CELLS = 3_000_000  # states times tokens, about ten times as well: 40 MB of tables, seconds of work


@dataclass(frozen=True, eq=False)
class Automaton:
    """The states of a rule, where each token leads, and what each state allows."""

    tokens: tuple[str, ...]  # token id -> label
    states: tuple[State, ...]  # state id -> the rule's own state
    start: int
    next: Int32[np.ndarray, "state tok"]  # total: a checker continues after a mistake
    probability: Float[np.ndarray, "state tok"]  # of the generator; rows sum to 1
    constrained: Bool[np.ndarray, " state"]
    allowed: Bool[np.ndarray, "state tok"]  # constrained: probability > 0; free: everything
    length: int = 0  # tokens of every string, which a window then holds whole; 0: strings never end

    def ids(self, text: str) -> Int[np.ndarray, " pos"]:
        """Token ids of labels separated by blanks: `4 7 +`."""
        labels = text.split()
        for label in labels:
            if label not in self.tokens:
                raise make_unknown_error("token", label, self.tokens)
        return np.array([self.tokens.index(label) for label in labels], np.int32)

    def text(self, ids: Int[np.ndarray, " pos"]) -> str:
        """The labels of token ids, separated by blanks."""
        return " ".join(self.tokens[token] for token in ids)


@lru_cache(maxsize=64)
def tabulate_automaton(rule: Strings) -> Automaton:
    """The automaton of a rule, by breadth-first search over every token from every state."""
    stored: Automaton | None = rule.stored
    if stored is not None:
        return stored
    with _blaming(rule, "after"):
        states, following = _explore(rule)
    with _blaming(rule, "choose"):
        choices = [_choose(rule, state) for state in states]
    probability = _probabilities(rule, states, choices)
    constrained = np.array([choice.constrained for choice in choices])
    allowed = (probability > 0) | ~constrained[:, None]
    return Automaton(rule.tokens(), states, 0, following, probability, constrained, allowed, rule.length)


def compute_state_distribution(automaton: Automaton, length: int) -> Float[np.ndarray, "pos state"]:
    """The chance of each state before token 0, 1, ..., length - 1 of a sequence."""
    count = len(automaton.states)
    expected = f"at most {_MOST_CHANCES:,}, but {length:,} tokens and {count:,} states are more"
    if length * count > _MOST_CHANCES:
        raise UserError(f"the length of a sequence times the states of its rule must be {expected}")
    distribution = np.zeros((length, count))
    distribution[:1, automaton.start] = 1
    for pos in range(1, length):
        flow = distribution[pos - 1][:, None] * automaton.probability  # state tok
        distribution[pos] = np.bincount(automaton.next.ravel(), flow.ravel(), minlength=count)
    return distribution


@contextmanager
def _blaming(rule: Strings, method: str) -> Iterator[None]:
    """Whatever a rule's own methods raise becomes a sentence with the file and the line."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        code = _own_code(rule, method)
        where = locate_error(error, code.co_filename, code.co_firstlineno)
        raise UserError(f"rule {rule.name} cannot be tabulated: {where}") from error


def _own_code(rule: Strings, method: str) -> CodeType:
    """Of the method, or of one in the user's own file where a question's base class calls it."""
    own = [getattr(part, "__code__", None) for part in vars(type(rule)).values()]
    code: CodeType = getattr(type(rule), method).__code__
    inherited = method not in vars(type(rule))
    found = [one for one in own if one and one.co_filename.endswith(".py")]
    return found[0] if inherited and found else code


def _choose(rule: Strings, state: State) -> Choice:
    choice = rule.choose(state)
    if not isinstance(choice, Choice):
        expected = "only(values), uniform(values) or free(weights)"
        raise TypeError(f"choose must return {expected}, but it returns {choice!r:.60}")
    return choice


def require_table_room(states: int, tokens: int) -> None:
    """One sentence where the tables of a rule would be too large."""
    expected = f"at most {_MOST_CELLS:,}, but {states:,} states and {tokens:,} tokens are more"
    if states * tokens > _MOST_CELLS:
        raise UserError(f"the states of a rule times its tokens must be {expected}")


def _explore(rule: Strings) -> tuple[tuple[State, ...], Int32[np.ndarray, "state tok"]]:
    """All states that any string of tokens reaches, and the state after each token."""
    values = rule.values()
    states = [rule.start()]
    index = {states[0]: 0}
    following: list[list[int]] = []
    for state in states:  # grows while it is read
        row = []
        for value in values:
            reached = rule.after(state, value)
            if reached not in index:
                index[reached] = len(states)
                states.append(reached)
            row.append(index[reached])
        following.append(row)
        require_value(
            len(states) <= MOST_STATES, "the number of states", f"at most {MOST_STATES}", len(states)
        )
        require_table_room(len(states), len(values))
    return tuple(states), np.array(following, np.int32)


def _probabilities(
    rule: Strings, states: tuple[State, ...], choices: list[Choice]
) -> Float[np.ndarray, "state tok"]:
    """The generator's chance of each token, from the weights of each state."""
    index = {value: token for token, value in enumerate(rule.values())}
    weights = np.zeros((len(states), len(index)))
    for row, state, choice in zip(weights, states, choices, strict=True):
        for value, weight in choice.weights.items():
            if value not in index:
                raise UserError(f"rule {rule.name} offers {value!r} in state {state!r}, which is no token")
            row[index[value]] = weight
    total = weights.sum(axis=1, keepdims=True)
    is_good = (weights >= 0).all(axis=1) & (total[:, 0] > 0) & np.isfinite(total[:, 0])
    if not is_good.all():
        bad = states[int(np.argmin(is_good))]
        raise UserError(f"rule {rule.name} must give weights of at least 0, not all 0, in state {bad!r}")
    weights /= total
    return weights
