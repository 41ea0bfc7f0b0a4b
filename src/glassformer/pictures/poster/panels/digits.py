"""Token embeddings: every parameter, the same as points, and what attention passes on of each digit."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import pick_token_colour
from glassformer.core.words import format_count, format_percent, format_significant
from glassformer.models.forward import list_parameters
from glassformer.pictures.measure.plane import fit_plane
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import draw_zero_lines, make_readable_colour, show_plane
from glassformer.pictures.parts.matrices import draw_heatmap
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.directions import find_digit_direction, is_far_cloud
from glassformer.pictures.poster.style import (
    LARGER,
    SIZE,
    format_fitting_number,
    open_axes,
    set_few_ticks,
    write_numbers,
    write_paragraph,
)
from glassformer.pictures.poster.sums import Sums

_SAME = 1e-5  # of the largest: lengths and angles that differ by less are the same
_STRAIGHT = {"float32": 1e-6, "float64": 1e-12}  # of its length: a line that bends by less bends by rounding
_BENT = 0.05  # of its length: what bends by more is no line


def compute(sums: Sums) -> Data:
    table, base = sums.token_table, sums.task.base
    used = np.flatnonzero(table.any(0))
    used = used if len(used) else np.arange(1)
    plane = fit_plane(table[:, used], "digit" if sums.architecture.position_dims else "stream")
    names = tuple(sums.token_name(token) for token in range(len(table)))
    layer = sums.attention_layers[-1]
    carried = sums.digit_messages(layer)  # digit column dim
    messages = carried @ find_digit_direction(carried)  # digit column
    return {
        "table": table[:, used],
        "dims": used,
        "width": table.shape[1],
        "names": names,
        "plane": plane,
        "points": plane(table[:, used], np.arange(len(table), dtype=float)),
        "note": "One dimension, along x; y is the token." if plane.is_line else plane.note,
        "kind": sums.architecture.token.kind,
        "numbers": sum(
            one.free for name, one in list_parameters(sums.architecture).items() if name.startswith("token.")
        ),
        "lengths": np.linalg.norm(table[:base], axis=1),
        "turns": _measure_turns(table[:base]),
        "base": base,
        "messages": messages,
        "straight": _measure_straightness(messages),
        "rounding": _STRAIGHT[sums.architecture.precision],
        "layer": layer if len(sums.architecture.layers) > 1 else -1,
    }


def _measure_turns(table: np.ndarray) -> np.ndarray:
    """Degrees from each digit to the next, seen from the origin; none where one of them is the origin."""
    lengths = np.linalg.norm(table, axis=1)
    both = lengths[:-1] * lengths[1:]
    if table.shape[1] < 2 or not both.all():
        return np.zeros(0)
    return np.asarray(np.degrees(np.arccos(np.clip((table[:-1] * table[1:]).sum(1) / both, -1, 1))))


def _measure_straightness(messages: np.ndarray) -> float:
    """The share of the variance over digits, within columns, that straight lines explain."""
    centred = messages - messages.mean(0)
    digit = np.arange(len(messages)) - (len(messages) - 1) / 2
    fitted = digit[:, None] * (digit @ centred)[None] / (digit @ digit)
    whole = float((centred**2).sum())
    return 1 - float(((centred - fitted) ** 2).sum()) / whole if whole else 0.0


def title(data: Data) -> str:
    return f"{format_count(data['numbers'], 'parameter')} put the digits {_describe_digit_shape(data)}"


def _describe_digit_shape(data: Data) -> str:
    """What holds of the digits' points: a circle, a line, or neither."""
    lengths, angles = data["lengths"], data["turns"]
    if len(angles) and np.ptp(lengths) <= _SAME * lengths.max() and np.ptp(angles) <= 1e-3 * angles.max():
        return (
            f"on an arc of radius {format_significant(lengths[0])}, each "
            f"{format_significant(angles.mean())}° from the one before"
        )
    if not np.ptp(data["table"][: data["base"]], axis=0).any():
        return "all on one point"
    bent = _measure_bend(data["table"][: data["base"]])
    if bent < data["rounding"]:
        return "on one straight line"
    if bent < _BENT:
        return f"almost on a line: it bends by {format_significant(bent, 2)} of its length"
    if np.ptp(lengths) <= _SAME * lengths.max():
        return f"at a distance of {format_significant(lengths[0])} from the origin"
    return (
        f"at distances of {format_significant(lengths.min())} to {format_significant(lengths.max())} from 0"
    )


