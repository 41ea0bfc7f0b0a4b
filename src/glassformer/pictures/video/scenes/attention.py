"""One sequence at every saved step: its queries and keys, their scores, and who looks where.

A thick line from the last query to a key says that the last position looks there.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, Frame
from glassformer.pictures.parts.matrices import (
    draw_scale_bar,
    make_share_colours,
    make_signed_colours,
    name_ticks,
)
from glassformer.pictures.parts.queries_keys_values import describe_folding, format_head_title, make_seen_mask
from glassformer.pictures.parts.sequence_matrices import (
    choose_column_names,
    colour_row_names,
    frame_matrix_cell,
    list_position_names,
)
from glassformer.pictures.picture import Data
from glassformer.pictures.video.checkpoints import (
    choose_video_sequence,
    collect_video_data,
    describe_video_planes,
    iterate_checkpoints,
    make_checkpoint_subject,
)
from glassformer.pictures.video.maps import list_shades, make_matrix_mover
from glassformer.pictures.video.moving import (
    make_dot_mover,
    make_label_mover,
    make_look_mover,
    make_trail_mover,
)
from glassformer.pictures.video.stage import ABOVE, BELOW, LEFT, WIDE, Mover, Stage, add_panel, set_stage

_TALLEST = 12.0  # cm of panels, however many heads there are
_NAMES, _HEADINGS = 1.1, 0.4  # cm left of and above a matrix, for the names of the positions
_MOST_NAMED = 16  # keys, the last ones of a longer sequence
_BEHIND = 0.3  # how much of its token's colour a pair has that is not in the sequence
_KINDS = ("query", "key", "scores", "weights")


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    last, sequence = make_checkpoint_subject(subject, shown[-1]), choose_video_sequence(subject)
    heads = range(subject.heads)
    planes = [last.qk_plane(head).spread_over("position") for head in heads]
    traces = [now.model.trace(sequence) for now in iterate_checkpoints(subject, shown)]
    found = {
        kind: np.array([[trace[f"{subject.layer}attn.{kind}.{head}"] for trace in traces] for head in heads])
        for kind in _KINDS
    }  # head frame pos ...
    places = np.arange(len(sequence), dtype=float)
    points = {
        kind: np.stack([plane(found[kind][head], places) for head, plane in enumerate(planes)])
        for kind in ("query", "key")
    }
    source = subject.source(0)
    data = (
        collect_video_data(subject, shown)
        | points
        | {kind: _mask_later_positions(found[kind]) for kind in ("scores", "weights")}
    )
    data |= {"planes": planes, "labels": subject.labels(0), "source": -1 if source is None else source}
    data |= {"pairs": _compute_pair_tracks(subject, shown, planes)}
    data |= {"pair_tokens": [token for token in subject.tokens for _ in range(subject.context)] * 2}
    return data | {"title": title(data), "about": _describe_attention_panels(subject, data)}


def _compute_pair_tracks(
    subject: Subject, shown: Sequence[int], planes: Sequence[Plane]
) -> Float[np.ndarray, "head frame pair 2"]:
    """All queries, then all keys, of every token at every position."""
    places = np.arange(subject.context, dtype=float)
    return np.stack(
        [
            [
                plane(np.stack([now.queries(head), now.keys(head)]), places).reshape(-1, 2)
                for head, plane in enumerate(planes)
            ]
            for now in iterate_checkpoints(subject, shown)
        ],
        axis=1,
    )


def _mask_later_positions(
    values: Float[np.ndarray, "head frame pos pos"],
) -> Float[np.ndarray, "head frame pos pos"]:
    """With nan where a position would look at a later one."""
    return np.where(make_seen_mask(values.shape[-1]), values, np.nan)


def title(data: Data) -> str:
    return f"{data['name']}: how it learns where to attend"


def _describe_attention_panels(subject: Subject, data: Data) -> str:
    """How to read the panels, and what the planes leave out."""
    marks = "Squares: the keys of the sequence, with labels; dots: its queries; pale: all others. "
    marks += (
        f"? is the query of the last position, {data['labels'][-1]}, and the lines show where it attends."
    )
    marks += f" Frame: p{data['source']}, the rule's source." if data["source"] >= 0 else ""
    named = {
        format_head_title(head, len(data["planes"]), "Q and K"): one
        for head, one in enumerate(data["planes"])
    }
    return " ".join([marks, *describe_video_planes(named), *describe_folding(subject)])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    heads = len(data["planes"])
    high = ABOVE + _HEADINGS + BELOW
    side = min((WIDE - LEFT - 2 * _NAMES) / 3, _TALLEST / heads - high)
    stage = set_stage(data, theme, width, heads * (side + high))
    for head in range(heads):
        row = stage.body.part(0, head * (side + high) + ABOVE + _HEADINGS, WIDE, side + BELOW)
        stage.movers.extend(_make_space_movers(row, head, side, data))
        for column, kind in enumerate(("scores", "weights")):
            left = LEFT + side + _NAMES + column * (side + _NAMES)
            stage.movers.extend(_make_attention_movers(row.part(left, 0, side, row.height), head, kind, data))
    return stage


def _make_space_movers(row: Frame, head: int, side: float, data: Data) -> list[Mover]:
    """Queries and keys of the sequence over those of all pairs; keys and the last query have labels."""
    theme, plane = row.theme, data["planes"][head]
    queries, keys, every = data["query"][head], data["key"][head], data["pairs"][head]
    limits = plane.limits(queries, keys, every, room=0.1)
    axes = add_panel(
        row, LEFT, 0, side, plane, limits, format_head_title(head, len(data["planes"]), "queries and keys")
    )
    axes.set_title(axes.get_title(loc="left"), pad=14)  # in a line with those of the matrices
    colours = [pick_token_colour(label) for label in data["labels"]]
    named = range(max(0, len(colours) - _MOST_NAMED), len(colours))
    texts, fills = [data["labels"][place] for place in named], [colours[place] for place in named]
    behind = [mix_colours(pick_token_colour(token), theme.paper, _BEHIND) for token in data["pair_tokens"]]
    last = queries[:, -1:]
    return [
        make_dot_mover(axes, every, behind, theme, 3.0),
        make_trail_mover(axes, np.concatenate([keys, last], 1), [*colours, theme.accent]),
        make_look_mover(axes, last[:, 0], keys, data["weights"][head, :, -1], theme.accent),
        make_dot_mover(axes, queries, colours, theme, 12.0),
        make_dot_mover(axes, keys, colours, theme, 16.0, "s"),
        make_label_mover(axes, keys[:, named], keys[:, named] - last, texts, fills, theme),
        make_label_mover(axes, last, last - keys.mean(1, keepdims=True), ["?"], [theme.accent], theme),
    ]


def _make_attention_movers(frame: Frame, head: int, kind: str, data: Data) -> list[Mover]:
    """Scores or attention of every position to itself and those before it; the rule's source is framed."""
    theme, values = frame.theme, data[kind][head]  # frame pos pos
    axes = _make_matrix_axes(frame, data["labels"])
    name = {"scores": "scores", "weights": "attention"}[kind]
    axes.set_title(format_head_title(head, len(data["planes"]), name), fontsize=BODY, pad=14)
    top = 1.0 if kind == "weights" else float(np.nanmax(np.abs(data["scores"]))) or 1.0
    low, colours = (
        (0.0, make_share_colours(theme)) if kind == "weights" else (-top, make_signed_colours(theme))
    )
    bar = frame.axes(0.2 * frame.width, frame.width + 0.15, 0.6 * frame.width, 0.12)
    ticks = (0, 0.5, 1) if kind == "weights" else None
    draw_scale_bar(bar, ScalarMappable(Normalize(low, top), colours), theme, ticks=ticks)
    movers = [make_matrix_mover(axes, values, low, top, list_shades(colours), theme)]
    return [*movers, _make_source_frame(axes, data["source"], theme)] if data["source"] >= 0 else movers


def _make_matrix_axes(frame: Frame, names: Sequence[str]) -> Axes:
    """A square box with one row and one column per position."""
    axes = frame.axes(
        0, 0, frame.width, frame.width, xlim=(-0.5, len(names) - 0.5), ylim=(len(names) - 0.5, -0.5)
    )
    name_ticks(axes, list_position_names(names), choose_column_names(axes, names))
    colour_row_names(axes, frame.theme)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def _make_source_frame(axes: Axes, source: int, theme: Theme) -> Mover:
    """A frame around the last position's look at the rule's source."""
    last = round(axes.get_ylim()[0] - 0.5)
    frame_matrix_cell(axes, last, source, theme.accent)
    axes.patches[-1].set_animated(True)
    return lambda _: axes.draw_artist(axes.patches[-1])
