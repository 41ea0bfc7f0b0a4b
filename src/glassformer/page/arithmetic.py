"""The page computes in float64: how far that is from the model's own arithmetic, measured."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from glassformer.model.model import in_float64
from glassformer.page.families import family_of
from glassformer.page.words import grouped, short
from glassformer.runs.load import Loaded

CLOSED = -1e29  # logits below are of tokens that a head never writes


def arithmetic_words(loaded: Loaded, tests: Any, inputs: Sequence[str]) -> str:
    """One sentence, with what was measured over the family's test set and some typed inputs."""
    precision = loaded.architecture.precision
    if precision == "float64":
        return "The page computes in float64, which is the model's own arithmetic."
    own, double = (
        family_of(loaded.task).judged_logits(model, loaded.task, tests, inputs)
        for model in (loaded, in_float64(loaded))
    )
    count = double.shape[-1]
    if not count:
        return f"The page computes in float64; the model's own arithmetic is {precision}."
    other = (own.argmax(0) != double.argmax(0)).any(0).sum()
    return (
        f"The page computes in float64; the model's own arithmetic is {precision}. Over the test set and "
        f"the examples the largest difference of a logit is {short(difference(own, double))} of the largest "
        f"logit of its input, and the answers differ on {grouped(int(other))} of {grouped(count)} inputs."
    )


def difference(
    own: Float[np.ndarray, "tok step batch"], double: Float[np.ndarray, "tok step batch"]
) -> float:
    """The largest over all inputs, each relative to its own largest logit."""
    counted = double > CLOSED
    apart = np.where(counted, np.abs(own - double), 0.0).max((0, 1))
    size = np.where(counted, np.abs(double), 0.0).max((0, 1))
    return float((apart / np.where(size > 0, size, 1.0)).max())
