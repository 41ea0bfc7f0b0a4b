"""Token embeddings: every parameter of the two tables, their sums, and the same values as points.

What enters the model for token t at position p is token[t] + position[p], and nothing else.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.models.position import NoPosition
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import (
    draw_position_dots,
    draw_token_cloud,
    draw_token_dots,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.matrices import draw_heatmap, draw_scale_bar
from glassformer.pictures.picture import Data, select_parameters

_TALLEST, _ROW, _LOWEST = 9.6, 0.42, 0.28  # cm: a table, a row of it, and a row of a long one
_PAGE_HIGH = 18.0  # cm: a table of very many rows, of which not all have names
_ABOVE, _BAR, _SIDE = 0.85, 0.75, 4.4  # cm: above a table, for the scale under it, and a scatter
_KINDS = {"token": "tokens", "position": "positions", "sum": "sums"}


def compute(subject: Subject) -> Data:
    plane, tokens = subject.stream_plane, subject.tokens
    spread = np.arange(subject.context, dtype=float)
    sums = plane(subject.embedded, spread)
    points = {
        "token": plane(subject.token_table, np.arange(len(tokens), dtype=float)),
        "position": plane(subject.position_table, spread),
        "sum": sums,
    }
    return {
        "tokens": tokens,
        "places": subject.places,
        "joined": describe_embedding_sum(subject),
        "planes": _make_embedding_planes(plane),
        "note": plane.note + ", or the token where there is no position" * plane.is_line,
        "parameters": select_parameters(subject, "token", "position"),
        "token_table": subject.token_table,
        "position_table": subject.position_table,
        "sums": subject.embedded,  # tok pos dim
        "points": points,
        "limits": {kind: _compute_embedding_limits(plane, points, kind) for kind in _KINDS},
        "anchors": _choose_token_anchors(plane, sums),
    }


def describe_embedding_sum(subject: Subject) -> str:
    """How a position enters, in words."""
    shape = subject.model.architecture
    if shape.position_dims:
        return "token vector and position vector, concatenated"
    return "token vector" + ("" if isinstance(shape.position, NoPosition) else " plus position vector")


def _make_embedding_planes(plane: Plane) -> dict[str, Plane]:
    """One plane for all; on a line, tokens without a position are kept apart by their number."""
    alone = replace(plane, labels=(plane.labels[0], "token, by number")) if plane.is_line else plane
    return {"token": alone, "position": plane, "sum": plane}


def _compute_embedding_limits(
    plane: Plane, points: dict[str, np.ndarray], kind: str
) -> Float[np.ndarray, "2 2"]:
    """The same for all three, so that sizes can be compared; on a line, of x alone."""
    limits = plane.limits(*points.values())
    if plane.is_line:
        limits[1] = plane.limits(points[kind])[1]
    return limits


def _choose_token_anchors(plane: Plane, sums: Float[np.ndarray, "tok pos 2"]) -> Float[np.ndarray, "tok 2"]:
    """Where a token is named: at p0, its large dot; on a line at its own position, since p0 is crowded."""
    count, places = sums.shape[:2]
    chosen = np.arange(count) % places if plane.is_line else np.zeros(count, int)
    return np.asarray(sums[np.arange(count), chosen])


def draw(data: Data, theme: Theme) -> Figure:
    rows = max(len(data["tokens"]), len(data["places"]))
    row = min(max(min(_ROW, _TALLEST / rows), _LOWEST), _PAGE_HIGH / rows)
    tables = row * rows + _ABOVE + _BAR
    paper = make_sheet(theme, tables + 0.75 + _SIDE + 1.0, title(data))
    image = _draw_embedding_tables(paper, data, row)
    draw_scale_bar(paper.axes(paper.width - 3.6, tables - _BAR + 0.2, 3.6, 0.15), image, theme)
    for column, kind in enumerate(_KINDS):
        axes = paper.axes(0.9 + column * (_SIDE + 1.1), tables + 0.75, _SIDE, _SIDE)
        draw_embedding_scatter(axes, data, kind, theme)
    paper.write(0, paper.height - 0.25, data["note"], SMALL, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    count = sum(array.size for array in data["parameters"].values())
    ways = len(data["tokens"]) * len(data["places"])
    return f"{count:,} parameters give all {ways:,} token-position vectors: {data['joined']}"


def _draw_embedding_tables(paper: Frame, data: Data, row: float) -> AxesImage:
    """Both tables on one scale, and their sums along the axes of the plane."""
    theme = paper.theme
    largest = float(max(np.abs(data[name]).max() for name in ("token_table", "position_table", "sums")))
    width = data["token_table"].shape[1]
    dims = tuple(map(str, range(width)))
    wide = max(min(0.8 * width, 3.2), 1.0)
    for column, (kind, names) in enumerate((("token", data["tokens"]), ("position", data["places"]))):
        axes = paper.axes(0.6 + column * (wide + 0.9), _ABOVE, wide, row * len(names))
        stored = [name for name, array in data["parameters"].items() if array.shape == (len(names), width)]
        parameter = next((name for name in stored if name.startswith(kind)), "")
        values = data["parameters"].get(parameter, data[f"{kind}_table"])
        draw_heatmap(axes, values, theme, names, dims, largest=largest, parameter=parameter)
        axes.set_title(_KINDS[kind], pad=14)
    return _draw_sum_matrices(paper, data, 0.6 + 2 * (wide + 0.9), row, largest)


def _draw_sum_matrices(paper: Frame, data: Data, left: float, row: float, largest: float) -> AxesImage:
    """Every token at every position: one matrix per axis of the plane."""
    plane, tokens, places = data["planes"]["sum"], data["tokens"], data["places"]
    count = 1 if plane.is_line else 2
    wide = (paper.width - left - 0.6 * (count - 1)) / count
    for axis in range(count):
        axes = paper.axes(left + axis * (wide + 0.6), _ABOVE, wide, row * len(tokens))
        values = data["points"]["sum"][..., axis]
        image = draw_heatmap(axes, values, paper.theme, tokens, places, largest=largest)
        axes.set_title(f"sums: {plane.labels[axis]}", pad=14)
    return image


def draw_embedding_scatter(
    axes: Axes, data: Data, kind: str, theme: Theme, limits: Float[np.ndarray, "2 2"] | None = None
) -> None:
    """Tokens, positions or all sums; on limits that all three share, unless others are given."""
    points, tokens = data["points"][kind], data["tokens"]
    show_plane(axes, data["planes"][kind], data["limits"][kind] if limits is None else limits, _KINDS[kind])
    draw_zero_lines(axes, theme)
    if kind == "sum":
        draw_token_cloud(axes, points, tokens, theme, label=False)
        inks = [make_readable_colour(pick_token_colour(token), theme) for token in tokens]
        place_labels(axes, data["anchors"], tokens, theme, inks, points.reshape(-1, 2))
    elif kind == "token":
        draw_token_dots(axes, points, tokens, theme)
    else:
        draw_position_dots(axes, points, data["places"], theme)


def caption(data: Data) -> str:
    width = data["token_table"].shape[1]
    all_of = f"all {width} dimensions" if width > 1 else "their one dimension"
    return (
        f"Token and position embeddings in {all_of}, both combined for every token at every position, and "
        "the same values as points. All tables share one colour scale. A line joins the positions of a "
        f"token; the large dot is p0. {data['note']}"
    )
