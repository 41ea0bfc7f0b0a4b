"""Query gradients: for every token's query at the last position, the direction in which its score grows.

Lines join keys of equal score, at the same step in all panels of a head: the closer, the more the
query separates keys.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_decimals, format_percent
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
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import draw_data_arrow, make_readable_colour
from glassformer.pictures.parts.matrices import draw_scale_bar, format_short_number
from glassformer.pictures.parts.queries_keys_values import HeadSide, describe_side_planes, make_head_sides
from glassformer.pictures.parts.slopes import FLAT, choose_level_step, draw_score_slope, make_score_slope
from glassformer.pictures.picture import Data

_TOP = 3  # keys that are named in a panel
_LINES = 12  # of equal score in the steepest panel, about
_GRID = 40  # points along a side: the score is an even slope, and colours between are interpolated
_GAP, _ABOVE, _PAGE_HEIGHT = 0.25, 0.45, 18.5  # cm


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    found = [make_head_sides(subject, head) for head in range(subject.heads)]
    scale, heads = subject.attention.score_scale, range(subject.heads)
    scores = [subject.scores(head)[:, -1] for head in heads]  # tok tok pos
    return {
        "tokens": subject.tokens,
        "last": subject.context - 1,
        "planes": [three["k"].plane for three in found],
        "keys": [three["k"].points for three in found],
        "slopes": [
            [make_score_slope(query, three["k"], scale) for query in three["q"].vectors[:, -1]]
            for three in found
        ],
        "origins": [_choose_arrow_origin(three["k"]) for three in found],
        "top": [np.stack([_find_best_keys(one) for one in scores[head]]) for head in heads],  # tok _TOP 2
        "ends": [
            np.stack([one.reshape(len(one), -1).min(1), one.reshape(len(one), -1).max(1)], 1)
            for one in scores
        ],
        "note": describe_side_planes(subject, found, kinds="qk"),
    }


def _choose_arrow_origin(keys: HeadSide) -> Float[np.ndarray, "2"]:
    """Where arrows start: at zero, and half-way up where y is the position."""
    _, places, dims = keys.vectors.shape
    return keys.plane(np.zeros(dims), (places - 1) / 2)


def _find_best_keys(scores: Float[np.ndarray, "tok pos"]) -> np.ndarray:
    """Token and position of the keys with the highest scores, best first."""
    order = np.argsort(-scores, axis=None, kind="stable")[:_TOP]
    return np.stack(np.unravel_index(order, scores.shape), 1)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), measure_foot_height(data["note"])
    columns, side = _arrange_query_panels(len(data["tokens"]), heads)
    rows = -(-len(data["tokens"]) // columns)
    block = rows * (side + _ABOVE) + 0.75 + 0.35 * (heads > 1)
    paper = make_sheet(theme, heads * block + note, title(data))
    for head in range(heads):
        part = paper.part(0, head * block, paper.width, block)
        _draw_head_gradients(part, data, head, columns, side)
    write_foot(paper, data["note"])
    return paper.figure


def _arrange_query_panels(count: int, heads: int) -> tuple[int, float]:
    """Columns with the fewest empty places that a page allows, and the side of a panel in cm."""
    sides = {columns: (16.2 - (columns - 1) * _GAP) / columns for columns in range(4, 9)}
    heights = {columns: heads * -(-count // columns) * (side + _ABOVE) for columns, side in sides.items()}
    fitting = [columns for columns in sides if heights[columns] <= _PAGE_HEIGHT - heads] or [8]
    columns = min(fitting, key=lambda columns: (-count % columns, columns))
    return columns, sides[columns]


def title(data: Data) -> str:
    """Which queries have the steepest slope and which the gentlest."""
    parts = []
    for head, slopes in enumerate(data["slopes"]):
        steep = np.array([np.linalg.norm(slope.gradient) for slope in slopes])
        most, least = data["tokens"][int(steep.argmax())], data["tokens"][int(steep.argmin())]
        name = f"in head {head} " if len(data["slopes"]) > 1 else ""
        parts.append(
            f"{name}that of {most} most, that of {least} least "
            f"({format_percent(steep.min() / max(steep.max(), FLAT), 0)} of it)"
        )
    drawn = " over the plane drawn" if data["note"] else ""
    return f"Where the scores of each query at p{data['last']} grow{drawn}, and how fast: {'; '.join(parts)}"


def _draw_head_gradients(part: Frame, data: Data, head: int, columns: int, side: float) -> None:
    """All tokens' panels on one scale, and the scale below them."""
    limits = data["planes"][head].limits(data["keys"][head], data["origins"][head][None], room=0.14)
    slopes, theme, start = data["slopes"][head], part.theme, data["origins"][head]
    gradients = np.stack([slope.gradient for slope in slopes])
    longest = max(float(np.linalg.norm(gradients, axis=1).max()), FLAT)
    ends = start + 0.42 * float(np.ptp(limits[0])) / longest * gradients
    limits = data["planes"][head].limits(limits.T, ends, room=0.02)
    largest = max(abs(end) for slope in slopes for end in slope.ends(limits))
    step = choose_level_step(slopes, limits, _LINES)
    top = 0.35 * (len(data["slopes"]) > 1)
    if top:
        part.write(0, 0, f"head {head}", weight="bold")
    for token, slope in enumerate(slopes):
        row, column = divmod(token, columns)
        axes = part.axes(column * (side + _GAP), top + _ABOVE + row * (side + _ABOVE), side, side)
        axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
        image = draw_score_slope(axes, slope, limits, theme, largest, step, _GRID)
        _draw_query_panel(axes, data, head, token, ends[token], theme)
        _name_query_panel(axes, data, head, token, step, theme)
    _explain_gradients(part, data, head, step)
    draw_scale_bar(part.axes(part.width - 4.3, part.height - 0.55, 4.0, 0.14), image, theme)


