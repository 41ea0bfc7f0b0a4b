"""Q/K/V overview: queries, keys and values of every token-position pair, by token, by position, and as means.

What enters is a token's vector plus a position's; the means take the two apart again. With several heads, a
head has two columns and the means are left out, so that names stay readable.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    BODY,
    SMALL,
    Frame,
    make_sheet,
    measure_foot_height,
    measure_text_width,
    write_foot,
)
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.queries_keys_values import (
    NAMES,
    HeadSide,
    describe_side_planes,
    draw_named_cloud,
    format_head_title,
    make_head_sides,
    measure_variance_shares,
)
from glassformer.pictures.picture import Data

_BETWEEN = 1.15  # cm between rows, for titles and axes
_VIEWS = ("token", "place", "means")


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    found = [make_head_sides(subject, head) for head in range(subject.heads)]
    return {
        "tokens": subject.tokens,
        "places": subject.places,
        "points": [{kind: three[kind].points for kind in NAMES} for three in found],
        "planes": [{kind: three[kind].plane for kind in NAMES} for three in found],
        "token_means": [{kind: _compute_token_means(three[kind]) for kind in NAMES} for three in found],
        "place_means": [{kind: three[kind].points.mean(0) for kind in NAMES} for three in found],
        "shares": [{kind: measure_variance_shares(three[kind].vectors) for kind in NAMES} for three in found],
        "note": describe_side_planes(subject, found),
    }


def _compute_token_means(one: HeadSide) -> Float[np.ndarray, "tok 2"]:
    """Over the positions; where y is the position, tokens stand one under the other instead."""
    tokens, places, _ = one.vectors.shape
    rows = np.linspace(0, places - 1, tokens)
    return one.plane(one.vectors.mean(1), rows)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["points"]), measure_foot_height(data["note"])
    views = _VIEWS if heads == 1 else _VIEWS[:2]
    pitch = 16.5 / (heads * len(views))
    side = pitch - 1.2
    paper = make_sheet(theme, 3 * (side + _BETWEEN) + 0.7 + note, title(data))
    for row, kind in enumerate(NAMES):
        for head in range(heads):
            left = 0.95 + head * len(views) * pitch
            part = paper.part(left, 0.45 + row * (side + _BETWEEN), pitch * len(views), side)
            _draw_side_views(
                part, data, head, kind, [part.axes(i * pitch, 0, side, side) for i in range(len(views))]
            )
    _draw_position_scale(paper, data, paper.height - note - 0.4)
    write_foot(paper, data["note"])
    return paper.figure


def title(data: Data) -> str:
    """What queries, keys and values are made of."""
    shares = [
        f"{NAMES[kind]} {' and '.join(format_percent(three[kind][0], 0) for three in data['shares'])}"
        for kind in NAMES
    ]
    heads = " (head by head)" if len(data["shares"]) > 1 else ""
    return f"Share of the variance that the token explains, not the position{heads}: {', '.join(shares)}"


def _draw_side_views(part: Frame, data: Data, head: int, kind: str, panels: list[Axes]) -> None:
    """One side of a head: by token, by position, and the means where there is room."""
    heads, (token, place) = len(data["points"]), data["shares"][head][kind]
    plane, points = data["planes"][head][kind], data["points"][head][kind]
    limits = plane.limits(points, np.zeros((1, 2)), room=0.12)
    names = (
        f"{NAMES[kind]} by token",
        "by position",
        f"means: {format_percent(token, 0)} token, {format_percent(place, 0)} position",
    )
    names = names if measure_text_width(names[2], BODY) < part.height else (*names[:2], "means")
    for index, axes in enumerate(panels):
        show_plane(
            axes, plane, limits, format_head_title(head, heads, names[0]) if index == 0 else names[index]
        )
        draw_zero_lines(axes, part.theme)
    draw_named_cloud(panels[0], points, data["tokens"], part.theme)
    _draw_position_cloud(panels[1], points, part.theme)
    for axes in panels[2:]:
        _draw_side_means(axes, data, head, kind, part.theme)


def _draw_position_cloud(axes: Axes, points: Float[np.ndarray, "tok pos 2"], theme: Theme) -> None:
    """All pairs once more, darker with the position."""
    tokens, places, _ = points.shape
    axes.scatter(
        *points.reshape(-1, 2).T, c=np.tile(np.arange(places), tokens), cmap=_make_position_colours(theme),
        s=9, linewidths=0.3, edgecolors=mix_colours(theme.ink, theme.paper, 0.5), zorder=3,
    )  # fmt: skip


def _make_position_colours(theme: Theme) -> LinearSegmentedColormap:
    """From the first position, pale, to the last."""
    return LinearSegmentedColormap.from_list(
        "place", [mix_colours(theme.high, theme.paper, 0.22), theme.high]
    )


def _draw_position_scale(paper: Frame, data: Data, top: float) -> None:
    """The colours of the positions, once for all panels."""
    axes = paper.axes(paper.width - 4.6, top, 4.0, 0.16)
    axes.imshow(np.linspace(0, 1, 256)[None], _make_position_colours(paper.theme), aspect="auto")
    axes.set_axis_off()
    for x, align, text in ((-0.02, "right", data["places"][0]), (1.02, "left", data["places"][-1])):
        axes.text(x, 0.5, text, transform=axes.transAxes, ha=align, va="center_baseline", fontsize=SMALL)


def _draw_side_means(axes: Axes, data: Data, head: int, kind: str, theme: Theme) -> None:
    """One dot per token, the mean over positions; and the path of the positions, the mean over tokens."""
    tokens, means = data["token_means"][head][kind], data["place_means"][head][kind]
    draw_ghost_points(axes, data["points"][head][kind], theme)
    axes.plot(*means.T, color=theme.ink, linewidth=0.7, zorder=4)
    axes.scatter(*means.T, s=7, color=theme.ink, linewidths=0, zorder=4)
    colours = [pick_token_colour(token) for token in data["tokens"]]
    axes.scatter(*tokens.T, s=18, c=colours, linewidths=0.5, edgecolors=theme.ink, zorder=5)
    taken: Taken = []
    around = np.concatenate([tokens, means])
    ends = [data["places"][0], data["places"][-1]]
    place_labels(axes, means[[0, -1]], ends, theme, obstacles=around, weight="normal", taken=taken)
    inks = [make_readable_colour(colour, theme) for colour in colours]
    place_labels(axes, tokens, data["tokens"], theme, inks, around, taken=taken)


def caption(data: Data) -> str:
    means = (
        "Right: the mean of each token over positions (coloured dots) and the mean of each position over "
        "tokens (the joined path). "
    )
    return (
        "Queries, keys and values of every token at every position, per head. Left: coloured by token; a "
        "line joins the positions of a token and the large dot is p0. Next to it: the same points, coloured "
        f"by position. {means if len(data['points']) == 1 else ''}The shares are of the variance over all "
        "tokens and positions, in all dimensions, that token means explain. Queries and keys of a head "
        f"share a plane; nothing is centred. {data['note']}"
    )
