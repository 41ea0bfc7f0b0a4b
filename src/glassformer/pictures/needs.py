"""What a picture may need of a model; each raises one sentence where the model does not have it.

A figure that follows strings of tokens is for every task of an automaton, a panel about columns for adders:

    require_automaton    whose strings can be drawn, judged and followed
    require_rule         endless strings, in which one token decides another
    require_sums         two numbers in columns
    require_attention    in the last layer
    require_scores       attention that looks at something: not the same score for all
    limit_tokens         so many at most
    require_past         saved steps and metrics
    require_first_step   saved steps, the first of which is shown
    require_saved_steps  saved steps, which a video shows
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from glassformer.core.errors import UserError

if TYPE_CHECKING:
    from glassformer.models.attention import Attention
    from glassformer.pictures.measure.subject import Subject
    from glassformer.runs.history import History
    from glassformer.tasks.automaton import Automaton


def require_automaton(subject: "Subject") -> "Automaton":
    return subject.automaton


def require_rule(subject: "Subject") -> None:
    if subject.automaton.length:
        ability = subject.task.words.ability
        raise UserError(f"{subject.name} {ability}, and this figure is about a rule and its sources")


def require_sums(subject: "Subject") -> None:
    if not subject.inputs.has_columns:
        ability = subject.task.words.ability
        raise UserError(f"{subject.name} {ability}, and this panel is about adding two numbers")


def require_attention(subject: "Subject") -> "Attention":
    return subject.attention


def require_scores(subject: "Subject") -> None:
    count = subject.attention.heads
    if not any(subject.queries(head).any() and subject.keys(head).any() for head in range(count)):
        raise UserError(f"{subject.name} has scores that no token changes: its queries or its keys are all 0")


def limit_tokens(most: int) -> "Callable[[Subject], None]":
    """At most so many tokens, for figures with a part for each."""

    def need(subject: "Subject") -> None:
        count = len(subject.tokens)
        if count > most:
            raise UserError(f"{subject.name} has {count} tokens, and this figure has room for {most}")

    return need


def require_past(subject: "Subject") -> "History":
    if subject.past.history is None or not subject.past.rows:
        raise UserError(f"{subject.name} has no saved steps or no metrics (a run folder has both)")
    return subject.past.history


def require_first_step(subject: "Subject") -> "History":
    if subject.past.history is None:
        raise UserError(
            f"{subject.name} has no saved steps (a run folder has), so there is nothing to compare with"
        )
    return subject.past.history


def require_saved_steps(subject: "Subject") -> "History":
    if subject.past.history is None:
        raise UserError(
            f"{subject.name} has no saved steps to film: it was built by hand or came as finished weights; "
            "videos are made of a run folder"
        )
    return subject.past.history