def _explain_gradients(part: Frame, data: Data, head: int, step: float) -> None:
    x, y = data["planes"][head].labels
    text = f"lines: every {step:g} of score; arrow: the query; axes: {x} and {y}"
    part.write(0, part.height - 0.6, text, SMALL, color=part.theme.muted)


def _draw_query_panel(
    axes: Axes, data: Data, head: int, token: int, end: Float[np.ndarray, "2"], theme: Theme
) -> None:
    """One query: its arrow, all keys, and the names of the best ones."""
    keys, tokens, origin = data["keys"][head], data["tokens"], data["origins"][head]
    _draw_ghost_keys(axes, keys, theme)
    draw_data_arrow(axes, origin, end, theme.ink, 1.1)
    best = data["top"][head][token]
    points, names = keys[best[:, 0], best[:, 1]], [tokens[index] for index in best[:, 0]]
    axes.scatter(*points.T, s=12, c=[pick_token_colour(name) for name in names], linewidths=0.5,
                 edgecolors=theme.ink, zorder=5)  # fmt: skip
    inks = [make_readable_colour(pick_token_colour(name), theme) for name in names]
    texts = [f"{name}@{place}" for name, place in zip(names, best[:, 1], strict=True)]
    place_labels(axes, points, texts, theme, inks, np.linspace(origin, end, 12))


def _name_query_panel(axes: Axes, data: Data, head: int, token: int, step: float, theme: Theme) -> None:
    """The token, and its lowest and highest score in as many decimals as the lines need."""
    name, decimals = data["tokens"][token], max(0, -int(np.floor(np.log10(step))))
    ends = [float(end) for end in data["ends"][head][token]]
    low, high = (
        format_decimals(end, decimals) if decimals <= 2 else format_short_number(end) for end in ends
    )
    axes.set_title(name, weight="bold", color=make_readable_colour(pick_token_colour(name), theme), pad=2)
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    if measure_text_width(f"{low} to {high}", SMALL) + measure_text_width(name, BODY, "bold") < wide - 0.15:
        axes.set_title(f"{low} to {high}", loc="right", color=theme.muted, fontsize=SMALL, pad=2)


def _draw_ghost_keys(axes: Axes, keys: Float[np.ndarray, "tok pos 2"], theme: Theme) -> None:
    axes.scatter(*keys.reshape(-1, 2).T, s=3, color=theme.muted, alpha=0.45, linewidths=0, zorder=1)


def caption(data: Data) -> str:
    return (
        f"For the query of each of the {len(data['tokens'])} tokens at p{data['last']}: its score over the "
        "plane of keys as colour, lines of equal score at one step, and its gradient, the query itself, as "
        "an arrow (lengths compare within a head). "
        f"{name_colour('muted').capitalize()} points: the keys of every token at every position; "
        f"named: the {_TOP} keys with the highest true scores, as token@position. The numbers over a panel "
        f"are its lowest and highest true score over all keys. {data['note']}"
    )
