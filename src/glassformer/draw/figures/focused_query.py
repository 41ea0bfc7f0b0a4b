"""Focused query: what one query scores at every point of the plane of keys, and what it then attends to.

Lines of equal score are straight and stand across the query. Keys of later places are hollow and faint.
"""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.landscape import GRID
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, Frame, foot_height, sheet, write_foot
from glassformer.draw.parts.labels import Taken, place_labels
from glassformer.draw.parts.marks import arrow, readable, show_plane
from glassformer.draw.parts.matrices import number_text, scale_bar
from glassformer.draw.parts.queries_keys_values import (
    head_title,
    label_spots,
    plane_notes,
    share_explained,
    sides,
)
from glassformer.draw.parts.slopes import Slope, draw_slope, levels, slope_of, step_of
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, mixed, token_colour

LINES = 10  # of equal score, about
EXACT = 1 - 1e-6  # a share of the variance from which on colours are true scores, but for rounding
NAMED, WORTH = 3, 0.005  # keys of the context that get a label, where they get so much attention


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    context = context_of(subject)
    token, place = int(context[-1]), len(context) - 1
    found = [sides(subject, head) for head in range(subject.heads)]
    trace, heads = subject.model.trace(context), range(subject.heads)
    slopes = [
        slope_of(found[h]["q"].vectors[token, place], found[h]["k"], subject.attention.score_scale)
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
        "kept": [kept_of(subject, h, slopes[h], found[h]["k"].points, context) for h in heads],
        "note": plane_notes(subject, found, kinds="qk"),
    }


def kept_of(
    subject: Subject,
    head: int,
    slope: Slope,
    keys: Float[np.ndarray, "tok pos 2"],
    context: Int[np.ndarray, " pos"],
) -> float:
    """How much of the variance of a query's scores, over the keys it sees, the slope accounts for."""
    true = subject.scores(head)[context[-1], len(context) - 1, :, : len(context)]  # tok pos
    return share_explained(true, slope(keys)[:, : len(context)])


def context_of(subject: Subject) -> Int[np.ndarray, " pos"]:
    """The first sequence up to the query; a query of the user's choice takes its place in it."""
    sequence = np.asarray(subject.sequences[0])
    if subject.query is None:
        return sequence
    token, place = subject.query
    return np.append(np.resize(sequence, place), token)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), foot_height(data["note"])
    size = min(9.4, 18.6 / heads - 1.6)
    block = size + 1.6
    paper = sheet(theme, heads * block + note, title(data))
    for head in range(heads):
        part = paper.part(0, head * block, paper.width, block)
        draw_plane(part, data, head, size)
        draw_attention(part, data, head, size)
    write_foot(paper, data["note"])
    return paper.figure


def title(data: Data) -> str:
    """The query, and where most of its attention goes."""
    context, tokens = data["context"], data["tokens"]
    tops = [int(weights.argmax()) for weights in data["weights"]]
    found = [
        head_title(
            head, len(tops), f"{tokens[context[top]]} at p{top} gets {percent(data['weights'][head][top], 0)}"
        )
        for head, top in enumerate(tops)
    ]
    words = " ".join(tokens[token] for token in context[-16:])
    start = "… " if len(context) > 16 else ""
    return f"What {name_of(data, len(context) - 1)} looks for: in “{start}{words}” {', '.join(found)}"


def name_of(data: Data, place: int) -> str:
    return f"{data['tokens'][data['context'][place]]} at p{place}"


def draw_plane(part: Frame, data: Data, head: int, size: float) -> None:
    """Scores as colour and lines, and all keys; those of the context are ringed."""
    theme, plane, slope, keys = part.theme, data["planes"][head], data["slopes"][head], data["keys"][head]
    axes = part.axes(0.95, 0.55, size, size)
    limits = plane.limits(keys, data["origins"][head][None], room=0.1)
    show_plane(axes, plane, limits, head_title(head, len(data["planes"]), plane_title(data, head)))
    largest, step = max(map(abs, slope.ends(limits))), step_of([slope], limits, LINES)
    image = draw_slope(axes, slope, limits, theme, largest, step, GRID)
    reach = 0.3 * float(np.ptp(limits, axis=1).min() if not plane.is_line else np.ptp(limits[0]))
    start = data["origins"][head]
    arrow(axes, start, start + reach * slope.direction, theme.ink, 1.4)
    draw_keys(axes, data, head, np.linspace(start, start + reach * slope.direction, 20), theme)
    bar = part.axes(0.95 + size + 0.25, 0.55, 0.2, size)
    scale_bar(bar, image, theme, ticks=levels(slope, limits, 2 * step).tolist())


