"""Embedding scatter: tokens, positions and all their sums as points, each as large as it can be.

Unlike in the small scatters of figure 05, each panel has limits of its own: what is near can be told apart.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.pictures.figures import embeddings
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, SMALL, make_sheet
from glassformer.pictures.picture import Data

_SMALLER, _LARGER, _LEFT, _ABOVE, _BELOW = 6.9, 10.6, 0.95, 0.5, 0.95  # cm: the panels, and around them


def compute(subject: Subject) -> Data:
    data, plane = embeddings.compute(subject), subject.stream_plane
    tokens, places = subject.token_table, subject.position_table
    return data | {
        "own_limits": {kind: plane.limits(points) for kind, points in data["points"].items()},
        "token_pairs": _find_distance_extremes(tokens, data["tokens"]),
        "place_pairs": _find_distance_extremes(places, data["places"]),
        "way": float(np.linalg.norm(places[-1] - places[0])),
    }


def _find_distance_extremes(
    vectors: Float[np.ndarray, "point dim"], names: tuple[str, ...]
) -> tuple[tuple[str, str, float], tuple[str, str, float]]:
    """The nearest two and the farthest two, with their distance in all dimensions."""
    one, two = np.triu_indices(len(vectors), 1)
    apart = np.linalg.norm(vectors[one] - vectors[two], axis=1)
    near, far = (
        (names[one[i]], names[two[i]], float(apart[i])) for i in (int(apart.argmin()), int(apart.argmax()))
    )
    return near, far


def draw(data: Data, theme: Theme) -> Figure:
    second = _ABOVE + _SMALLER + _BELOW + _ABOVE
    paper = make_sheet(theme, second + _LARGER + _BELOW + 0.1, title(data))
    places = {
        "token": (_LEFT, _ABOVE, _SMALLER),
        "position": (paper.width - _SMALLER, _ABOVE, _SMALLER),
        "sum": (_LEFT, second, _LARGER),
    }
    for kind, (x, y, side) in places.items():
        limits = data["own_limits"][kind]
        embeddings.draw_embedding_scatter(paper.axes(x, y, side, side), data, kind, theme, limits)
    x, room = _LEFT + _LARGER + 0.5, paper.width - _LEFT - _LARGER - 0.5
    y = second
    for text in _describe_distances(data):
        y += paper.write(x, y, text, BODY, room, color=theme.ink) + 0.25
    if data["note"]:
        paper.write(x, y, data["note"], SMALL, room, color=theme.muted)
    return paper.figure


def _describe_distances(data: Data) -> list[str]:
    """What can be read off the points, in numbers."""
    (one, two, near), (three, four, far) = data["token_pairs"]
    (first, second, close), (third, fourth, wide) = data["place_pairs"]
    last = data["places"][-1]
    return [
        f"Large dots are p0; lines join a token's positions up to {last}.",
        f"Nearest tokens: {one} and {two}, {near:.2g} apart. Farthest: {three} and {four}, {far:.2g}.",
        f"Nearest positions: {first} and {second}, {close:.2g} apart. "
        f"Farthest: {third} and {fourth}, {wide:.2g}.",
        f"From p0 to {last} every token moves by the same vector, {data['way']:.2g} long.",
    ]


def title(data: Data) -> str:
    (_, _, near), (_, _, far) = data["token_pairs"]
    (_, _, close), (_, _, wide) = data["place_pairs"]
    return f"Tokens lie {near:.2g} to {far:.2g} apart, positions {close:.2g} to {wide:.2g}"


def caption(data: Data) -> str:
    return (
        f"{' '.join(_describe_distances(data))} Distances are taken in all dimensions "
        f"({data['token_table'].shape[1]}). Each panel has limits of its own; one unit is as long along x as "
        f"along y, unless y is no dimension. {data['note']}"
    )
