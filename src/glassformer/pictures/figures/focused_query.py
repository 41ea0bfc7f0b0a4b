"""Focused query: what one query scores at every point of the plane of keys, and what it then attends to.

Lines of equal score are straight and stand across the query. Keys of later positions are hollow and faint.
"""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.core.words import format_decimals, format_percent
from glassformer.pictures.measure.landscape import GRID
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.marks import draw_data_arrow, make_readable_colour, show_plane
from glassformer.pictures.parts.matrices import draw_scale_bar
from glassformer.pictures.parts.queries_keys_values import (
    choose_label_spots,
    compute_r_squared,
    describe_side_planes,
    format_head_title,
    make_head_sides,
)
from glassformer.pictures.parts.slopes import (
    ScoreSlope,
    choose_level_step,
    draw_score_slope,
    list_score_levels,
    make_score_slope,
)
from glassformer.pictures.picture import Data

_LINES = 10  # of equal score, about
_EXACT = 1 - 1e-6  # a share of the variance from which on colours are true scores, but for rounding
_NAMED, _WORTH = 3, 0.005  # keys of the context that get a label, where they get so much attention


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    context = _choose_query_context(subject)
    token, place = int(context[-1]), len(context) - 1
    found = [make_head_sides(subject, head) for head in range(subject.heads)]
    trace, heads = subject.model.trace(context), range(subject.heads)
    slopes = [
        make_score_slope(found[h]["q"].vectors[token, place], found[h]["k"], subject.attention.score_scale)
        for h in heads
    ]
    return {
        "tokens": subject.tokens,
        "context": context,
        "planes": [three["k"].plane for three in found],
        "keys": [three["k"].points for three in found],
        "slopes": slopes,
        "origins": [three["k"].plane(np.zeros(three["k"].vectors.shape[-1]), place / 2) for three in found],
        "scores": [trace[f"{subject.layer}attn.scores.{h}"][-1] for h in heads],
        "weights": [trace[f"{subject.layer}attn.weights.{h}"][-1] for h in heads],
        "kept": [_measure_kept_variance(subject, h, slopes[h], found[h]["k"].points, context) for h in heads],
        "note": describe_side_planes(subject, found, kinds="qk"),
    }


def _measure_kept_variance(
    subject: Subject,
    head: int,
    slope: ScoreSlope,
    keys: Float[np.ndarray, "tok pos 2"],
    context: Int[np.ndarray, " seen"],
) -> float:
    """How much of the variance of a query's scores, over the keys it sees, the slope accounts for."""
    true = subject.scores(head)[context[-1], len(context) - 1, :, : len(context)]  # tok pos
    return compute_r_squared(true, slope(keys)[:, : len(context)])


def _choose_query_context(subject: Subject) -> Int[np.ndarray, " pos"]:
    """The first sequence up to the query; a query of the user's choice takes its position in it."""
    sequence = np.asarray(subject.sequences[0])
    if subject.query is None:
        return sequence
    token, place = subject.query
    return np.append(np.resize(sequence, place), token)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), measure_foot_height(data["note"])
    size = min(9.4, 18.6 / heads - 1.6)
    block = size + 1.6
    paper = make_sheet(theme, heads * block + note, title(data))
    for head in range(heads):
        part = paper.part(0, head * block, paper.width, block)
        _draw_key_plane(part, data, head, size)
        _draw_attention_bars(part, data, head, size)
    write_foot(paper, data["note"])
    return paper.figure


def title(data: Data) -> str:
    """The query, and where most of its attention goes."""
    context, tokens = data["context"], data["tokens"]
    tops = [int(weights.argmax()) for weights in data["weights"]]
    found = [
        format_head_title(
            head,
            len(tops),
            f"{tokens[context[top]]} at p{top} gets {format_percent(data['weights'][head][top], 0)}",
        )
        for head, top in enumerate(tops)
    ]
    words = " ".join(tokens[token] for token in context[-16:])
    start = "… " if len(context) > 16 else ""
    return (
        f"What {_format_context_token(data, len(context) - 1)} attends to: in "
        f"“{start}{words}” {', '.join(found)}"
    )


def _format_context_token(data: Data, place: int) -> str:
    return f"{data['tokens'][data['context'][place]]} at p{place}"


def _draw_key_plane(part: Frame, data: Data, head: int, size: float) -> None:
    """Scores as colour and lines, and all keys; those of the context are ringed."""
    theme, plane, slope, keys = part.theme, data["planes"][head], data["slopes"][head], data["keys"][head]
    axes = part.axes(0.95, 0.55, size, size)
    limits = plane.limits(keys, data["origins"][head][None], room=0.1)
    show_plane(
        axes, plane, limits, format_head_title(head, len(data["planes"]), _describe_key_plane(data, head))
    )
    largest, step = max(map(abs, slope.ends(limits))), choose_level_step([slope], limits, _LINES)
    image = draw_score_slope(axes, slope, limits, theme, largest, step, GRID)
    reach = 0.3 * float(np.ptp(limits, axis=1).min() if not plane.is_line else np.ptp(limits[0]))
    start = data["origins"][head]
    draw_data_arrow(axes, start, start + reach * slope.direction, theme.ink, 1.4)
    _draw_context_keys(axes, data, head, np.linspace(start, start + reach * slope.direction, 20), theme)
    bar = part.axes(0.95 + size + 0.25, 0.55, 0.2, size)
    draw_scale_bar(bar, image, theme, ticks=list_score_levels(slope, limits, 2 * step).tolist())


