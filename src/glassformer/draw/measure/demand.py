"""What a rule demands after a context, which token tells it, and whether a model says so.

>>> from glassformer.tasks import make_rule, tabulate
>>> automaton = tabulate(make_rule("plus_last_even"))
>>> context = automaton.ids("4 1 + 4 6 9 5 +")
>>> demand_words(automaton.tokens, demanded(automaton, context, 8)), source_place(automaton, context, 8)
('6', 4)
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.draw.shares import percent
from glassformer.draw.words import RULE_WORDS
from glassformer.proof.contexts import NOTHING, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks.automaton import Automaton

Demand = Bool[np.ndarray, " tok"] | None  # the allowed tokens; none: the rule leaves the next token open


def demanded(automaton: Automaton, context: Int[np.ndarray, " pos"], size: int) -> Demand:
    """What must follow a context, whatever came before it; one shorter than `size` begins a sequence."""
    return demands_along(automaton, context, size)[-1]


def demands_along(automaton: Automaton, context: Int[np.ndarray, " pos"], size: int) -> list[Demand]:
    """What must follow each place of a context, as far as the tokens up to there tell."""
    if automaton.length:
        return answers_along(automaton, context)
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        return [None] * len(context)
    whole = len(context) == size
    asked = [int(demands.of(context[None, : place + 1], whole)[0]) for place in range(len(context))]
    return [None if demand == NOTHING else demands.allowed[demand] for demand in asked]


def answers_along(automaton: Automaton, prompt: Int[np.ndarray, " pos"]) -> list[Demand]:
    """The same for a prompt, which begins at its first token: nothing but its answer is demanded."""
    found: list[Demand] = []
    state = automaton.start
    for token in prompt:
        state = int(automaton.next[state, token])
        found.append(automaton.allowed[state] if automaton.constrained[state] else None)
    return found


def source_place(automaton: Automaton, context: Int[np.ndarray, " pos"], size: int) -> int | None:
    """The place of the earliest token that is needed to know what follows; none where that is open."""
    if demanded(automaton, context, size) is None:
        return None
    demands = tabulate_demands(automaton)
    read = 0
    for place in reversed(range(len(context))):
        read = int(demands.next[read, context[place]])
        if demands.window[read] != NOTHING:
            return place
    return None  # only that the sequence begins here tells it


def demand_words(tokens: Sequence[str], allowed: Demand) -> str:
    """`6`, `2 or 4`, `one of 10 tokens`."""
    if allowed is None:
        return "any token"
    names = [token for token, is_allowed in zip(tokens, allowed, strict=True) if is_allowed]
    if len(names) > 3:
        return f"one of {len(names)} tokens"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verdict(
    tokens: Sequence[str],
    probability: Float[np.ndarray, " tok"],
    allowed: Demand,
    words_for: Mapping[str, str] = RULE_WORDS,
) -> str:
    """What the model says and what the rule, or task, makes of it, in a sentence without its full stop."""
    best, law = int(np.argmax(probability)), words_for["law"]
    says = f"the model gives {percent(probability[best], 0)} to {tokens[best]}"
    if allowed is None:
        return f"{says}, and the {law} leaves the next token open"
    words, share = demand_words(tokens, allowed), percent(probability[allowed].sum(), 0)
    if not allowed[best]:
        return f"{says}, but {words_for['demand']} {words} ({share} together)"
    if allowed.sum() == 1:
        return f"{says}, as the {law} demands"
    count = int(allowed.sum())
    return f"the model gives {share} to the {count} tokens that the {law} allows, most to {tokens[best]}"
