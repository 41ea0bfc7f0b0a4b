"""The story of a question: the prompt, its embedding, attention, the parts of the logits, the answer."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from glassformer.core.words import join_words
from glassformer.models.forward import ignore_record, read_out_logits, untie_parameters
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
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
from glassformer.tasks import Prompts
from glassformer.tasks.automaton import Automaton

_SAME = 1e-9  # of the largest logit: the tolerance for a sum of parts


class PromptReading(InputReading):
    """The page's first prompt as the model reads it."""

    @cached_property
    def wanted(self) -> int:
        """The token that answers it."""
        return int(Prompts(self.automaton).answers(self.tokens[:, None])[0])


class _LogitShare(NamedTuple):
    """What one part of the model adds to a logit difference."""

    name: str
    gap: float


def tell_question_story(tale: StorySubject, automaton: Automaton) -> list[Chapter | None]:
    reading = PromptReading(tale, automaton)
    first = [
        _tell_prompt(reading),
        tell_reading(reading),
        tell_attention(reading),
        _tell_sum(reading),
        _tell_answer(reading),
    ]
    return end_story(reading, first)


def _tell_prompt(reading: PromptReading) -> Chapter:
    """The prompt, and the one token that answers it."""
    page, task = reading.tale.page, reading.tale.loaded.task
    text = [
        f"The question {task.name}: {lower_first_letter(page['task']['about'])}",
        f"The prompt is `{reading.tale.input}`: {page['start']['why']}.",
        f"{task.words.demand.capitalize()} {reading.automaton.tokens[reading.wanted]}.",
    ]
    return make_chapter("What is asked", text, "prediction")


def _tell_sum(reading: PromptReading) -> Chapter:
    """What each part adds to the best token's lead, where the logits are linear in the parts."""
    first, second = pick_top_tokens(reading)
    shares = compute_lead_shares(reading, first, second)
    if not shares:
        return tell_moves(reading)
    tokens = reading.automaton.tokens
    parts = join_words([f"{one.name} {format_number(one.gap)}" for one in shares])
    text = [
        f"The logit of {tokens[first]} is {format_number(reading.logits[first] - reading.logits[second])} "
        f"above that of {tokens[second]}, the next largest.",
        f"This is a sum: {parts}.",
    ]
    last = len(reading.tale.page["model"]["layers"]) - 1
    return make_chapter(
        "The parts of the logits", text, "geometry", "residual stream", place=reading.last, layer=max(last, 0)
    )


def _tell_answer(reading: PromptReading) -> Chapter:
    """The largest logit, its share, and the margin of the right answer."""
    tokens, logits, best = reading.automaton.tokens, reading.logits, reading.best
    powers = np.exp(logits - logits.max())
    share = format_page_percent(float((powers / powers.sum())[best]))
    is_right = bool(best == reading.wanted and (reading.margin or 0.0) > 0)
    verdict = "which is right" if is_right else f"but {tokens[reading.wanted]} is right"
    text = [
        f"The largest logit is {format_number(logits[best])}, that of {tokens[best]}: a "
        f"probability of {share}, {verdict}."
    ]
    if reading.margin is not None:
        text.append(
            "The margin, the logit of the right answer minus the largest other logit, is "
            f"{format_number(reading.margin)}."
        )
    return make_chapter("The prediction", text, "prediction", place=reading.last)


def pick_top_tokens(reading: PromptReading) -> tuple[int, int]:
    """The tokens with the two largest logits."""
    first, second = np.argsort(-reading.logits, kind="stable")[:2]
    return int(first), int(second)


def compute_lead_shares(reading: PromptReading, first: int, second: int) -> list[_LogitShare]:
    """What the parts of the residual stream add to one logit minus another; none where a norm mixes them."""
    parts = _split_stream(reading)
    if parts is None:
        return []
    states = np.stack([np.zeros_like(parts[0][1]), *(vector for _, vector in parts)], 1)  # dim part
    logits = _read_states(reading.tale.model, states)
    alone = logits[:, 1:] - logits[:, :1]
    told = logits[:, 0] + alone.sum(1)
    if not np.abs(told - reading.logits).max() <= _SAME * np.abs(reading.logits).max():
        return []
    gaps = alone[first] - alone[second]
    bias = float(logits[first, 0] - logits[second, 0])
    shares = [_LogitShare(f"{name} adds", float(gap)) for (name, _), gap in zip(parts, gaps, strict=True)]
    return [*shares, _LogitShare("the head's bias adds", bias)] if bias else shares


def _split_stream(reading: PromptReading) -> list[tuple[str, Float[np.ndarray, " dim"]]] | None:
    """The parts of the residual stream at the last position; None where a layer replaces the stream."""
    layers = reading.tale.page["model"]["layers"]
    if not all(layer["residual"] for layer in layers):
        return None
    found = [("the last token", reading.trace["embedded"][reading.last])]
    for index, layer in enumerate(layers):
        where = f" of layer {index}" if len(layers) > 1 else ""
        for part, key in (("attention", "attn.output"), ("feedforward", "ff.output")):
            if layer[part]:
                name = "attention" if part == "attention" else "the feed-forward layer"
                found.append((f"{name}{where}", reading.trace[f"{layer['prefix']}{key}"][reading.last]))
    return [(name, np.asarray(vector, np.float64)) for name, vector in found]


def _read_states(model: Model, states: Float[np.ndarray, "dim part"]) -> Float[np.ndarray, "tok part"]:
    """The logits of each state alone, after the last layer."""
    shape, ops = model.architecture, NumpyOps("float64")
    params = untie_parameters(shape, model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    found: np.ndarray = read_out_logits(shape, ops, params, states[:, None], table, ignore_record)
    return np.asarray(found, np.float64)[:, 0]
