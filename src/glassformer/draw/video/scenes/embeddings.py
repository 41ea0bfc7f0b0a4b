"""Tokens, positions and their sums, at every saved step.

The sum of token 4 and place 2 is what enters the model when 4 is the third token.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, mixed, token_colour
from glassformer.draw.video.checkpoints import (
    checkpoint,
    checkpoints,
    plane_words,
    story,
    token_rows,
)
from glassformer.draw.video.moving import MOST_LABELS, chains, cloud_movers, dots, labels, sideways, trails
from glassformer.draw.video.stage import (
    ABOVE,
    BELOW,
    Mover,
    Stage,
    column_left,
    column_side,
    name_once,
    panel,
    set_stage,
)

LARGE = 22.0  # square points, of the dots that a panel is about


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    plane = checkpoint(subject, shown[-1]).stream_plane.spread_over("token")
    rows, places = token_rows(len(subject.tokens), subject.context), np.arange(subject.context, dtype=float)
    seen = [
        (
            plane(now.token_table, rows.mean(1)),
            plane(now.position_table, places),
            plane(now.embedded, rows),
        )
        for now in checkpoints(subject, shown)
    ]
    tokens, positions, sums = (np.stack(part) for part in zip(*seen, strict=True))
    data = story(subject, shown) | {"plane": plane, "token": tokens, "position": positions, "sum": sums}
    return data | {"title": title(data), "about": about(data)}


def title(data: Data) -> str:
    return f"{data['name']}: how tokens and positions find their places"


def about(data: Data) -> str:
    """How to read the panels, and what the plane leaves out."""
    marks = "A line joins the sums of a token, from the first place to the last; "
    return " ".join([f"{marks}trails: ten frames.", *plane_words({"": data["plane"]})])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    side, plane = column_side(), data["plane"]
    stage = set_stage(data, theme, width, ABOVE + side + BELOW)
    whole = [data[kind].reshape(-1, 2) for kind in ("token", "position", "sum")]
    limits = plane.limits(*whole)
    names = {
        "token": "tokens",
        "position": "positions (their numbers)",
        "sum": "sums: every token at every place",
    }
    panels = []
    for column, kind in enumerate(("token", "position", "sum")):
        here = plane.spread_over("position") if kind == "position" else plane
        box = plane.limits(data[kind]) if plane.is_line else limits
        axes = panel(stage.body, column_left(column, side), ABOVE, side, here, box, names[kind])
        stage.movers.extend(movers_of(axes, kind, data, theme))
        panels.append(axes)
    name_once(panels)
    return stage


def movers_of(axes: Axes, kind: str, data: Data, theme: Theme) -> list[Mover]:
    plane = data["plane"]
    if kind == "token":
        colours = [token_colour(token) for token in data["tokens"]]
        return [
            trails(axes, data["token"], colours),
            dots(axes, data["token"], colours, theme, LARGE),
            labels(axes, data["token"], outwards(data["token"], plane), data["tokens"], colours, theme),
        ]
    if kind == "position":
        return position_movers(axes, data["position"], plane, theme)
    label = plane.is_line or len(data["tokens"]) <= MOST_LABELS
    return cloud_movers(axes, data["sum"], data["tokens"], plane, theme, label)


def position_movers(
    axes: Axes, tracks: Float[np.ndarray, "frame pos 2"], plane: Plane, theme: Theme
) -> list[Mover]:
    """Places, joined in their order."""
    count = tracks.shape[1]
    fills = [mixed(theme.muted, theme.paper, 0.85)] * count
    numbers = [str(place) for place in range(count)]
    return [
        trails(axes, tracks, [theme.muted] * count),
        chains(axes, lambda index: tracks[index][None], [theme.muted], 0.6, 0.8),
        dots(axes, tracks, [theme.muted] * count, theme),
        labels(axes, tracks, outwards(tracks, plane), numbers, fills, theme),
    ]


def outwards(tracks: Float[np.ndarray, "frame point 2"], plane: Plane) -> Float[np.ndarray, "frame point 2"]:
    """Where labels go: away from the middle of all points, or aside where these lie one above the other."""
    return sideways(tracks) if plane.is_line else tracks - tracks.mean(1, keepdims=True)
