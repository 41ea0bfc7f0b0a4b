"""Token embeddings: every number of the two tables, their sums, and the same values as points.

What enters the model for token t at place p is token[t] + position[p], and nothing else.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, Frame, sheet
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import cloud, cross, place_dots, readable, show_plane, token_dots
from glassformer.draw.parts.matrices import matrix, scale_bar
from glassformer.draw.picture import Data, parameters_of
from glassformer.draw.theme import Theme, token_colour
from glassformer.model.position import NoPosition

TALLEST, ROW, LOWEST = 9.6, 0.42, 0.28  # cm: a table, a row of it, and a row of a long one
PAGE_HIGH = 18.0  # cm: a table of very many rows, of which not all have names
ABOVE, BAR, SIDE = 0.85, 0.75, 4.4  # cm: above a table, for the scale under it, and a scatter
KINDS = {"token": "tokens", "position": "positions", "sum": "sums"}


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
        "joined": joined(subject),
        "planes": planes_of(plane),
        "note": plane.note + ", or the token where there is no position" * plane.is_line,
        "parameters": parameters_of(subject, "token", "position"),
        "token_table": subject.token_table,
        "position_table": subject.position_table,
        "sums": subject.embedded,  # tok pos dim
        "points": points,
        "limits": {kind: limits_of(plane, points, kind) for kind in KINDS},
        "anchors": anchors(plane, sums),
    }


def joined(subject: Subject) -> str:
    """How a place enters, in words."""
    shape = subject.model.architecture
    if shape.position_dims:
        return "a token's vector beside its place's vector"
    return "a token's vector" + ("" if isinstance(shape.position, NoPosition) else " plus its place's vector")


def planes_of(plane: Plane) -> dict[str, Plane]:
    """One plane for all; on a line, tokens without a position are kept apart by their number."""
    alone = replace(plane, labels=(plane.labels[0], "token, by number")) if plane.is_line else plane
    return {"token": alone, "position": plane, "sum": plane}


def limits_of(plane: Plane, points: dict[str, np.ndarray], kind: str) -> Float[np.ndarray, "2 2"]:
    """The same for all three, so that sizes can be compared; on a line, of x alone."""
    limits = plane.limits(*points.values())
    if plane.is_line:
        limits[1] = plane.limits(points[kind])[1]
    return limits


def anchors(plane: Plane, sums: Float[np.ndarray, "tok pos 2"]) -> Float[np.ndarray, "tok 2"]:
    """Where a token is named: at p0, its large dot; on a line at a place of its own, for p0 is crowded."""
    count, places = sums.shape[:2]
    chosen = np.arange(count) % places if plane.is_line else np.zeros(count, int)
    return np.asarray(sums[np.arange(count), chosen])


def draw(data: Data, theme: Theme) -> Figure:
    rows = max(len(data["tokens"]), len(data["places"]))
    row = min(max(min(ROW, TALLEST / rows), LOWEST), PAGE_HIGH / rows)
    tables = row * rows + ABOVE + BAR
    paper = sheet(theme, tables + 0.75 + SIDE + 1.0, title(data))
    image = draw_tables(paper, data, row)
    scale_bar(paper.axes(paper.width - 3.6, tables - BAR + 0.2, 3.6, 0.15), image, theme)
    for column, kind in enumerate(KINDS):
        axes = paper.axes(0.9 + column * (SIDE + 1.1), tables + 0.75, SIDE, SIDE)
        draw_scatter(axes, data, kind, theme)
    paper.write(0, paper.height - 0.25, data["note"], SMALL, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    count = sum(array.size for array in data["parameters"].values())
    ways = len(data["tokens"]) * len(data["places"])
    return f"{count:,} numbers make all {ways:,} vectors of a token at a place: {data['joined']}"


def draw_tables(paper: Frame, data: Data, row: float) -> AxesImage:
    """Both tables on one scale, and their sums along the axes of the plane."""
    theme = paper.theme
    largest = float(max(np.abs(data[name]).max() for name in ("token_table", "position_table", "sums")))
    width = data["token_table"].shape[1]
    dims = tuple(map(str, range(width)))
    wide = max(min(0.8 * width, 3.2), 1.0)
    for column, (kind, names) in enumerate((("token", data["tokens"]), ("position", data["places"]))):
        axes = paper.axes(0.6 + column * (wide + 0.9), ABOVE, wide, row * len(names))
        stored = [name for name, array in data["parameters"].items() if array.shape == (len(names), width)]
        parameter = next((name for name in stored if name.startswith(kind)), "")
        values = data["parameters"].get(parameter, data[f"{kind}_table"])
        matrix(axes, values, theme, names, dims, largest=largest, parameter=parameter)
        axes.set_title(KINDS[kind], pad=14)
    return draw_sums(paper, data, 0.6 + 2 * (wide + 0.9), row, largest)


def draw_sums(paper: Frame, data: Data, left: float, row: float, largest: float) -> AxesImage:
    """Every token at every place: one matrix an axis of the plane."""
    plane, tokens, places = data["planes"]["sum"], data["tokens"], data["places"]
    count = 1 if plane.is_line else 2
    wide = (paper.width - left - 0.6 * (count - 1)) / count
    for axis in range(count):
        axes = paper.axes(left + axis * (wide + 0.6), ABOVE, wide, row * len(tokens))
        values = data["points"]["sum"][..., axis]
        image = matrix(axes, values, paper.theme, tokens, places, largest=largest)
        axes.set_title(f"sums: {plane.labels[axis]}", pad=14)
    return image


def draw_scatter(
    axes: Axes, data: Data, kind: str, theme: Theme, limits: Float[np.ndarray, "2 2"] | None = None
) -> None:
    """Tokens, places or all sums; on limits that all three share, unless others are given."""
    points, tokens = data["points"][kind], data["tokens"]
    show_plane(axes, data["planes"][kind], data["limits"][kind] if limits is None else limits, KINDS[kind])
    cross(axes, theme)
    if kind == "sum":
        cloud(axes, points, tokens, theme, label=False)
        inks = [readable(token_colour(token), theme) for token in tokens]
        place_labels(axes, data["anchors"], tokens, theme, inks, points.reshape(-1, 2))
    elif kind == "token":
        token_dots(axes, points, tokens, theme)
    else:
        place_dots(axes, points, data["places"], theme)


def caption(data: Data) -> str:
    width = data["token_table"].shape[1]
    all_of = f"all {width} dimensions" if width > 1 else "their one dimension"
    return (
        f"Token and position embeddings in {all_of}, what they are together for every token at every place, "
        "and the same values as points; all tables share one scale of colours. A line joins a token's "
        f"places; the large dot is p0. {data['note']}"
    )
