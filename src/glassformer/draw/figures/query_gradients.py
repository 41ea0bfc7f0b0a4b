"""Query gradients: for every token's query at the last place, the direction in which its score grows.

Lines join keys of equal score, at the same step in all panels of a head: the closer, the choosier the query.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, SMALL, Frame, foot_height, sheet, text_width, write_foot
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import arrow, readable
from glassformer.draw.parts.matrices import number_text, scale_bar, short_number
from glassformer.draw.parts.queries_keys_values import Side, plane_notes, sides
from glassformer.draw.parts.slopes import FLAT, draw_slope, slope_of, step_of
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour

TOP = 3  # keys that are named in a panel
LINES = 12  # of equal score in the steepest panel, about
GRID = 40  # points along a side: the score is an even slope, and colours between are interpolated
GAP, ABOVE, PAGE_HEIGHT = 0.25, 0.45, 18.5  # cm


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    found = [sides(subject, head) for head in range(subject.heads)]
    scale, heads = subject.attention.score_scale, range(subject.heads)
    scores = [subject.scores(head)[:, -1] for head in heads]  # tok tok pos
    return {
        "tokens": subject.tokens,
        "last": subject.context - 1,
        "planes": [three["k"].plane for three in found],
        "keys": [three["k"].points for three in found],
        "slopes": [
            [slope_of(query, three["k"], scale) for query in three["q"].vectors[:, -1]] for three in found
        ],
        "origins": [origin_of(three["k"]) for three in found],
        "top": [np.stack([best_keys(one) for one in scores[head]]) for head in heads],  # tok TOP 2
        "ends": [
            np.stack([one.reshape(len(one), -1).min(1), one.reshape(len(one), -1).max(1)], 1)
            for one in scores
        ],
        "note": plane_notes(subject, found, kinds="qk"),
    }


def origin_of(keys: Side) -> Float[np.ndarray, "2"]:
    """Where arrows start: at zero, and half-way up where y is the place."""
    _, places, dims = keys.vectors.shape
    return keys.plane(np.zeros(dims), (places - 1) / 2)


def best_keys(scores: Float[np.ndarray, "tok pos"]) -> np.ndarray:
    """Token and place of the keys with the highest scores, best first."""
    order = np.argsort(-scores, axis=None, kind="stable")[:TOP]
    return np.stack(np.unravel_index(order, scores.shape), 1)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), foot_height(data["note"])
    columns, side = arranged(len(data["tokens"]), heads)
    rows = -(-len(data["tokens"]) // columns)
    block = rows * (side + ABOVE) + 0.75 + 0.35 * (heads > 1)
    paper = sheet(theme, heads * block + note, title(data))
    for head in range(heads):
        part = paper.part(0, head * block, paper.width, block)
        draw_head(part, data, head, columns, side)
    write_foot(paper, data["note"])
    return paper.figure


def arranged(count: int, heads: int) -> tuple[int, float]:
    """Columns with the fewest empty places that a page allows, and the side of a panel in cm."""
    sides = {columns: (16.2 - (columns - 1) * GAP) / columns for columns in range(4, 9)}
    heights = {columns: heads * -(-count // columns) * (side + ABOVE) for columns, side in sides.items()}
    fitting = [columns for columns in sides if heights[columns] <= PAGE_HEIGHT - heads] or [8]
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
            f"({percent(steep.min() / max(steep.max(), FLAT), 0)} of it)"
        )
    drawn = " over the plane drawn" if data["note"] else ""
    return f"Where the scores of each query at p{data['last']} grow{drawn}, and how fast: {'; '.join(parts)}"


def draw_head(part: Frame, data: Data, head: int, columns: int, side: float) -> None:
    """All tokens' panels on one scale, and the scale below them."""
    limits = data["planes"][head].limits(data["keys"][head], data["origins"][head][None], room=0.14)
    slopes, theme, start = data["slopes"][head], part.theme, data["origins"][head]
    gradients = np.stack([slope.gradient for slope in slopes])
    longest = max(float(np.linalg.norm(gradients, axis=1).max()), FLAT)
    ends = start + 0.42 * float(np.ptp(limits[0])) / longest * gradients
    limits = data["planes"][head].limits(limits.T, ends, room=0.02)
    largest = max(abs(end) for slope in slopes for end in slope.ends(limits))
    step = step_of(slopes, limits, LINES)
    top = 0.35 * (len(data["slopes"]) > 1)
    if top:
        part.write(0, 0, f"head {head}", weight="bold")
    for token, slope in enumerate(slopes):
        row, column = divmod(token, columns)
        axes = part.axes(column * (side + GAP), top + ABOVE + row * (side + ABOVE), side, side)
        axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
        image = draw_slope(axes, slope, limits, theme, largest, step, GRID)
        draw_panel(axes, data, head, token, ends[token], theme)
        name_panel(axes, data, head, token, step, theme)
    explain(part, data, head, step)
    scale_bar(part.axes(part.width - 4.3, part.height - 0.55, 4.0, 0.14), image, theme)


