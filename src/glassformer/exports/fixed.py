"""The fixed arrays of a model: what its formulas say and no training moved, under the step that reads them.

A causal mask is not a table of a thousand numbers but a rule: nothing for positions up to one's own, -1e30
after it, and with ALiBi a slope times the distance. The distances of columns are another: with 12 columns per
number a key at position 13 stands one column above a query at position 24.
"""

from dataclasses import dataclass

import numpy as np

from glassformer.exports.lines import to_python_name
from glassformer.exports.literals import format_number_literal
from glassformer.exports.simplify import SimplifiedProgram
from glassformer.models.relation import MASKED


@dataclass(frozen=True)
class FixedArray:
    """A fixed array under its name, of integers where they are indices; a rule has a slope or columns."""

    name: str
    array: np.ndarray
    slope: float | None = None  # of a mask
    columns: int = 0  # per number, of distances; 0: it holds none

    @property
    def is_rule(self) -> bool:
        """Whether the number of positions says it all."""
        return self.rule != ""

    @property
    def rule(self) -> str:
        """The function of a file that makes the array; none where its numbers are written out."""
        return "causal" if self.slope is not None else "columns_up" if self.columns else ""

    def format_rule(self, positions: str, columns: str) -> str:
        """A call of that function, given the words for both sizes."""
        if self.slope is None:
            return f"{self.rule}({positions}, {columns})"
        slope = f", {format_number_literal(self.slope, 'float64')}" if self.slope else ""
        return f"{self.rule}({positions}{slope}){'[:, :, 0]' if self.array.ndim == 2 else ''}"


def find_fixed_arrays(steps: SimplifiedProgram, precision: str) -> dict[int, FixedArray]:
    """Every constant with axes, and the indices of scattered parameters, by their step."""
    found, taken, positions = dict[int, FixedArray](), dict[str, int](), steps.count_positions()
    for place, step in enumerate(steps.steps):
        if step.operation == "constant" and step.shape:
            array = np.reshape(np.array(step.option, precision), step.shape)
            is_pairs = array.shape == (positions, positions) and positions > 1  # of query and key
            slope = find_mask_slope(array[:, :, None] if is_pairs else array)
            columns = _find_columns(array) if is_pairs and slope is None else 0
            stem = f"fixed_{to_python_name(_find_reader_name(steps, place))}"
            stem = "mask" if slope is not None else "distances" if columns else stem
            taken[stem] = taken.get(stem, 0) + 1
            name = stem + (f"_{taken[stem]}" if taken[stem] > 1 else "")
            found[place] = FixedArray(name, array, slope, columns)
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


def _find_columns(array: np.ndarray) -> int:
    """Columns per number of a table of distances `query key`; 0 for any other array.

    The first key stands in column 0: it is 0 columns up for the queries of that column alone, and the second
    of these comes after as many positions as there are columns.
    """
    columns = next((query for query in range(2, len(array)) if array[query, 0] == 0), 0)
    return columns if columns and np.array_equal(array, _tabulate_columns(columns, len(array))) else 0


def _tabulate_columns(columns: int, positions: int) -> np.ndarray:
    """Columns from each query up to each key; a later key counts as the query itself."""
    query = np.arange(positions)[:, None]
    key = np.minimum(query, np.arange(positions))
    found: np.ndarray = key % columns - query % columns
    return found
