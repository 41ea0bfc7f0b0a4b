"""Writing with a model: one token after the other, many sequences at once. Nothing here knows any task."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from glassformer.model.model import Model

Watch = Callable[[Float[np.ndarray, "tok batch"]], object]  # is shown the logits of every token


def next_logits(model: Model, tokens: Int[np.ndarray, "pos batch"]) -> Float[np.ndarray, "tok batch"]:
    """Logits for the token after the last, from as many of the last tokens as the model sees."""
    window = tokens[-model.architecture.context :]
    return model.logits(window, last=1)[:, 0]


def write_greedy(
    model: Model, prompt: Int[np.ndarray, "pos batch"], count: int, watch: Watch | None = None
) -> Int[np.ndarray, "pos batch"]:
    """The prompt and `count` tokens more, each the one with the largest logit."""
    tokens = prompt
    for _ in range(count):
        logits = next_logits(model, tokens)
        if watch:
            watch(logits)
        tokens = np.concatenate([tokens, logits.argmax(0)[None].astype(tokens.dtype)])
    return tokens


def margin(logits: Float[np.ndarray, "tok batch"]) -> Float[np.ndarray, " batch"]:
    """How far the largest logit is above the second; 0 where two share the first place.

    >>> margin(np.array([[1.0], [4.0], [3.5]]))
    array([0.5])
    """
    second, best = np.partition(logits, -2, axis=0)[-2:]
    gap: Float[np.ndarray, " batch"] = best - second
    return gap


def write_sampled(
    model: Model, first: Int[np.ndarray, "pos batch"], length: int, random: np.random.Generator
) -> Int[np.ndarray, "pos batch"]:
    """Sequences of `length` tokens, drawn at temperature 1 after the first ones."""
    tokens = first
    while len(tokens) < length:
        noise = random.gumbel(
            size=(model.architecture.vocab, tokens.shape[1])
        )  # the largest sum is a fair draw
        drawn = (next_logits(model, tokens).astype(np.float64) + noise).argmax(0)
        tokens = np.concatenate([tokens, drawn[None].astype(tokens.dtype)])
    return tokens
