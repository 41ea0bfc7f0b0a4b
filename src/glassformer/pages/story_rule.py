"""The story of a rule model: the task, the embedding, attention, the residual stream, the prediction."""

import numpy as np

from glassformer.pages.story import Chapter, StorySubject, make_chapter
from glassformer.pages.story_reading import (
    InputReading,
    end_story,
    lower_first_letter,
    tell_attention,
    tell_moves,
    tell_reading,
)
from glassformer.pages.words import format_number, format_page_percent
from glassformer.pictures.measure.demand import format_demand
from glassformer.tasks.automaton import Automaton


def tell_rule_story(tale: StorySubject, automaton: Automaton) -> list[Chapter | None]:
    reading = InputReading(tale, automaton)
    first = [
        _tell_demand(reading),
        tell_reading(reading),
        tell_attention(reading),
        tell_moves(reading),
        _tell_answer(reading),
    ]
    return end_story(reading, first)


def _tell_demand(reading: InputReading) -> Chapter:
    """What the rule demands after the input, and which token determines it."""
    about = reading.tale.page["task"]["about"]
    return make_chapter(
        "What is asked",
        [
            f"The rule {reading.tale.loaded.task.name}: {lower_first_letter(about)}",
            f"The input is {reading.tale.input}: {reading.tale.page['start']['why']}.",
            _demand_sentence(reading),
        ],
        "prediction",
    )


def _demand_sentence(reading: InputReading) -> str:
    if reading.allowed is None:
        return "After it, the rule demands nothing."
    words = format_demand(reading.automaton.tokens, reading.allowed)
    told = (
        f"; the earliest token that determines this is {reading.named(reading.source)}"
        if reading.source is not None
        else ""
    )
    return f"After it, the rule demands {words}{told}."


def _tell_answer(reading: InputReading) -> Chapter:
    """The largest logit, its probability, and the margin over the tokens that are not allowed."""
    tokens, logits, best = reading.automaton.tokens, reading.logits, reading.best
    powers = np.exp(logits - logits.max())
    share = format_page_percent(float((powers / powers.sum())[best]))
    text = [
        f"The largest logit is {format_number(logits[best])}, that of {tokens[best]}: a "
        f"probability of {share}.",
        *_margin_sentences(reading),
    ]
    return make_chapter("The prediction", text, "prediction", place=reading.last)


def _margin_sentences(reading: InputReading) -> list[str]:
    """The best token of the other kind, and the margin; nothing where nothing is demanded."""
    if reading.margin is None or reading.allowed is None:
        return []
    is_right = bool(reading.allowed[reading.best])
    rival = int(np.where(reading.allowed == is_right, -np.inf, reading.logits).argmax())
    words = "The best token that is not allowed" if is_right else "It is not allowed; the best allowed token"
    verdict = "right" if reading.margin > 0 else "wrong"
    return [
        f"{words} is {reading.automaton.tokens[rival]}, with {format_number(reading.logits[rival])}.",
        "The margin, best allowed logit minus best other one, is "
        f"{format_number(reading.margin)}: the answer is {verdict}.",
    ]
