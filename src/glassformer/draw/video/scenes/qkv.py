"""Queries, keys and values of every token at every place, at every saved step.

Queries and keys of a head share plane and limits: where a query and a key point the same way, their product
is large. Values are drawn as messages, what a head would add to the stream if it looked there alone.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from glassformer.draw.measure.plane import Plane, plane_of
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame
from glassformer.draw.parts.queries_keys_values import folded_note, head_title
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme
from glassformer.draw.video.checkpoints import (
    checkpoint,
    checkpoints,
    plane_words,
    story,
    token_rows,
)
from glassformer.draw.video.legend import LEGEND, token_legend
from glassformer.draw.video.moving import MOST_LABELS, cloud_movers
from glassformer.draw.video.stage import (
    ABOVE,
    BELOW,
    WIDE,
    Mover,
    Stage,
    column_left,
    column_side,
    name_once,
    panel,
    set_stage,
)

MARKS = (
    "A line joins the places of a token, from the first to the last. Queries and keys share their axes; "
    "values are what a head would add to the stream if it looked at one place alone."
)
TALLEST = 12.0  # cm of panels, however many heads there are
NAMES = ("queries", "keys", "values")


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    last = checkpoint(subject, shown[-1])
    heads = range(subject.heads)
    planes = [
        (
            last.qk_plane(head).spread_over("token"),
            plane_of(last.messages[head], "value").spread_over("token"),
        )
        for head in heads
    ]
    rows = token_rows(len(subject.tokens), subject.context)
    seen = [[points(now, head, planes[head], rows) for head in heads] for now in checkpoints(subject, shown)]
    data = story(subject, shown) | {"planes": planes, "points": np.array(seen)}  # frame head kind tok pos 2
    return data | {"title": title(data), "about": about(subject, planes)}


def points(
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


def about(subject: Subject, planes: Sequence[tuple[Plane, Plane]]) -> str:
    """How to read the panels, and what the planes leave out."""
    named = {
        head_title(head, len(planes), name): plane
        for head, two in enumerate(planes)
        for name, plane in zip(("Q and K", "V"), two, strict=True)
    }
    return " ".join([MARKS, *plane_words(named), *folded_note(subject)])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    heads, tokens = len(data["planes"]), data["tokens"]
    has_legend = len(tokens) > MOST_LABELS and not data["planes"][0][0].is_line
    room = LEGEND + 0.2 if has_legend else 0.0
    side = min(column_side() - room / 3, TALLEST / heads - ABOVE - BELOW)
    stage = set_stage(data, theme, width, heads * (ABOVE + side + BELOW))
    for head in range(heads):
        top = ABOVE + head * (ABOVE + side + BELOW)
        stage.movers.extend(head_movers(stage.body.part(0, top, WIDE, side), head, data, not has_legend))
        if has_legend:
            token_legend(stage.body.part(column_left(2, side) + side + 0.2, top, LEGEND, side), tokens)
    return stage


def head_movers(row: Frame, head: int, data: Data, label: bool) -> list[Mover]:
    """The three clouds of one head."""
    (shared, own), found = data["planes"][head], data["points"][:, head]  # frame kind tok pos 2
    both, alone = shared.limits(found[:, :2]), own.limits(found[:, 2])
    movers, panels, side = [], [], row.height
    for kind, name in enumerate(NAMES):
        plane, limits = (own, alone) if kind == 2 else (shared, both)
        title = head_title(head, len(data["planes"]), name)
        panels.append(panel(row, column_left(kind, side), 0, side, plane, limits, title))
        movers += cloud_movers(panels[-1], found[:, kind], data["tokens"], plane, row.theme, label)
    name_once(panels)
    return movers