def _measure_bend(points: np.ndarray) -> float:
    """How far points are from the line through the first and the last, as a share of its length.

    >>> _measure_bend(np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]]))
    0.25
    """
    moved = points - points[0]
    length = float(np.linalg.norm(moved[-1]))
    if not length:
        return float("inf")
    along = moved[-1] / length
    return float(np.linalg.norm(moved - np.outer(moved @ along, along), axis=1).max()) / length


def draw(frame: Frame, data: Data) -> None:
    theme = frame.theme
    side = 6.4
    axes = frame.axes(1.3, 0.55, side, side)
    origin = data["points"][:1] * (1.0 if is_far_cloud(data["points"]) else 0.0)
    show_plane(axes, data["plane"], data["plane"].limits(data["points"], origin, room=0.12))
    set_few_ticks(axes.xaxis, 4)
    set_few_ticks(axes.yaxis, 4)
    axes.set_ylabel("token" if data["plane"].is_line else data["plane"].labels[1])
    draw_zero_lines(axes, theme)
    axes.plot(*data["points"][: data["base"]].T, color=theme.faint, linewidth=1.2, zorder=1)
    colours = [pick_token_colour(name) for name in data["names"]]
    axes.scatter(*data["points"].T, s=60, c=colours, linewidths=0.6, edgecolors=theme.ink, zorder=5)
    inks = [make_readable_colour(colour, theme) for colour in colours]
    place_labels(axes, data["points"], data["names"], theme, inks, size=LARGER)
    axes.set_title("the digits as points")
    _draw_digit_table(frame, data)
    _draw_digit_messages(frame.axes(12.75, 0.55, 3.6, side), data, frame)
    lines = [data["note"], describe_digit_messages(data)] if data["note"] else [describe_digit_messages(data)]
    write_paragraph(frame, 0, 8.05, frame.width, lines)


def _draw_digit_table(frame: Frame, data: Data) -> None:
    """The table itself; wide ones without numbers."""
    table = data["table"]
    dims = table.shape[1]
    axes = frame.axes(8.5, 0.85, 3.1, 6.1)
    names = [name.strip("<>") for name in data["names"]]
    columns = tuple(map(str, data["dims"])) if dims <= 8 else ()
    image = draw_heatmap(axes, table, frame.theme, names, columns, numbers=False)
    if dims <= 4:
        write_numbers(axes, image, table, lambda value: format_fitting_number(value, 3.1 / dims, SIZE))
    all_or_some = (
        format_count(dims, "dimension") if dims == data["width"] else f"{dims} of {data['width']} dimensions"
    )
    axes.set_title(f"the table, {all_or_some}", pad=14 if columns else 4)


def _draw_digit_messages(axes: Axes, data: Data, frame: Frame) -> None:
    """What a digit is worth to attention, in every column of the first number."""
    theme, messages = frame.theme, data["messages"]
    digits = np.arange(len(messages))
    for column in range(messages.shape[1]):
        axes.plot(digits, messages[:, column], color=theme.accent, linewidth=0.7, alpha=0.5)
    axes.plot(digits, messages.mean(1), color=theme.accent, marker="o", markersize=3.5)
    axes.set_xticks(digits, data["names"][: len(digits)])
    axes.set_xlabel("digit")
    axes.set_title("what attention passes on")
    set_few_ticks(axes.yaxis, 7)
    axes.margins(0.06, 0.06)
    open_axes(axes)


def describe_digit_messages(data: Data) -> str:
    where = "" if data["layer"] < 0 else f" of layer {data['layer']}"
    columns = data["messages"].shape[1]
    if not np.ptp(data["messages"], axis=0).any():
        return f"Right: attention{where} adds the same vector for every digit, so it passes none of them on."
    exact = "a" if data["straight"] > 0.9999 else "almost a" if data["straight"] > 0.99 else "not quite a"
    return (
        f"Right: what attention{where} adds to the stream if it attends to one digit alone, along the "
        f"direction in which digits differ most (thin: each of the {columns} columns). Straight lines "
        f"explain {format_percent(data['straight'])} of it: a mix of digits is {exact} weighted sum."
    )


def caption(data: Data) -> str:
    return (
        f"Token embeddings ({data['kind']}, {format_count(data['numbers'], 'parameter')}), "
        f"{_describe_digit_shape(data)}: as points, as a table, and as what attention passes on. "
        f"{describe_digit_messages(data)} {data['note']}"
    )
