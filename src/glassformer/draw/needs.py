"""What a picture may need of a model; each raises one sentence where the model does not have it.

A figure that follows strings of tokens is for every task of an automaton, a panel about columns for adders:

    strings      an automaton, whose strings can be drawn, judged and followed
    rule         endless strings, in which one token decides another
    sums         two numbers in columns
    attention    in the last layer
    scores       attention that looks at something: not the same score for all
    few_tokens   so many at most
    past         saved steps and metrics
    before       saved steps, the first of which is shown;  saved_steps: which are filmed
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from glassformer.errors import UserError

if TYPE_CHECKING:
    from glassformer.draw.measure.subject import Subject
    from glassformer.model.attention import Attention
    from glassformer.runs.history import History
    from glassformer.tasks.automaton import Automaton


def strings(subject: "Subject") -> "Automaton":
    return subject.automaton


def rule(subject: "Subject") -> None:
    if subject.automaton.length:
        ability = subject.task.words.ability
        raise UserError(f"{subject.name} {ability}, and this figure is about a rule and its sources")


def sums(subject: "Subject") -> None:
    if not subject.inputs.has_columns:
        ability = subject.task.words.ability
        raise UserError(f"{subject.name} {ability}, and this panel is about adding two numbers")


def attention(subject: "Subject") -> "Attention":
    return subject.attention


def scores(subject: "Subject") -> None:
    count = subject.attention.heads
    if not any(subject.queries(head).any() and subject.keys(head).any() for head in range(count)):
        raise UserError(f"{subject.name} scores all keys alike, for its queries or its keys are all 0")


def few_tokens(most: int) -> "Callable[[Subject], None]":
    """At most so many tokens, for figures with a part for each."""

    def need(subject: "Subject") -> None:
        count = len(subject.tokens)
        if count > most:
            raise UserError(f"{subject.name} has {count} tokens, and this figure has room for {most}")

    return need


def past(subject: "Subject") -> "History":
    if subject.past.history is None or not subject.past.rows:
        raise UserError(f"{subject.name} has no saved steps or no metrics (a run folder has both)")
    return subject.past.history


def before(subject: "Subject") -> "History":
    if subject.past.history is None:
        raise UserError(f"{subject.name} has no saved steps (a run folder has), so there is no before")
    return subject.past.history


def saved_steps(subject: "Subject") -> "History":
    if subject.past.history is None:
        raise UserError(
            f"{subject.name} has no saved steps to film: it was built by hand or came as finished weights; "
            "videos are made of a run folder"
        )
    return subject.past.history
