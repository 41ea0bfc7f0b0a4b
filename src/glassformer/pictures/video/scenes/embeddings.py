"""Tokens, positions and their sums, at every saved step.

The sum of token 4 and position 2 is what enters the model when 4 is the third token.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.picture import Data
from glassformer.pictures.video.checkpoints import (
    collect_video_data,
    describe_video_planes,
    iterate_checkpoints,
    make_checkpoint_subject,
    spread_token_rows,
)
from glassformer.pictures.video.moving import (
    MOST_LABELS,
    alternate_sides,
    make_chain_mover,
    make_cloud_movers,
    make_dot_mover,
    make_label_mover,
    make_trail_mover,
)
from glassformer.pictures.video.stage import (
    ABOVE,
    BELOW,
    Mover,
    Stage,
    add_panel,
    compute_column_left,
    compute_column_side,
    name_axis_once,
    set_stage,
)

_LARGE = 22.0  # square points, of the dots that a panel is about


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    plane = make_checkpoint_subject(subject, shown[-1]).stream_plane.spread_over("token")
    rows, places = (
        spread_token_rows(len(subject.tokens), subject.context),
        np.arange(subject.context, dtype=float),
    )
    seen = [
        (
            plane(now.token_table, rows.mean(1)),
            plane(now.position_table, places),
            plane(now.embedded, rows),
        )
        for now in iterate_checkpoints(subject, shown)
    ]
    tokens, positions, sums = (np.stack(part) for part in zip(*seen, strict=True))
    data = collect_video_data(subject, shown) | {
        "plane": plane,
        "token": tokens,
        "position": positions,
        "sum": sums,
    }
    return data | {"title": title(data), "about": _describe_embedding_panels(data)}


def title(data: Data) -> str:
    return f"{data['name']}: how token and position embeddings change in training"


def _describe_embedding_panels(data: Data) -> str:
    """How to read the panels, and what the plane leaves out."""
    marks = "A line joins the sums of a token, from the first position to the last; "
    return " ".join([f"{marks}trails: ten frames.", *describe_video_planes({"": data["plane"]})])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    side, plane = compute_column_side(), data["plane"]
    stage = set_stage(data, theme, width, ABOVE + side + BELOW)
    whole = [data[kind].reshape(-1, 2) for kind in ("token", "position", "sum")]
    limits = plane.limits(*whole)
    has_positions = bool(np.ptp(data["position"], 1).any()) or plane.is_line
    names = {
        "token": "tokens",
        "position": "positions (by index)" if has_positions else "positions: no token has one added",
        "sum": "sums of token and position",
    }
    panels = []
    for column, kind in enumerate(("token", "position", "sum")):
        here = plane.spread_over("position") if kind == "position" else plane
        box = plane.limits(data[kind]) if plane.is_line else limits
        axes = add_panel(stage.body, compute_column_left(column, side), ABOVE, side, here, box, names[kind])
        if kind != "position" or has_positions:
            stage.movers.extend(_make_embedding_movers(axes, kind, data, theme))
        panels.append(axes)
    name_axis_once(panels)
    return stage


def _make_embedding_movers(axes: Axes, kind: str, data: Data, theme: Theme) -> list[Mover]:
    plane = data["plane"]
    if kind == "token":
        colours = [pick_token_colour(token) for token in data["tokens"]]
        return [
            make_trail_mover(axes, data["token"], colours),
            make_dot_mover(axes, data["token"], colours, theme, _LARGE),
            make_label_mover(
                axes,
                data["token"],
                _compute_label_directions(data["token"], plane),
                data["tokens"],
                colours,
                theme,
            ),
        ]
    if kind == "position":
        return _make_position_movers(axes, data["position"], plane, theme)
    label = plane.is_line or len(data["tokens"]) <= MOST_LABELS
    return make_cloud_movers(axes, data["sum"], data["tokens"], plane, theme, label)


def _make_position_movers(
    axes: Axes, tracks: Float[np.ndarray, "frame pos 2"], plane: Plane, theme: Theme
) -> list[Mover]:
    """Positions, joined in their order."""
    count = tracks.shape[1]
    fills = [mix_colours(theme.muted, theme.paper, 0.85)] * count
    numbers = [str(place) for place in range(count)]
    return [
        make_trail_mover(axes, tracks, [theme.muted] * count),
        make_chain_mover(axes, lambda index: tracks[index][None], [theme.muted], 0.6, 0.8),
        make_dot_mover(axes, tracks, [theme.muted] * count, theme),
        make_label_mover(axes, tracks, _compute_label_directions(tracks, plane), numbers, fills, theme),
    ]


def _compute_label_directions(
    tracks: Float[np.ndarray, "frame point 2"], plane: Plane
) -> Float[np.ndarray, "frame point 2"]:
    """Where labels go: away from the middle of all points, or aside where these lie one above the other."""
    return alternate_sides(tracks) if plane.is_line else tracks - tracks.mean(1, keepdims=True)
