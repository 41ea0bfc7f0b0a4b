"""One sequence at every saved step: its queries and keys, their scores, and who looks where.

A thick line from the last query to a key says that the last place looks there.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, Frame
from glassformer.draw.parts.matrices import name_ticks, scale_bar, share_map, signed_map
from glassformer.draw.parts.queries_keys_values import folded_note, head_title, seen_by
from glassformer.draw.parts.sequence_matrices import colour_names, column_names, frame_cell, row_names
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, mixed, token_colour
from glassformer.draw.video.checkpoints import checkpoint, checkpoints, first_sequence, plane_words, story
from glassformer.draw.video.maps import matrix_mover, shades
from glassformer.draw.video.moving import dots, labels, looks, trails
from glassformer.draw.video.stage import ABOVE, BELOW, LEFT, WIDE, Mover, Stage, panel, set_stage

TALLEST = 12.0  # cm of panels, however many heads there are
NAMES, HEADINGS = 1.1, 0.4  # cm left of and above a matrix, for the names of the places
MOST_NAMED = 16  # keys, the last ones of a longer sequence
BEHIND = 0.3  # how much of its token's colour a pair has that is not in the sequence
KINDS = ("query", "key", "scores", "weights")


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    last, sequence = checkpoint(subject, shown[-1]), first_sequence(subject)
    heads = range(subject.heads)
    planes = [last.qk_plane(head).spread_over("position") for head in heads]
    traces = [now.model.trace(sequence) for now in checkpoints(subject, shown)]
    found = {
        kind: np.array([[trace[f"{subject.layer}attn.{kind}.{head}"] for trace in traces] for head in heads])
        for kind in KINDS
    }  # head frame pos ...
    places = np.arange(len(sequence), dtype=float)
    points = {
        kind: np.stack([plane(found[kind][head], places) for head, plane in enumerate(planes)])
        for kind in ("query", "key")
    }
    source = subject.source(0)
    data = (
        story(subject, shown) | points | {kind: looking_back(found[kind]) for kind in ("scores", "weights")}
    )
    data |= {"planes": planes, "labels": subject.labels(0), "source": -1 if source is None else source}
    data |= {"pairs": pair_tracks(subject, shown, planes)}
    data |= {"pair_tokens": [token for token in subject.tokens for _ in range(subject.context)] * 2}
    return data | {"title": title(data), "about": about(subject, data)}


def pair_tracks(
    subject: Subject, shown: Sequence[int], planes: Sequence[Plane]
) -> Float[np.ndarray, "head frame pair 2"]:
    """All queries, then all keys, of every token at every place."""
    places = np.arange(subject.context, dtype=float)
    return np.stack(
        [
            [
                plane(np.stack([now.queries(head), now.keys(head)]), places).reshape(-1, 2)
                for head, plane in enumerate(planes)
            ]
            for now in checkpoints(subject, shown)
        ],
        axis=1,
    )


def looking_back(values: Float[np.ndarray, "head frame pos pos"]) -> Float[np.ndarray, "head frame pos pos"]:
    """With nan where a place would look at a later one."""
    return np.where(seen_by(values.shape[-1]), values, np.nan)


def title(data: Data) -> str:
    return f"{data['name']}: how it learns where to look"


def about(subject: Subject, data: Data) -> str:
    """How to read the panels, and what the planes leave out."""
    marks = "Squares: the keys of the sequence, with labels; dots: its queries; pale: all others. "
    marks += f"? is the query of the last place, {data['labels'][-1]}, and the lines are where it looks."
    marks += f" Frame: p{data['source']}, the rule's source." if data["source"] >= 0 else ""
    named = {head_title(head, len(data["planes"]), "Q and K"): one for head, one in enumerate(data["planes"])}
    return " ".join([marks, *plane_words(named), *folded_note(subject)])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    heads = len(data["planes"])
    high = ABOVE + HEADINGS + BELOW
    side = min((WIDE - LEFT - 2 * NAMES) / 3, TALLEST / heads - high)
    stage = set_stage(data, theme, width, heads * (side + high))
    for head in range(heads):
        row = stage.body.part(0, head * (side + high) + ABOVE + HEADINGS, WIDE, side + BELOW)
        stage.movers.extend(space_movers(row, head, side, data))
        for column, kind in enumerate(("scores", "weights")):
            left = LEFT + side + NAMES + column * (side + NAMES)
            stage.movers.extend(matrix_movers(row.part(left, 0, side, row.height), head, kind, data))
    return stage


def space_movers(row: Frame, head: int, side: float, data: Data) -> list[Mover]:
    """Queries and keys of the sequence over those of all pairs; keys and the last query have labels."""
    theme, plane = row.theme, data["planes"][head]
    queries, keys, every = data["query"][head], data["key"][head], data["pairs"][head]
    limits = plane.limits(queries, keys, every, room=0.1)
    axes = panel(row, LEFT, 0, side, plane, limits, head_title(head, len(data["planes"]), "queries and keys"))
    axes.set_title(axes.get_title(loc="left"), pad=14)  # in a line with those of the matrices
    colours = [token_colour(label) for label in data["labels"]]
    named = range(max(0, len(colours) - MOST_NAMED), len(colours))
    texts, fills = [data["labels"][place] for place in named], [colours[place] for place in named]
    behind = [mixed(token_colour(token), theme.paper, BEHIND) for token in data["pair_tokens"]]
    last = queries[:, -1:]
    return [
        dots(axes, every, behind, theme, 3.0),
        trails(axes, np.concatenate([keys, last], 1), [*colours, theme.accent]),
        looks(axes, last[:, 0], keys, data["weights"][head, :, -1], theme.accent),
        dots(axes, queries, colours, theme, 12.0),
        dots(axes, keys, colours, theme, 16.0, "s"),
        labels(axes, keys[:, named], keys[:, named] - last, texts, fills, theme),
        labels(axes, last, last - keys.mean(1, keepdims=True), ["?"], [theme.accent], theme),
    ]


def matrix_movers(frame: Frame, head: int, kind: str, data: Data) -> list[Mover]:
    """Scores or attention of every place to itself and those before it; the rule's source is framed."""
    theme, values = frame.theme, data[kind][head]  # frame pos pos
    axes = matrix_axes(frame, data["labels"])
    name = {"scores": "scores", "weights": "attention"}[kind]
    axes.set_title(head_title(head, len(data["planes"]), name), fontsize=BODY, pad=14)
    top = 1.0 if kind == "weights" else float(np.nanmax(np.abs(data["scores"]))) or 1.0
    low, colours = (0.0, share_map(theme)) if kind == "weights" else (-top, signed_map(theme))
    bar = frame.axes(0.2 * frame.width, frame.width + 0.15, 0.6 * frame.width, 0.12)
    ticks = (0, 0.5, 1) if kind == "weights" else None
    scale_bar(bar, ScalarMappable(Normalize(low, top), colours), theme, ticks=ticks)
    movers = [matrix_mover(axes, values, low, top, shades(colours), theme)]
    return [*movers, framed(axes, data["source"], theme)] if data["source"] >= 0 else movers


def matrix_axes(frame: Frame, names: Sequence[str]) -> Axes:
    """A square box with a row and a column a place."""
    axes = frame.axes(
        0, 0, frame.width, frame.width, xlim=(-0.5, len(names) - 0.5), ylim=(len(names) - 0.5, -0.5)
    )
    name_ticks(axes, row_names(names), column_names(axes, names))
    colour_names(axes, frame.theme)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def framed(axes: Axes, source: int, theme: Theme) -> Mover:
    """A frame around the last place's look at the rule's source."""
    last = round(axes.get_ylim()[0] - 0.5)
    frame_cell(axes, last, source, theme.accent)
    axes.patches[-1].set_animated(True)
    return lambda _: axes.draw_artist(axes.patches[-1])
