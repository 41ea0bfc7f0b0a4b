"""Every parameter by name and value, each array on its own scale; what changes nothing is crossed out."""

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, name_colour
from glassformer.core.words import choose_plural, format_count, join_words
from glassformer.models.model import to_float64
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, measure_text_width
from glassformer.pictures.parts.matrices import draw_heatmap
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.style import (
    SIZE,
    STAGES,
    choose_stage_colour,
    find_parameter_stage,
    format_fitting_number,
    write_numbers,
    write_paragraph,
)

_NUDGE = 0.01  # by which a number is changed, of its size; a zero by this much itself
_MOST_NUDGED = 400  # numbers; more are not tried one by one
_INPUTS = 64  # over which a nudge must change something
_LONGEST = 6  # cells in a row of a vector
_TALLEST = 64  # rows; a taller array lies on its side
_SPACES = ((0.48, 0.28), (0.38, 0.02))  # cm above a grid and below it
_WITH_NUMBERS = (5.0, 3.8, 3.0, 2.4, 2.0, 1.7, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.9, 0.8)  # cm: width of a cell
_WITHOUT = (0.5, 0.42, 0.36, 0.3, 0.26, 0.22, 0.19, 0.16, 0.13, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03)
_SLIM = 0.44  # height of a cell, of its width


def compute(subject: Subject) -> Data:
    params = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    ordered = dict(sorted(params.items(), key=lambda item: _rank_array(item[0])))
    return {
        "parameters": ordered,
        "grids": {name: _to_grid(array) for name, array in ordered.items()},
        "dead": {name: _find_dead_entries(subject, name) for name in ordered}
        if _count_shown_parameters(ordered) <= _MOST_NUDGED
        else {},
        "total": _count_shown_parameters(ordered),
        "fixed": len(subject.model.architecture.fixed),
        "ties": tuple(f"{tie.name} = {tie.to}" for tie in subject.model.architecture.ties),
    } | ({} if subject.inputs.has_columns else {"inputs": f"{subject.inputs.one}s"})


def _count_shown_parameters(params: dict[str, np.ndarray]) -> int:
    return sum(array.size for array in params.values())


def _rank_array(name: str) -> tuple[int, int]:
    """In the order of the pass."""
    layer = next((int(part[5:]) for part in name.split(".") if part.startswith("layer")), 0)
    return layer, STAGES.index(find_parameter_stage(name))