def plane_title(data: Data, head: int) -> str:
    kept = data["kept"][head]
    exact = "" if kept > EXACT else f" ({percent(kept, 0)} of its variance)"
    return f"score over the keys{exact}; arrow: the query"


def draw_keys(axes: Axes, data: Data, head: int, shaft: Float[np.ndarray, "point 2"], theme: Theme) -> None:
    """Seen keys filled, masked ones hollow and faint; names of tokens and of the keys most attended to."""
    keys, tokens, context = data["keys"][head], data["tokens"], data["context"]
    colours = [token_colour(token) for token in tokens]
    count = len(context)
    for points, colour in zip(keys, colours, strict=True):
        axes.scatter(*points[:count].T, s=11, color=colour, linewidths=0.3, edgecolors=theme.paper, zorder=3)
        axes.scatter(*points[count:].T, s=9, facecolors="none", edgecolors=mixed(colour, theme.paper, 0.5),
                     linewidths=0.6, zorder=2)  # fmt: skip
    mine = keys[context, range(count)]
    axes.scatter(*mine.T, s=34, facecolors="none", edgecolors=theme.ink, linewidths=0.9, zorder=5)
    order = np.argsort(-data["weights"][head])[:NAMED]
    top = order[: max(1, int((data["weights"][head][order] > WORTH).sum()))]
    taken: Taken = []
    texts = [f"{tokens[context[i]]}@p{i}: {percent(data['weights'][head][i], 0)}" for i in top]
    around = np.concatenate([keys.reshape(-1, 2), shaft])
    place_labels(axes, mine[top], texts, theme, [theme.ink] * len(top), around, size=SMALL + 1, taken=taken)
    inks = [readable(colour, theme) for colour in colours]
    place_labels(axes, label_spots(keys[:, :count]), tokens, theme, inks, around, taken=taken)


def draw_attention(part: Frame, data: Data, head: int, size: float) -> None:
    """Place by place: the score and the share of attention."""
    left, high = size + 3.35, min(size, 0.85 * len(data["context"]))
    wide = (part.width - left - 0.35) / 2
    scores, weights = data["scores"][head], data["weights"][head]
    first = part.axes(left, 0.55, wide, high)
    draw_bars(first, data, scores, [number_text(float(s), 1) for s in scores], "score", part.theme)
    names = [f"{data['tokens'][token]}@p{place}" for place, token in enumerate(data["context"])]
    first.set_yticks(range(len(names)), names)
    for label, token in zip(first.get_yticklabels(), data["context"], strict=True):
        label.set(color=readable(token_colour(data["tokens"][token]), part.theme), weight="bold")
    second = part.axes(left + wide + 0.35, 0.55, wide, high)
    draw_bars(second, data, weights, [percent(float(w), 0) for w in weights], "attention", part.theme)


def draw_bars(
    axes: Axes, data: Data, values: Float[np.ndarray, " pos"], texts: list[str], name: str, theme: Theme
) -> None:
    """A bar a place from 0, in the token's colour, and its number in a column at the right."""
    colours = [token_colour(data["tokens"][token]) for token in data["context"]]
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
    hidden = f"The keys of the {masked} later places are masked, and drawn hollow. " if masked else ""
    kept = " and ".join(percent(share, 0) for share in data["kept"])
    return (
        f"The query of {name_of(data, place)}. Colour: its score at every point of the plane of keys, as "
        f"q · k with the model's scale; lines: equal scores, at the ticks of the bar and between; arrow: the "
        f"query's direction. Points: the keys of every token at every place; ringed: those of the context "
        f"“{words}”, whose scores and softmax weights, by the model's own pass, stand at the right. {hidden}"
        f"The colours account for {kept} of the variance of this query's true scores. {data['note']}"
    )
