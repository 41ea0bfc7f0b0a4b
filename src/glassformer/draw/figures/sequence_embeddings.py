"""One sequence: what enters the model at each of its places, as points and as numbers.

At place 4 of `4 1 + 4 6 9 5 +` it is token[6] + position[4], one point among those of all pairs.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.figures.embeddings import joined
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame, sheet
from glassformer.draw.parts.marks import cross, ghost, note, place_dots, show_plane, token_dots
from glassformer.draw.parts.matrices import MOST_NUMBERS
from glassformer.draw.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    STRIP,
    grouped,
    matrix_height,
    place_matrix,
    scale_words,
    strip,
)
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, token_colour

KINDS = ("tokens", "positions", "sums")
SIDE = 4.45  # cm, of a scatter


def compute(subject: Subject) -> Data:
    plane, sequence = subject.stream_plane, subject.sequences[0]
    count = len(sequence)
    spread = np.arange(count, dtype=float)
    vectors = {
        "tokens": subject.token_table[sequence],
        "positions": subject.position_table[:count],
        "sums": subject.trace(0)["embedded"],
    }  # each pos dim
    return {
        "labels": subject.labels(0),
        "joined": joined(subject),
        "plane": plane,
        "vectors": vectors,
        "points": {kind: plane(rows, spread) for kind, rows in vectors.items()},
        "cloud": plane(subject.embedded, np.arange(subject.context, dtype=float)),
        "token_step": mean_distance(vectors["tokens"]),
        "place_step": mean_distance(vectors["positions"]),
    }


def mean_distance(vectors: Float[np.ndarray, "pos dim"]) -> float:
    """Of two rows that differ, over all such pairs; 0 where there is none."""
    rows = np.unique(vectors, axis=0)
    return float(np.mean([np.linalg.norm(a - b) for a, b in combinations(rows, 2)])) if len(rows) > 1 else 0.0


def draw(data: Data, theme: Theme) -> Figure:
    labels = data["labels"]
    high = matrix_height(len(labels))
    tables = STRIP + 0.65 + SIDE + 1.05
    paper = sheet(theme, tables + HEADINGS + high + 0.45, title(data))
    strip(paper, 0, 0, labels)
    for column, kind in enumerate(KINDS):
        left = ROW_NAMES + column * (SIDE + ROW_NAMES)
        draw_scatter(paper.axes(left, STRIP + 0.65, SIDE, SIDE), data, kind, theme)
        draw_table(paper, data, kind, left, tables + HEADINGS, high)
    note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    steps = {"token": data["token_step"], "place": data["place_step"]}
    moves = [f"another {kind} moves a point by {step:.2g} on average" for kind, step in steps.items() if step]
    return ": ".join(filter(None, [f"What enters is {data['joined']}", ", ".join(moves)]))


def draw_scatter(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Tokens, positions or sums of the sequence, over the sums of all tokens and places."""
    plane, points, labels = data["plane"], data["points"][kind], data["labels"]
    show_plane(axes, plane, plane.limits(data["cloud"], *data["points"].values()), kind)
    cross(axes, theme)
    ghost(axes, data["cloud"], theme)
    if kind == "positions":
        place_dots(axes, points, [f"p{place}" for place in range(len(labels))], theme)
        return
    if kind == "sums":
        for start, end, label in zip(data["points"]["tokens"], points, labels, strict=True):
            axes.plot(
                *np.stack([start, end]).T, color=token_colour(label), linewidth=0.5, alpha=0.6, zorder=2
            )
    token_dots(axes, points, labels, theme, point_names(labels, kind), size=16)


def point_names(labels: tuple[str, ...], kind: str) -> list[str]:
    """One name a token where its places coincide or are too many, else one a place."""
    if kind == "sums" and len(labels) <= MOST_NUMBERS:
        return [f"{label} p{place}" for place, label in enumerate(labels)]
    names = grouped(labels) if kind == "tokens" else {label: label for label in labels}
    return [names[label] if labels.index(label) == place else "" for place, label in enumerate(labels)]


def draw_table(paper: Frame, data: Data, kind: str, left: float, top: float, high: float) -> None:
    """The numbers of the panel above; all three on one scale."""
    values = data["vectors"][kind]
    largest = max(float(np.abs(rows).max()) for rows in data["vectors"].values())
    axes = paper.axes(left, top, min(SIDE, max(2.4, 1.6 * values.shape[1])), high)
    name = f"{kind} ({scale_words(largest)})"
    place_matrix(axes, values, data["labels"], paper.theme, name, largest=largest)


def caption(data: Data) -> str:
    labels, width = data["labels"], data["vectors"]["sums"].shape[1]
    return (
        f"The sequence {' '.join(labels)}: token embedding, position embedding and both together at each of "
        f"its {len(labels)} places, as points and as numbers, in all dimensions ({width}; one scale for the "
        "three matrices). Grey: the sums of all tokens at all places. In the last scatter a line leads from "
        "the token to the sum: it is what the place adds. Distances in the title are means over the pairs of "
        f"different vectors in this sequence. {data['plane'].note}"
    )
