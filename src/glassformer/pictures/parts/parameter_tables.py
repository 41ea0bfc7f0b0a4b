"""Stored parameters as matrices, laid out in rows across a sheet, each under its own name."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from glassformer.pictures.parts.frame import BODY, Frame, measure_text_width
from glassformer.pictures.parts.matrices import MOST_NUMBERS, draw_heatmap, draw_scale_bar

_GAP, _ABOVE, _BELOW = 0.75, 0.95, 0.55  # cm: between matrices; over a row of them; under the last
_ROOM = 16.5  # cm across


class ParameterBox(NamedTuple):
    """Where a parameter's matrix stands on the sheet, in cm."""

    name: str
    left: float
    top: float
    width: float
    height: float


def arrange_parameters(
    parameters: Mapping[str, np.ndarray], column: float
) -> tuple[list[ParameterBox], float]:
    """One box per parameter, in the order given, and the height of all.

    Where all fit into columns of that width they stand in the second and later ones, which leaves the first
    to a text; otherwise one follows the other.
    """
    sizes = {name: _measure_matrix_size(to_row_matrix(array)) for name, array in parameters.items()}
    slots = {name: max(wide, measure_text_width(name, BODY)) + _GAP for name, (wide, _) in sizes.items()}
    start = column if max(slots.values(), default=0) <= column else 0.0
    boxes: list[ParameterBox] = []
    x, y, row = start, 0.0, 0.0
    for name, (wide, high) in sizes.items():
        if x > start and x + slots[name] > _ROOM:
            x, y, row = start, y + row, 0.0
        boxes.append(ParameterBox(name, x + (1.0 if start else 0.6), y + _ABOVE, wide, high))
        x, row = x + (column if start else slots[name]), max(row, high + _ABOVE)
    return boxes, y + row + _BELOW


def _measure_matrix_size(values: Float[np.ndarray, "row column"]) -> tuple[float, float]:
    """Width and height in cm: room for numbers where they are printed, a compact picture otherwise."""
    rows, columns = values.shape
    if max(rows, columns) > MOST_NUMBERS:
        return float(np.clip(0.13 * columns, 0.9, 4.4)), float(np.clip(0.13 * rows, 0.6, 3.2))
    return columns * (0.8 if columns <= 4 else 0.62), rows * (0.42 if rows <= 6 else 0.3)


def to_row_matrix(array: np.ndarray) -> Float[np.ndarray, "row column"]:
    """A vector is a row, a single number a cell."""
    return array.reshape(1, -1) if array.ndim < 2 else array


def draw_parameter_tables(
    paper: Frame, parameters: Mapping[str, np.ndarray], boxes: list[ParameterBox]
) -> float:
    """Every parameter on one scale; returns where, beside the last matrix, the sheet is free."""
    largest = max((float(np.abs(array).max()) for array in parameters.values()), default=1.0)
    free = 0.0
    for name, *box in boxes:
        values = to_row_matrix(parameters[name])
        rows, columns = (tuple(map(str, range(count))) for count in values.shape)
        axes = paper.axes(*box)
        image = draw_heatmap(axes, values, paper.theme, rows, columns, largest=largest, parameter=name)
        axes.set_title(name, pad=14)
        free = box[0] + box[2]
    if max((max(array.shape, default=0) for array in parameters.values()), default=0) > MOST_NUMBERS:
        top, high = boxes[-1].top, boxes[-1].height
        beside = free + 1.6 <= _ROOM
        place = (free + 0.4, top, 0.18, 1.4) if beside else (_ROOM - 3.2, top + high + 0.1, 2.4, 0.12)
        draw_scale_bar(paper.axes(*place), image, paper.theme)
        free += 1.6
    return free
