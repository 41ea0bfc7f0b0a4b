"""The story of a question: what is asked, what is read and attended to, what adds up to the answer."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from glassformer.model.forward import ignore, read_out, untie
from glassformer.model.model import Model
from glassformer.model.ops_numpy import NumpyOps
from glassformer.page.story import Chapter, Tale, chapter
from glassformer.page.story_reading import (
    Reading,
    end_story,
    lower_first,
    tell_attention,
    tell_moves,
    tell_reading,
)
from glassformer.page.words import listed, percent, short
from glassformer.tasks import Prompts
from glassformer.tasks.automaton import Automaton

SAME = 1e-9  # of the largest logit: what parts add up to, where reading them out is linear


class Prompt(Reading):
    """The page's first prompt as the model reads it."""

    @cached_property
    def wanted(self) -> int:
        """The token that answers it."""
        return int(Prompts(self.automaton).answers(self.tokens[:, None])[0])


class Share(NamedTuple):
    """What one part of the model adds to a logit difference."""

    name: str
    gap: float


def question_story(tale: Tale, automaton: Automaton) -> list[Chapter | None]:
    reading = Prompt(tale, automaton)
    first = [
        _tell_prompt(reading),
        tell_reading(reading),
        tell_attention(reading),
        _tell_sum(reading),
        _tell_answer(reading),
    ]
    return end_story(reading, first)


def _tell_prompt(reading: Prompt) -> Chapter:
    """The prompt, and the one token that answers it."""
    page, task = reading.tale.page, reading.tale.loaded.task
    text = [
        f"The question {task.name}: {lower_first(page['task']['about'])}",
        f"The prompt is `{reading.tale.input}`: {page['start']['why']}.",
        f"{task.words.demand.capitalize()} {reading.automaton.tokens[reading.wanted]}.",
    ]
    return chapter("What is asked", text, "prediction")


def _tell_sum(reading: Prompt) -> Chapter:
    """What each part adds to the lead of the best token, where the parts can be told apart."""
    first, second = best_two(reading)
    shares = lead_shares(reading, first, second)
    if not shares:
        return tell_moves(reading)
    tokens = reading.automaton.tokens
    parts = listed([f"{one.name} {short(one.gap)}" for one in shares])
    text = [
        f"The logit of {tokens[first]} is {short(reading.logits[first] - reading.logits[second])} above that "
        f"of {tokens[second]}, the next largest.",
        f"To this {parts}.",
    ]
    last = len(reading.tale.page["model"]["layers"]) - 1
    return chapter(
        "What adds up", text, "geometry", "residual stream", place=reading.last, layer=max(last, 0)
    )


def _tell_answer(reading: Prompt) -> Chapter:
    """The largest logit, its share, and the margin of the right answer."""
    tokens, logits, best = reading.automaton.tokens, reading.logits, reading.best
    powers = np.exp(logits - logits.max())
    share = percent(float((powers / powers.sum())[best]))
    is_right = bool(best == reading.wanted and (reading.margin or 0.0) > 0)
    verdict = "which is right" if is_right else f"but {tokens[reading.wanted]} is right"
    text = [
        f"The largest logit is {short(logits[best])}, of {tokens[best]}: a probability of {share}, {verdict}."
    ]
    if reading.margin is not None:
        text.append(
            f"The margin, logit of the right answer minus the largest other one, is {short(reading.margin)}."
        )
    return chapter("What comes out", text, "prediction", place=reading.last)


def best_two(reading: Prompt) -> tuple[int, int]:
    """The tokens with the two largest logits."""
    first, second = np.argsort(-reading.logits, kind="stable")[:2]
    return int(first), int(second)


def lead_shares(reading: Prompt, first: int, second: int) -> list[Share]:
    """What the parts of the stream add to one logit minus another; none where a norm mixes them."""
    parts = _split_stream(reading)
    if parts is None:
        return []
    states = np.stack([np.zeros_like(parts[0][1]), *(vector for _, vector in parts)], 1)  # dim part
    logits = _read_states(reading.tale.model, states)
    alone = logits[:, 1:] - logits[:, :1]
    told = logits[:, 0] + alone.sum(1)
    if not np.abs(told - reading.logits).max() <= SAME * np.abs(reading.logits).max():
        return []
    gaps = alone[first] - alone[second]
    bias = float(logits[first, 0] - logits[second, 0])
    shares = [Share(f"{name} adds", float(gap)) for (name, _), gap in zip(parts, gaps, strict=True)]
    return [*shares, Share("the head's bias", bias)] if bias else shares


def _split_stream(reading: Prompt) -> list[tuple[str, Float[np.ndarray, " dim"]]] | None:
    """What is added up at the last position, by name; none where a layer replaces the stream."""
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
    """The logits that each state would give alone, after the last layer."""
    shape, ops = model.architecture, NumpyOps("float64")
    params = untie(shape, model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    found: np.ndarray = read_out(shape, ops, params, states[:, None], table, ignore)
    return np.asarray(found, np.float64)[:, 0]
