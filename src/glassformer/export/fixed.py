"""The fixed arrays of a model: what its formulas say and no training moved, under the step that reads them.

A causal mask is not a table of a thousand numbers but a rule: nothing for places up to one's own, -1e30 after
it, and with ALiBi a slope times the distance.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.export.lines import python_name
from glassformer.export.simplify import Steps
from glassformer.model.attention import MASKED


@dataclass(frozen=True)
class Fixed:
    """A fixed array under its name, of integers where they are places; a mask has a slope instead."""

    name: str
    array: np.ndarray
    slope: float | None = None


def fixed_arrays(steps: Steps, precision: str) -> dict[int, Fixed]:
    """Every constant with axes, and the places of scattered numbers, by their step."""
    found, taken = dict[int, Fixed](), dict[str, int]()
    for place, step in enumerate(steps.steps):
        if step.operation == "constant" and step.shape:
            array = np.reshape(np.array(step.option, precision), step.shape)
            slope = slope_of_mask(array)
            stem = "mask" if slope is not None else f"fixed_{python_name(reader(steps, place))}"
            taken[stem] = taken.get(stem, 0) + 1
            found[place] = Fixed(stem + (f"_{taken[stem]}" if taken[stem] > 1 else ""), array, slope)
        if step.operation == "scatter":
            found[place] = Fixed(f"places_{place}", np.array(step.option))
    return found


def reader(steps: Steps, place: int) -> str:
    """The first name of the trace on the way from a constant to the logits."""
    reached = {place}
    for later, step in enumerate(steps.steps):
        if reached & set(step.reads):
            reached.add(later)
            if later in steps.names:
                return steps.names[later][0]
    return "logits"


def slope_of_mask(array: np.ndarray) -> float | None:
    """The slope of a causal mask `query key 1`; none for any other array."""
    if array.ndim != 3 or array.shape[0] != array.shape[1] or array.shape[2] != 1:
        return None
    rounded = -array[1, 0, 0] if len(array) > 1 else array.dtype.type(0)
    candidates = (float(str(rounded)), float(rounded))  # as someone wrote it, or the very number
    return next((slope for slope in candidates if np.array_equal(array, causal(slope, array))), None)


def causal(slope: float, like: np.ndarray) -> np.ndarray:
    """A mask of this slope, of the same shape and precision."""
    places = range(len(like))
    rows = [[-slope * (i - j) if j <= i else MASKED for j in places] for i in places]
    return np.array(rows, like.dtype)[:, :, None]