def _describe_key_plane(data: Data, head: int) -> str:
    kept = data["kept"][head]
    exact = "" if kept > _EXACT else f" ({format_percent(kept, 0)} of its variance)"
    return f"score over the keys{exact}; arrow: the query"


def _draw_context_keys(
    axes: Axes, data: Data, head: int, shaft: Float[np.ndarray, "point 2"], theme: Theme
) -> None:
    """Seen keys filled, masked ones hollow and faint; names of tokens and of the keys most attended to."""
    keys, tokens, context = data["keys"][head], data["tokens"], data["context"]
    colours = [pick_token_colour(token) for token in tokens]
    count = len(context)
    for points, colour in zip(keys, colours, strict=True):
        axes.scatter(*points[:count].T, s=11, color=colour, linewidths=0.3, edgecolors=theme.paper, zorder=3)
        pale = mix_colours(colour, theme.paper, 0.5)
        axes.scatter(*points[count:].T, s=9, facecolors="none", edgecolors=pale, linewidths=0.6, zorder=2)
    mine = keys[context, range(count)]
    axes.scatter(*mine.T, s=34, facecolors="none", edgecolors=theme.ink, linewidths=0.9, zorder=5)
    order = np.argsort(-data["weights"][head])[:_NAMED]
    top = order[: max(1, int((data["weights"][head][order] > _WORTH).sum()))]
    taken: Taken = []
    texts = [f"{tokens[context[i]]}@p{i}: {format_percent(data['weights'][head][i], 0)}" for i in top]
    around = np.concatenate([keys.reshape(-1, 2), shaft])
    place_labels(axes, mine[top], texts, theme, [theme.ink] * len(top), around, size=SMALL + 1, taken=taken)
    inks = [make_readable_colour(colour, theme) for colour in colours]
    place_labels(axes, choose_label_spots(keys[:, :count]), tokens, theme, inks, around, taken=taken)


def _draw_attention_bars(part: Frame, data: Data, head: int, size: float) -> None:
    """Position by position: the score and the share of attention."""
    left, high = size + 3.35, min(size, 0.85 * len(data["context"]))
    wide = (part.width - left - 0.35) / 2
    scores, weights = data["scores"][head], data["weights"][head]
    first = part.axes(left, 0.55, wide, high)
    _draw_position_bars(
        first, data, scores, [format_decimals(float(s), 1) for s in scores], "score", part.theme
    )
    names = [f"{data['tokens'][token]}@p{place}" for place, token in enumerate(data["context"])]
    first.set_yticks(range(len(names)), names)
    for label, token in zip(first.get_yticklabels(), data["context"], strict=True):
        label.set(
            color=make_readable_colour(pick_token_colour(data["tokens"][token]), part.theme), weight="bold"
        )
    second = part.axes(left + wide + 0.35, 0.55, wide, high)
    _draw_position_bars(
        second, data, weights, [format_percent(float(w), 0) for w in weights], "attention", part.theme
    )


def _draw_position_bars(
    axes: Axes, data: Data, values: Float[np.ndarray, " pos"], texts: list[str], name: str, theme: Theme
) -> None:
    """One bar per position, from 0, in the token's colour, and its number in a column at the right."""
    colours = [pick_token_colour(data["tokens"][token]) for token in data["context"]]
    axes.barh(range(len(values)), values, 0.6, color=colours)
    axes.axvline(0, color=theme.muted, linewidth=0.6)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    length = max(high - low, 1e-9)
    axes.set_xlim(low - 0.03 * length, high + 0.95 * length)
    axes.set_ylim(len(values) - 0.5, -0.5)
    for place, text in enumerate(texts):
        axes.text(1.0, place, text, ha="right", va="center_baseline", fontsize=SMALL,
                  transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_title(name)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def caption(data: Data) -> str:
    place, tokens = len(data["context"]) - 1, data["tokens"]
    words = " ".join(tokens[token] for token in data["context"])
    masked = data["keys"][0].shape[1] - place - 1
    hidden = f"The keys of the {masked} later positions are masked, and drawn hollow. " if masked else ""
    kept = " and ".join(format_percent(share, 0) for share in data["kept"])
    return (
        f"The query of {_format_context_token(data, place)}. Colour: its score at every point of the plane "
        "of keys, as q · k with the model's scale; lines: equal scores, at the ticks of the bar and between; "
        "arrow: the query's direction. Points: the keys of every token at every position; ringed: those of "
        f"the context “{words}”, with their scores and softmax weights from the forward pass on the right. "
        f"{hidden}The colours explain {kept} of the variance of this query's true scores. {data['note']}"
    )
