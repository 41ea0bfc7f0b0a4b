"""Writing with a model: one token after the other, many sequences at once. Nothing here knows any task."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Integer

from glassformer.models.model import Model

_Watch = Callable[[Float[np.ndarray, "tok batch"]], object]  # is shown the logits of every token


def _compute_next_logits(
    model: Model, tokens: Integer[np.ndarray, "pos batch"]
) -> Float[np.ndarray, "tok batch"]:
    """Logits for the token after the last, from as many of the last tokens as the model sees."""
    window = tokens[-model.architecture.context :]
    return model.logits(window, last=1)[:, 0]


def write_greedy(
    model: Model, prompt: Integer[np.ndarray, "pos batch"], count: int, watch: _Watch | None = None
) -> Integer[np.ndarray, "pos+{count} batch"]:
    """The prompt and `count` tokens more, each the one with the largest logit."""
    tokens = prompt
    for _ in range(count):
        logits = _compute_next_logits(model, tokens)
        if watch:
            watch(logits)
        tokens = np.concatenate([tokens, logits.argmax(0)[None].astype(tokens.dtype)])
    return tokens


def measure_top_margin(logits: Float[np.ndarray, "tok *batch"]) -> Float[np.ndarray, "*batch"]:
    """How far the largest logit is above the second; 0 where the two largest are equal.

    >>> measure_top_margin(np.array([[1.0], [4.0], [3.5]]))
    array([0.5])
    """
    second, best = np.partition(logits, -2, axis=0)[-2:]
    gap: Float[np.ndarray, "*batch"] = best - second
    return gap


def write_sampled(
    model: Model, first: Integer[np.ndarray, "pos batch"], length: int, random: np.random.Generator
) -> Integer[np.ndarray, "max(pos,{length}) batch"]:
    """Sequences of `length` tokens, drawn at temperature 1 after the first ones."""
    tokens = first
    while len(tokens) < length:
        noise = random.gumbel(
            size=(model.architecture.vocab, tokens.shape[1])
        )  # the largest sum is a fair draw
        drawn = (_compute_next_logits(model, tokens).astype(np.float64) + noise).argmax(0)
        tokens = np.concatenate([tokens, drawn[None].astype(tokens.dtype)])
    return tokens
