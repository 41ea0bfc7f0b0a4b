"""Queries, keys and values of every token at every place, at every saved step.

Queries and keys of a head share plane and limits: where a query and a key point the same way, their product
is large. Values are drawn as messages, what a head would add to the stream if it looked there alone.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from glassformer.draw.heads import folded_note, head_title
from glassformer.draw.picture import Data
from glassformer.draw.plane import Plane, plane_of
from glassformer.draw.subject import Subject
from glassformer.draw.theme import Theme
from glassformer.draw.video.checkpoints import (
    checkpoint,
    checkpoints,
    plane_words,
    story,
    token_rows,
)
from glassformer.draw.video.embeddings import cloud_movers
from glassformer.draw.video.stage import (
    ABOVE,
    BELOW,
    Stage,
    column_left,
    column_side,
    name_once,
    panel,
    set_stage,
)

MARKS = "Queries and keys share their axes; a line joins the places of a token from the first (its label) on."
TALLEST = 12.0  # cm of panels, however many heads there are
NAMES = ("queries", "keys", "values, as added to the stream")


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
    heads = len(data["planes"])
    side = min(column_side(), TALLEST / heads - ABOVE - BELOW)
    stage = set_stage(data, theme, width, heads * (ABOVE + side + BELOW))
    for head, (shared, own) in enumerate(data["planes"]):
        found = data["points"][:, head]  # frame kind tok pos 2
        both, alone = shared.limits(found[:, :2]), own.limits(found[:, 2])
        panels = []
        for kind, name in enumerate(NAMES):
            plane, limits = (own, alone) if kind == 2 else (shared, both)
            left, top = column_left(kind, side), ABOVE + head * (ABOVE + side + BELOW)
            axes = panel(stage.body, left, top, side, plane, limits, head_title(head, heads, name))
            stage.movers.extend(cloud_movers(axes, found[:, kind], data["tokens"], plane, theme))
            panels.append(axes)
        name_once(panels)
    return stage
