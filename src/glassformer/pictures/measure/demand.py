"""What a rule demands after a context, which token tells it, and whether a model says so.

>>> from glassformer.tasks import make_rule, tabulate_automaton
>>> automaton = tabulate_automaton(make_rule("plus_last_even"))
>>> context = automaton.ids("4 1 + 4 6 9 5 +")
>>> format_demand(automaton.tokens, find_window_demand(automaton, context, 8))
'6'
>>> find_source(automaton, context, 8)
4
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.words import format_percent, join_words
from glassformer.pictures.words import RULE_WORDS
from glassformer.proofs.contexts import NOTHING, Demand, find_window_demand, tabulate_demands
from glassformer.tasks.automaton import Automaton


def find_source(automaton: Automaton, context: Int[np.ndarray, " pos"], size: int) -> int | None:
    """The position of the earliest token that is needed to know what follows; none where that is open."""
    if find_window_demand(automaton, context, size) is None:
        return None
    demands = tabulate_demands(automaton)
    read = 0
    for place in reversed(range(len(context))):
        read = int(demands.next[read, context[place]])
        if demands.window[read] != NOTHING:
            return place
    return None  # only that the sequence begins here tells it


def format_demand(tokens: Sequence[str], allowed: Demand) -> str:
    """`6`, `2 or 4`, `one of 10 tokens`."""
    if allowed is None:
        return "any token"
    names = [token for token, is_allowed in zip(tokens, allowed, strict=True) if is_allowed]
    if len(names) > 3:
        return f"one of {len(names)} tokens"
    return join_words(names, "or")


def describe_answer(
    tokens: Sequence[str],
    probability: Float[np.ndarray, " tok"],
    allowed: Demand,
    words_for: Mapping[str, str] = RULE_WORDS,
) -> str:
    """What the model says and what the rule, or task, makes of it, in a sentence without its full stop."""
    best, law = int(np.argmax(probability)), words_for["law"]
    says = f"the model gives {format_percent(probability[best], 0)} to {tokens[best]}"
    if allowed is None:
        return f"{says}, and the {law} leaves the next token open"
    words, share = format_demand(tokens, allowed), format_percent(probability[allowed].sum(), 0)
    if not allowed[best]:
        return f"{says}, but {words_for['demand']} {words} ({share} together)"
    if allowed.sum() == 1:
        return f"{says}, as the {law} demands"
    count = int(allowed.sum())
    return f"the model gives {share} to the {count} tokens that the {law} allows, most to {tokens[best]}"