def explain(part: Frame, data: Data, head: int, step: float) -> None:
    x, y = data["planes"][head].labels
    text = f"lines: every {step:g} of score; arrow: the query; axes: {x} and {y}"
    part.write(0, part.height - 0.6, text, SMALL, color=part.theme.muted)


def draw_panel(
    axes: Axes, data: Data, head: int, token: int, end: Float[np.ndarray, "2"], theme: Theme
) -> None:
    """One query: its arrow, all keys, and the names of the best ones."""
    keys, tokens, origin = data["keys"][head], data["tokens"], data["origins"][head]
    ghost_keys(axes, keys, theme)
    arrow(axes, origin, end, theme.ink, 1.1)
    best = data["top"][head][token]
    points, names = keys[best[:, 0], best[:, 1]], [tokens[index] for index in best[:, 0]]
    axes.scatter(*points.T, s=12, c=[token_colour(name) for name in names], linewidths=0.5,
                 edgecolors=theme.ink, zorder=5)  # fmt: skip
    inks = [readable(token_colour(name), theme) for name in names]
    texts = [f"{name}@{place}" for name, place in zip(names, best[:, 1], strict=True)]
    place_labels(axes, points, texts, theme, inks, np.linspace(origin, end, 12))


def name_panel(axes: Axes, data: Data, head: int, token: int, step: float, theme: Theme) -> None:
    """The token, and its lowest and highest score in as many decimals as the lines need."""
    name, decimals = data["tokens"][token], max(0, -int(np.floor(np.log10(step))))
    ends = [float(end) for end in data["ends"][head][token]]
    low, high = (number_text(end, decimals) if decimals <= 2 else short_number(end) for end in ends)
    axes.set_title(name, weight="bold", color=readable(token_colour(name), theme), pad=2)
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    if text_width(f"{low} to {high}", SMALL) + text_width(name, BODY, "bold") < wide - 0.15:
        axes.set_title(f"{low} to {high}", loc="right", color=theme.muted, fontsize=SMALL, pad=2)


def ghost_keys(axes: Axes, keys: Float[np.ndarray, "tok pos 2"], theme: Theme) -> None:
    axes.scatter(*keys.reshape(-1, 2).T, s=3, color=theme.muted, alpha=0.45, linewidths=0, zorder=1)


def caption(data: Data) -> str:
    return (
        f"For the query of each of the {len(data['tokens'])} tokens at p{data['last']}: its score over the "
        "plane of keys as colour, lines of equal score at one step, and its gradient, the query itself, as "
        "an arrow (lengths compare within a head). Grey points: the keys of every token at every place; "
        f"named: the {TOP} keys with the highest true scores, as token@place. The numbers over a panel are "
        f"its lowest and highest true score over all keys. {data['note']}"
    )
