"""The story of a rule model: what is asked, what is read, who is looked at, what moves, what comes out."""

import numpy as np

from glassformer.draw.measure.demand import demand_words
from glassformer.page.story import Chapter, Tale, chapter
from glassformer.page.story_reading import (
    Reading,
    end_story,
    lower_first,
    tell_attention,
    tell_moves,
    tell_reading,
)
from glassformer.page.words import percent, short
from glassformer.tasks.automaton import Automaton


def rule_story(tale: Tale, automaton: Automaton) -> list[Chapter | None]:
    reading = Reading(tale, automaton)
    first = [
        _tell_demand(reading),
        tell_reading(reading),
        tell_attention(reading),
        tell_moves(reading),
        _tell_answer(reading),
    ]
    return end_story(reading, first)


def _tell_demand(reading: Reading) -> Chapter:
    """What the rule demands after the input, and which token tells it."""
    about = reading.tale.page["task"]["about"]
    return chapter(
        "What is asked",
        [
            f"The rule {reading.tale.loaded.task.name}: {lower_first(about)}",
            f"The input is {reading.tale.input}: {reading.tale.page['start']['why']}.",
            _demand_sentence(reading),
        ],
        "prediction",
    )


def _demand_sentence(reading: Reading) -> str:
    if reading.allowed is None:
        return "After it the rule leaves the next token open."
    words = demand_words(reading.automaton.tokens, reading.allowed)
    told = (
        f"; the earliest token that one needs to know it is {reading.named(reading.source)}"
        if reading.source is not None
        else ""
    )
    return f"After it the rule demands {words}{told}."


def _tell_answer(reading: Reading) -> Chapter:
    """The largest logit, its share, and the margin to what may not come."""
    tokens, logits, best = reading.automaton.tokens, reading.logits, reading.best
    powers = np.exp(logits - logits.max())
    share = percent(float((powers / powers.sum())[best]))
    text = [
        f"The largest logit is {short(logits[best])}, of {tokens[best]}: a probability of {share}.",
        *_margin_sentences(reading),
    ]
    return chapter("What comes out", text, "prediction", place=reading.last)


def _margin_sentences(reading: Reading) -> list[str]:
    """The best token of the other kind, and the margin; nothing where nothing is demanded."""
    if reading.margin is None or reading.allowed is None:
        return []
    is_right = bool(reading.allowed[reading.best])
    rival = int(np.where(reading.allowed == is_right, -np.inf, reading.logits).argmax())
    words = "The best token that may not come" if is_right else "It may not come; the best token that may"
    verdict = "right" if reading.margin > 0 else "wrong"
    return [
        f"{words} is {reading.automaton.tokens[rival]}, with {short(reading.logits[rival])}.",
        f"The margin, best allowed logit less best other one, is {short(reading.margin)}: "
        f"the answer is {verdict}.",
    ]
