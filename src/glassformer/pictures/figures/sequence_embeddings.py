"""One sequence: what enters the model at each of its positions, as points and as numbers.

At position 4 of `4 1 + 4 6 9 5 +` it is token[6] + position[4], one point among those of all pairs.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.pictures.figures.embeddings import describe_embedding_sum
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, make_sheet
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_position_dots,
    draw_token_dots,
    draw_zero_lines,
    show_plane,
    write_plane_note,
)
from glassformer.pictures.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    STRIP,
    draw_position_matrix,
    draw_token_strip,
    format_scale_end,
    group_token_positions,
    list_point_names,
    measure_matrix_height,
)
from glassformer.pictures.picture import Data

_KINDS = ("tokens", "positions", "sums")
_SIDE = 4.45  # cm, of a scatter


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
        "joined": describe_embedding_sum(subject),
        "plane": plane,
        "vectors": vectors,
        "points": {kind: plane(rows, spread) for kind, rows in vectors.items()},
        "cloud": plane(subject.embedded, np.arange(subject.context, dtype=float)),
        "token_step": _compute_mean_distance(vectors["tokens"]),
        "place_step": _compute_mean_distance(vectors["positions"]),
    }


def _compute_mean_distance(vectors: Float[np.ndarray, "pos dim"]) -> float:
    """Of two rows that differ, over all such pairs; 0 where there is none."""
    rows = np.unique(vectors, axis=0)
    return float(np.mean([np.linalg.norm(a - b) for a, b in combinations(rows, 2)])) if len(rows) > 1 else 0.0


def draw(data: Data, theme: Theme) -> Figure:
    labels = data["labels"]
    high = measure_matrix_height(len(labels))
    tables = STRIP + 0.65 + _SIDE + 1.05
    paper = make_sheet(theme, tables + HEADINGS + high + 0.45, title(data))
    draw_token_strip(paper, 0, 0, labels)
    for column, kind in enumerate(_KINDS):
        left = ROW_NAMES + column * (_SIDE + ROW_NAMES)
        _draw_sequence_scatter(paper.axes(left, STRIP + 0.65, _SIDE, _SIDE), data, kind, theme)
        _draw_vector_table(paper, data, kind, left, tables + HEADINGS, high)
    write_plane_note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    steps = {"token": data["token_step"], "position": data["place_step"]}
    moves = [f"another {kind} moves a point by {step:.2g} on average" for kind, step in steps.items() if step]
    return ": ".join(filter(None, [f"Each input is {data['joined']}", ", ".join(moves)]))


def _draw_sequence_scatter(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Tokens, positions or sums of the sequence, over the sums of all tokens and positions."""
    plane, points, labels = data["plane"], data["points"][kind], data["labels"]
    show_plane(axes, plane, plane.limits(data["cloud"], *data["points"].values()), kind)
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, data["cloud"], theme)
    if kind == "positions":
        draw_position_dots(axes, points, [f"p{place}" for place in range(len(labels))], theme)
        return
    if kind == "sums":
        for start, end, label in zip(data["points"]["tokens"], points, labels, strict=True):
            axes.plot(
                *np.stack([start, end]).T, color=pick_token_colour(label), linewidth=0.5, alpha=0.6, zorder=2
            )
    coinciding = group_token_positions(labels) if kind == "tokens" else None
    draw_token_dots(axes, points, labels, theme, list_point_names(labels, coinciding), size=16)


def _draw_vector_table(paper: Frame, data: Data, kind: str, left: float, top: float, high: float) -> None:
    """The numbers of the panel above; all three on one scale."""
    values = data["vectors"][kind]
    largest = max(float(np.abs(rows).max()) for rows in data["vectors"].values())
    axes = paper.axes(left, top, min(_SIDE, max(2.4, 1.6 * values.shape[1])), high)
    name = f"{kind} ({format_scale_end(largest)})"
    draw_position_matrix(axes, values, data["labels"], paper.theme, name, largest=largest)


def caption(data: Data) -> str:
    labels, width = data["labels"], data["vectors"]["sums"].shape[1]
    return (
        f"The sequence {' '.join(labels)}: token embedding, position embedding and both together at each of "
        f"its {len(labels)} positions, as points and as numbers, in all dimensions ({width}; one scale for "
        f"the three matrices). {name_colour('faint').capitalize()}: the sums of all tokens at all "
        "positions. In the last scatter a line "
        "leads from the token to the sum: the position vector. Distances in the title are means over "
        f"pairs of different vectors in this sequence. {data['plane'].note}"
    )
