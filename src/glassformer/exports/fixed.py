"""The fixed arrays of a model: what its formulas say and no training moved, under the step that reads them.

A causal mask is not a table of a thousand numbers but a rule: nothing for positions up to one's own, -1e30
after it, and with ALiBi a slope times the distance.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.exports.lines import to_python_name
from glassformer.exports.simplify import SimplifiedProgram
from glassformer.models.attention import MASKED


@dataclass(frozen=True)
class FixedArray:
    """A fixed array under its name, of integers where they are indices; a mask has a slope instead."""

    name: str
    array: np.ndarray
    slope: float | None = None


def find_fixed_arrays(steps: SimplifiedProgram, precision: str) -> dict[int, FixedArray]:
    """Every constant with axes, and the indices of scattered parameters, by their step."""
    found, taken = dict[int, FixedArray](), dict[str, int]()
    for place, step in enumerate(steps.steps):
        if step.operation == "constant" and step.shape:
            array = np.reshape(np.array(step.option, precision), step.shape)
            slope = find_mask_slope(array)
            stem = "mask" if slope is not None else f"fixed_{to_python_name(_find_reader_name(steps, place))}"
            taken[stem] = taken.get(stem, 0) + 1
            found[place] = FixedArray(stem + (f"_{taken[stem]}" if taken[stem] > 1 else ""), array, slope)
        if step.operation == "scatter":
            found[place] = FixedArray(f"places_{place}", np.array(step.option))
    return found


def _find_reader_name(steps: SimplifiedProgram, place: int) -> str:
    """The first name of the trace on the way from a constant to the logits."""
    reached = {place}
    for later, step in enumerate(steps.steps):
        if reached & set(step.reads):
            reached.add(later)
            if later in steps.names:
                return steps.names[later][0]
    return "logits"


def find_mask_slope(array: np.ndarray) -> float | None:
    """The slope of a causal mask `query key 1`; none for any other array."""
    if array.ndim != 3 or array.shape[0] != array.shape[1] or array.shape[2] != 1:
        return None
    rounded = -array[1, 0, 0] if len(array) > 1 else array.dtype.type(0)
    candidates = (float(str(rounded)), float(rounded))  # as someone wrote it, or the very number
    return next(
        (slope for slope in candidates if np.array_equal(array, _make_sloped_mask(slope, array))), None
    )


def _make_sloped_mask(slope: float, like: np.ndarray) -> np.ndarray:
    """A mask of this slope, of the same shape and precision."""
    places = range(len(like))
    rows = [[-slope * (i - j) if j <= i else MASKED for j in places] for i in places]
    return np.array(rows, like.dtype)[:, :, None]
