"""How far the page's float64 arithmetic is from the model's own, measured."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from glassformer.models.model import to_float64
from glassformer.pages.families import find_family
from glassformer.pages.words import format_number, group_digits
from glassformer.runs.load import LoadedModel

_CLOSED = -1e29  # smaller logits belong to tokens that a head never writes


def describe_arithmetic(loaded: LoadedModel, tests: object, inputs: Sequence[str]) -> str:
    """A sentence with what was measured over the test set and some inputs."""
    precision = loaded.architecture.precision
    if precision == "float64":
        return "The page computes in float64, which is the model's own arithmetic."
    own, double = (
        find_family(loaded.task).judged_logits(model, loaded.task, tests, inputs)
        for model in (loaded, to_float64(loaded))
    )
    count = double.shape[-1]
    if not count:
        return f"The page computes in float64; the model's own arithmetic is {precision}."
    other = (own.argmax(0) != double.argmax(0)).any(0).sum()
    return (
        f"The page computes in float64; the model's own arithmetic is {precision}. Over the test set and the "
        "examples, logits differ by at most "
        f"{format_number(_measure_logit_difference(own, double))} times the largest logit of the input, and "
        f"the answers differ on {group_digits(int(other))} of {group_digits(count)} inputs."
    )


def _measure_logit_difference(
    own: Float[np.ndarray, "tok step batch"], double: Float[np.ndarray, "tok step batch"]
) -> float:
    """The largest over all inputs, each relative to its own largest logit."""
    counted = double > _CLOSED
    apart = np.where(counted, np.abs(own - double), 0.0).max((0, 1))
    size = np.where(counted, np.abs(double), 0.0).max((0, 1))
    return float((apart / np.where(size > 0, size, 1.0)).max())
