"""Queries, keys and values of every token at every position, at every saved step.

Queries and keys of a head share plane and limits: where a query and a key point the same way, their product
is large. Values are drawn as messages, what a head would add to the stream if it looked there alone.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from glassformer.core.theme import Theme
from glassformer.pictures.measure.plane import Plane, fit_plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.queries_keys_values import describe_folding, format_head_title
from glassformer.pictures.picture import Data
from glassformer.pictures.video.checkpoints import (
    collect_video_data,
    describe_video_planes,
    iterate_checkpoints,
    make_checkpoint_subject,
    spread_token_rows,
)
from glassformer.pictures.video.legend import LEGEND, draw_token_legend
from glassformer.pictures.video.moving import MOST_LABELS, make_cloud_movers
from glassformer.pictures.video.stage import (
    ABOVE,
    BELOW,
    WIDE,
    Mover,
    Stage,
    add_panel,
    compute_column_left,
    compute_column_side,
    name_axis_once,
    set_stage,
)

_MARKS = (
    "A line joins the positions of a token, from the first to the last. Queries and keys share their axes; "
    "values are what a head would add to the stream if it attended to one position alone."
)
_TALLEST = 12.0  # cm of panels, however many heads there are
_NAMES = ("queries", "keys", "values")


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    last = make_checkpoint_subject(subject, shown[-1])
    heads = range(subject.heads)
    planes = [
        (
            last.qk_plane(head).spread_over("token"),
            fit_plane(last.messages[head], "value").spread_over("token"),
        )
        for head in heads
    ]
    rows = spread_token_rows(len(subject.tokens), subject.context)
    seen = [
        [_project_head_points(now, head, planes[head], rows) for head in heads]
        for now in iterate_checkpoints(subject, shown)
    ]
    data = collect_video_data(subject, shown) | {
        "planes": planes,
        "points": np.array(seen),
    }  # frame head kind tok pos 2
    return data | {"title": title(data), "about": _describe_qkv_panels(subject, planes)}


def _project_head_points(
    subject: Subject, head: int, planes: tuple[Plane, Plane], rows: Float[np.ndarray, "tok pos"]
) -> list[Float[np.ndarray, "tok pos 2"]]:
    """Queries, keys and messages of one head."""
    shared, own = planes
    return [
        shared(subject.queries(head), rows),
        shared(subject.keys(head), rows),
        own(subject.messages[head], rows),
    ]


def title(data: Data) -> str:
    return f"{data['name']}: how queries, keys and values form"


def _describe_qkv_panels(subject: Subject, planes: Sequence[tuple[Plane, Plane]]) -> str:
    """How to read the panels, and what the planes leave out."""
    named = {
        format_head_title(head, len(planes), name): plane
        for head, two in enumerate(planes)
        for name, plane in zip(("Q and K", "V"), two, strict=True)
    }
    return " ".join([_MARKS, *describe_video_planes(named), *describe_folding(subject)])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    heads, tokens = len(data["planes"]), data["tokens"]
    has_legend = len(tokens) > MOST_LABELS and not data["planes"][0][0].is_line
    room = LEGEND + 0.2 if has_legend else 0.0
    side = min(compute_column_side() - room / 3, _TALLEST / heads - ABOVE - BELOW)
    stage = set_stage(data, theme, width, heads * (ABOVE + side + BELOW))
    for head in range(heads):
        top = ABOVE + head * (ABOVE + side + BELOW)
        stage.movers.extend(
            _make_head_movers(stage.body.part(0, top, WIDE, side), head, data, not has_legend)
        )
        if has_legend:
            draw_token_legend(
                stage.body.part(compute_column_left(2, side) + side + 0.2, top, LEGEND, side), tokens
            )
    return stage


def _make_head_movers(row: Frame, head: int, data: Data, label: bool) -> list[Mover]:
    """The three clouds of one head."""
    (shared, own), found = data["planes"][head], data["points"][:, head]  # frame kind tok pos 2
    both, alone = shared.limits(found[:, :2]), own.limits(found[:, 2])
    movers, panels, side = [], [], row.height
    for kind, name in enumerate(_NAMES):
        plane, limits = (own, alone) if kind == 2 else (shared, both)
        title = format_head_title(head, len(data["planes"]), name)
        panels.append(add_panel(row, compute_column_left(kind, side), 0, side, plane, limits, title))
        movers += make_cloud_movers(panels[-1], found[:, kind], data["tokens"], plane, row.theme, label)
    name_axis_once(panels)
    return movers