def _to_grid(array: np.ndarray) -> np.ndarray:
    """Two axes for any array: long vectors in rows of equal length, the last one filled up with nan.

    Arrays of very many rows are transposed.
    """
    if array.ndim >= 2:
        table = array.reshape(array.shape[0], -1)
        return table.T if len(table) > _TALLEST else table
    flat = array.reshape(-1)
    if len(flat) <= _LONGEST:
        return flat[None]
    rows = -(-len(flat) // _LONGEST)
    columns = -(-len(flat) // rows)
    filled = np.full(rows * columns, np.nan)
    filled[: len(flat)] = flat
    return filled.reshape(rows, columns)


def _find_dead_entries(subject: Subject, name: str) -> np.ndarray:
    """Which free numbers of an array change no logit of any of the sums when nudged, in float64."""
    shown = subject.sums.model if subject.inputs.has_columns else subject.model
    model, (tokens, asked) = to_float64(shown), _choose_nudge_inputs(subject)
    before = model.forward(tokens)[:, asked]
    array = model.params[name]
    dead = np.zeros(array.shape, bool)
    fixed = {one.place for one in subject.model.architecture.fixed if one.name == name}
    for place in np.ndindex(array.shape):
        if place in fixed:
            continue
        moved = array.copy()
        moved[place] += _NUDGE * (abs(moved[place]) or 1.0)
        nudged = replace(model, params={**model.params, name: moved})
        after = nudged.forward(tokens)[:, asked]
        dead[place] = np.array_equal(before, after)
    return dead


def _choose_nudge_inputs(subject: Subject) -> tuple[Int[np.ndarray, "input pos"], slice]:
    """Inputs of the model, and the positions whose answers count."""
    if not subject.inputs.has_columns:
        contexts = subject.trials.contexts[:_INPUTS]
        return (contexts if len(contexts) else np.array(subject.sequences[:1])), subject.inputs.asked
    sample, layout = subject.sums.sample, subject.sums.layout
    x, y, z = (part[:_INPUTS].T for part in (sample.x[:, :-1], sample.y[:, :-1], sample.z))
    return np.asarray(layout.encode(x, y, z)[:-1].T), layout.predicting


def title(data: Data) -> str:
    arrays = format_count(len(data["parameters"]), "array")
    silent = sum(int(mask.sum()) for mask in data["dead"].values())
    moves = (
        f"{choose_plural(silent, 'changes', 'change')} no logit of {_describe_nudge_inputs(data)} "
        f"when changed by {_NUDGE:.0%} alone"
    )
    words = f"; {silent} of them {moves}" if silent else ""
    fixed = f", {data['fixed']} more fixed" if data["fixed"] else ""
    return f"All {format_count(data['total'] - data['fixed'], 'parameter')} in {arrays}{fixed}{words}"


def _describe_nudge_inputs(data: Data) -> str:
    return f"{_INPUTS} {data.get('inputs', 'sums')}"


def draw(frame: Frame, data: Data) -> None:
    room = frame.height - 1.0
    choices = (
        _pack_grids(data["grids"], wide, space, frame.width)
        for widths, space in product((_WITH_NUMBERS, _WITHOUT), _SPACES)
        for wide in widths
    )
    packing = next((one for one in choices if one.high <= room), None)
    packing = packing or _pack_grids(data["grids"], _WITHOUT[-1], _SPACES[-1], frame.width)
    inside = [name for name, (_, y, _, tall) in packing.places.items() if y + tall <= room]
    for name in inside:
        x, y, wide, tall = packing.places[name]
        _draw_parameter_array(frame.axes(x, y, wide, tall), data, name, packing.cell, frame)
        colour = choose_stage_colour(find_parameter_stage(name), frame.theme)
        frame.write(x, y - 0.36, name, SIZE, color=colour, weight="bold")
    left_out = len(packing.places) - len(inside)
    more = f" {format_count(left_out, 'more array')} did not fit." if left_out else ""
    write_paragraph(frame, 0, frame.height - 0.8, frame.width, [describe_parameters(data) + more])


class _GridPacking(NamedTuple):
    """Where the grids go."""

    places: dict[str, tuple[float, float, float, float]]  # left, top, width and height in cm
    high: float
    cell: float  # the width of one


def _pack_grids(
    grids: dict[str, np.ndarray], cell: float, space: tuple[float, float], width: float
) -> _GridPacking:
    """Grids from left to right, line below line, each with its name above it."""
    x = y = high = 0.0
    places: dict[str, tuple[float, float, float, float]] = {}
    for name, grid in grids.items():
        wide, tall = grid.shape[1] * cell, grid.shape[0] * cell * _SLIM
        room = max(wide, _measure_name_width(name))
        if x and x + room > width:
            x, y, high = 0.0, y + high, 0.0
        places[name] = (x, y + space[0], min(wide, width), tall)
        x, high = x + room + 0.28, max(high, tall + sum(space))
    return _GridPacking(places, y + high, cell)


def _measure_name_width(name: str) -> float:
    return measure_text_width(name, SIZE, "bold") * 1.04


def _draw_parameter_array(axes: Axes, data: Data, name: str, wide: float, frame: Frame) -> None:
    """One grid on its own scale; the name is in the image, so that a test can add up what is shown."""
    theme, grid = frame.theme, data["grids"][name]
    size = float(np.clip(6.5 * wide, SIZE, 18))
    image = draw_heatmap(axes, grid, theme, numbers=False, parameter=name)
    axes.set_xticks([])
    axes.set_yticks([])
    if wide < _WITH_NUMBERS[-1]:
        return
    write_numbers(axes, image, grid, lambda value: format_fitting_number(value, wide, size), size)
    dead = _to_grid(data["dead"][name].astype(float)) if name in data["dead"] else np.zeros(grid.shape)
    for row, column in np.argwhere(dead == 1):
        _cross_out_cell(axes, column, row, theme)


def _cross_out_cell(axes: Axes, column: int, row: int, theme: Theme) -> None:
    axes.plot(
        [column - 0.42, column + 0.42], [row + 0.36, row - 0.36], color=theme.bad, linewidth=0.9, zorder=5
    )


def describe_parameters(data: Data) -> str:
    scale = (
        "Each array has its own colour scale, centred at 0: "
        f"{name_colour('positive')} above, {name_colour('negative')} below."
    )
    silent = [name for name, mask in data["dead"].items() if mask.any()]
    if not data["dead"]:
        return scale
    if not silent:
        one = "any one of them that is free" if data["fixed"] else "any one of them"
        return f"{scale} Changing {one} by {_NUDGE:.0%} changes a logit of {_describe_nudge_inputs(data)}."
    return (
        f"{scale} Crossed out, in {join_words(silent)}: changing one such parameter by {_NUDGE:.0%} (a 0 by "
        f"{_NUDGE}) changes no logit of {_describe_nudge_inputs(data)}, not even in the last bit of float64."
    )


def caption(data: Data) -> str:
    tied = f" Tied, so not stored again: {join_words(data['ties'])}." if data["ties"] else ""
    fixed = f" {data['fixed']} of them are fixed and not learned." if data["fixed"] else ""
    return f"Each of the {data['total']} parameters, by name.{fixed}{tied} {describe_parameters(data)}"
