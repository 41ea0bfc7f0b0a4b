"""The fixed arrays of a model: what its formulas say and no training moved, under the step that reads them.

A causal mask is not a table of a thousand numbers but a rule: nothing for positions up to one's own, -1e30
after it, and with ALiBi a slope times the distance. The distances of columns are another: with 12 columns per
number a key at position 13 stands one column above a query at position 24. So are their squares from a fixed
peak, and a mask of columns further up.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from glassformer.exports.lines import to_python_name
from glassformer.exports.literals import format_number_literal
from glassformer.exports.simplify import SimplifiedProgram
from glassformer.models.relation import MASKED

_STEMS = {"columns_up": "distances", "square_columns": "squares", "mask_columns": "mask"}  # names by rules


class ColumnRule(NamedTuple):
    """A table over queries and keys that their columns say; with neither peak nor highest the distances."""

    columns: int  # per number
    peak: float | None = None  # of squares: columns above the query's
    highest: int | None = None  # of a mask: the last column that is seen

    @property
    def name(self) -> str:
        """The function of a file that makes the table."""
        if self.highest is not None:
            return "mask_columns"
        return "columns_up" if self.peak is None else "square_columns"

    @property
    def setting(self) -> float | None:
        """What that function is told beside the sizes."""
        return self.peak if self.highest is None else self.highest


@dataclass(frozen=True)
class FixedArray:
    """A fixed array under its name, of integers where they are indices; a rule has a slope or columns."""

    name: str
    array: np.ndarray
    slope: float | None = None  # of a mask
    by_columns: ColumnRule | None = None

    @property
    def is_rule(self) -> bool:
        """Whether the number of positions says it all."""
        return self.rule != ""

    @property
    def rule(self) -> str:
        """The function of a file that makes the array; none where its numbers are written out."""
        return "causal" if self.slope is not None else self.by_columns.name if self.by_columns else ""

    @property
    def rules(self) -> set[str]:
        """That function and what it calls."""
        return {self.rule, "columns_up"} if self.by_columns else {self.rule}

    def format_rule(self, positions: str, columns: str = "") -> str:
        """A call of that function, given words for both sizes; without any for columns, their number."""
        if self.by_columns:
            given = self.by_columns.setting
            last = "" if given is None else f", {given!r}"
            return f"{self.rule}({positions}, {columns or self.by_columns.columns}{last})"
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
            by_columns = _find_column_rule(array) if is_pairs and slope is None else None
            stem = f"fixed_{to_python_name(_find_reader_name(steps, place))}"
            stem = "mask" if slope is not None else _STEMS[by_columns.name] if by_columns else stem
            taken[stem] = taken.get(stem, 0) + 1
            name = stem + (f"_{taken[stem]}" if taken[stem] > 1 else "")
            found[place] = FixedArray(name, array, slope, by_columns)
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


def _find_column_rule(array: np.ndarray) -> ColumnRule | None:
    """The rule behind a table `query key` of distances, their squares or a mask; none for any other."""
    return _find_distances(array) or _find_squares(array) or _find_column_mask(array)


def _find_distances(array: np.ndarray) -> ColumnRule | None:
    """The first key stands in column 0: it is 0 columns up for the queries of that column alone, and the
    second of these comes after as many positions as there are columns."""
    columns = next((query for query in range(2, len(array)) if array[query, 0] == 0), 0)
    is_known = columns and np.array_equal(array, _tabulate_columns(columns, len(array)))
    return ColumnRule(columns) if is_known else None


def _find_squares(array: np.ndarray) -> ColumnRule | None:
    """(m - peak)^2 for m columns up: the second query sees the first key at m = -1, and each itself at 0."""
    peak = array.dtype.type((array[1, 0] - array[0, 0] - 1) / 2)
    if array.min() < 0:
        return None
    for columns in (query for query in range(2, len(array)) if array[query, 0] == array[0, 0]):
        away = _tabulate_columns(columns, len(array)).astype(array.dtype) - peak
        if np.array_equal(array, away * away):
            return ColumnRule(columns, peak=float(peak))
    return None


def _find_column_mask(array: np.ndarray) -> ColumnRule | None:
    """0 for columns up to the highest that is seen, -1e30 for those above it and for later keys."""
    places, seen = np.arange(len(array)), array == 0
    is_later = places > places[:, None]
    if not np.array_equal(array, np.where(seen, 0, MASKED).astype(array.dtype)) or seen[is_later].any():
        return None
    for columns in range(2, len(array)):
        up = _tabulate_columns(columns, len(array))
        highest = int(up[seen].max(initial=-columns))
        if np.array_equal(seen, (up <= highest) & ~is_later):
            return ColumnRule(columns, highest=highest)
    return None


def _tabulate_columns(columns: int, positions: int) -> np.ndarray:
    """Columns from each query up to each key; a later key counts as the query itself."""
    query = np.arange(positions)[:, None]
    key = np.minimum(query, np.arange(positions))
    found: np.ndarray = key % columns - query % columns
    return found
