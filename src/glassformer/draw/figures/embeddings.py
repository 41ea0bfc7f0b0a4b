"""Token embeddings: every number of the two tables, their sums, and the same values as points.

What enters the model for token t at place p is token[t] + position[p], and nothing else.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.frame import Frame, sheet
from glassformer.draw.marks import cloud, cross, note, place_dots, show_plane, token_dots
from glassformer.draw.matrices import matrix
from glassformer.draw.picture import Data, parameters_of
from glassformer.draw.subject import Subject
from glassformer.draw.theme import Theme

ROW, ABOVE = 0.42, 0.85  # cm: a row of a table, and what stands above it


def compute(subject: Subject) -> Data:
    plane = subject.stream_plane
    spread = np.arange(subject.context, dtype=float)
    return {
        "tokens": subject.tokens,
        "places": subject.places,
        "plane": plane,
        "parameters": parameters_of(subject, "token", "position"),
        "token_table": subject.token_table,
        "position_table": subject.position_table,
        "sums": subject.embedded,  # tok pos dim
        "token_points": plane(subject.token_table, 0.0),
        "position_points": plane(subject.position_table, spread),
        "sum_points": plane(subject.embedded, spread),
    }


def draw(data: Data, theme: Theme) -> Figure:
    tables = ROW * max(len(data["tokens"]), len(data["places"])) + ABOVE
    side = 4.4
    paper = sheet(theme, tables + 0.9 + side + 1.0, title(data))
    draw_tables(paper, data)
    for column, kind in enumerate(("token", "position", "sum")):
        axes = paper.axes(0.9 + column * (side + 1.1), tables + 0.9, side, side)
        draw_scatter(axes, data, kind, theme)
    note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    count = sum(array.size for array in data["parameters"].values())
    ways = len(data["tokens"]) * len(data["places"])
    return f"{count} numbers make all {ways} inputs: a token's vector plus its place's vector"


def draw_tables(paper: Frame, data: Data) -> None:
    """Both tables on one scale, and their sums along the axes of the plane."""
    tokens, places, theme = data["tokens"], data["places"], paper.theme
    largest = float(np.abs(data["sums"]).max())
    width = data["token_table"].shape[1]
    dims = tuple(map(str, range(width)))
    wide = min(0.8 * width, 3.2)
    for column, (kind, names) in enumerate((("token", tokens), ("position", places))):
        axes = paper.axes(0.6 + column * (wide + 0.9), ABOVE, wide, ROW * len(names))
        stored = [name for name, array in data["parameters"].items() if array.shape == (len(names), width)]
        parameter = next((name for name in stored if name.startswith(kind)), "")
        matrix(axes, data[f"{kind}_table"], theme, names, dims, largest=largest, parameter=parameter)
        axes.set_title(f"{kind}s", pad=14)
    left = 0.6 + 2 * (wide + 0.9)
    draw_sums(paper, data, left, largest)


def draw_sums(paper: Frame, data: Data, left: float, largest: float) -> None:
    """Every token at every place: one matrix an axis of the plane."""
    plane, tokens, places = data["plane"], data["tokens"], data["places"]
    count = 1 if plane.is_line else 2
    wide = (paper.width - left - 0.6 * (count - 1)) / count
    for axis in range(count):
        axes = paper.axes(left + axis * (wide + 0.6), ABOVE, wide, ROW * len(tokens))
        matrix(axes, data["sum_points"][..., axis], paper.theme, tokens, places, largest=largest)
        axes.set_title(f"sums: {plane.labels[axis]}", pad=14)


def draw_scatter(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Tokens, places or all sums, on the same limits."""
    plane, points = data["plane"], data[f"{kind}_points"]
    show_plane(axes, plane, plane.limits(data["token_points"], data["position_points"], data["sum_points"]))
    axes.set_title({"token": "tokens", "position": "positions", "sum": "sums"}[kind])
    cross(axes, theme)
    if kind == "sum":
        cloud(axes, points, data["tokens"], theme)
    elif kind == "token":
        token_dots(axes, points, data["tokens"], theme)
    else:
        place_dots(axes, points, data["places"], theme)


def caption(data: Data) -> str:
    width = data["token_table"].shape[1]
    return (
        f"Token and position embeddings in all {width} dimensions, their sums for every token at every "
        "place, and the same values as points; a line joins a token's places, the large dot is p0. "
        f"{data['plane'].note}"
    )
