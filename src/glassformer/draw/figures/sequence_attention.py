"""Three sequences: queries, keys, their products below the diagonal, and the attention that comes of them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, FOOT, SMALL, Frame, sheet, text_height, text_width
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import cross, ghost, readable, show_plane
from glassformer.draw.parts.matrices import MOST_NUMBERS
from glassformer.draw.parts.message_sums import head_names
from glassformer.draw.parts.queries_keys_values import score_notes
from glassformer.draw.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    SHARE_CELL,
    STRIP,
    attention_matrix,
    below_diagonal,
    named,
    place_matrix,
    scale_words,
    score_matrix,
    strip,
)
from glassformer.draw.picture import Data, words_of
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour

AXIS, GAP, THIN = 0.8, 0.3, 0.15  # cm: names left of a scatter, between panels, between Q and K
BELOW = 0.45  # cm under a block, for the ticks of its scatter
NUMBER_HEIGHT = 0.245  # cm of a row in which a number can be read
ROOM = 20.0  # cm of height for all blocks
SCORE_CELL, MOST_SCORES = 0.545, 8  # cm in which `-12` can be read; places up to which there is room for it
VECTORS = 1.25  # cm: Q, or K, at least


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    planes = [subject.qk_plane(head) for head in range(subject.heads)]
    sequences = [one_sequence(subject, index) for index in range(len(subject.sequences))]
    places = np.arange(subject.context, dtype=float)
    width = subject.model.architecture.width
    return {
        "planes": planes,
        "sequences": sequences,
        "clouds": [
            np.stack([plane(subject.queries(head), places), plane(subject.keys(head), places)])
            for head, plane in enumerate(planes)
        ],
        "largest": [
            {kind: largest([one["heads"][head][kind] for one in sequences]) for kind in ("qk", "scores")}
            for head in range(subject.heads)
        ],
        "is_folded": subject.attention.folds_scores(width),
        "scale": subject.attention.score_scale,
        "remarks": score_notes(subject),
    }


def one_sequence(subject: Subject, index: int) -> Data:
    """What each head makes of a sequence."""
    trace, name = subject.trace(index), f"{subject.layer}attn"
    spread = np.arange(len(subject.sequences[index]), dtype=float)
    heads = []
    for head in range(subject.heads):
        queries, keys = trace[f"{name}.query.{head}"], trace[f"{name}.key.{head}"]  # pos dim
        plane = subject.qk_plane(head)
        heads.append(
            {
                "qk": np.stack([queries, keys]),
                "points": np.stack([plane(queries, spread), plane(keys, spread)]),
                "scores": below_diagonal(trace[f"{name}.scores.{head}"]),
                "weights": below_diagonal(trace[f"{name}.weights.{head}"]),
            }
        )
    source = subject.source(index)
    return {"labels": subject.labels(index), "source": source, "heads": heads}


def largest(arrays: list[np.ndarray]) -> float:
    return max(float(np.nanmax(np.abs(array))) for array in arrays)


class Widths(NamedTuple):
    """Of the panels of a block, in cm."""

    side: float  # the scatter, and the height of all
    vectors: float  # Q, and K
    scores: float
    attention: float


def widths(places: int, dims: int, heads: int, sequences: int, across: float) -> Widths:
    """Numbers get the room that they need; without them scores and attention share what is left."""
    room = across - AXIS - ROW_NAMES - THIN - 2 * GAP - 2 * VECTORS
    tallest = min((ROOM / sequences - STRIP - HEADINGS) / heads - BELOW, 4.0)
    is_high = tallest >= NUMBER_HEIGHT * places
    attention = SHARE_CELL * places if places <= MOST_NUMBERS and is_high else 0.0
    scores = SCORE_CELL * places if places <= MOST_SCORES and is_high else 0.0
    squares = 1 + (attention == 0) + (scores == 0)
    side = min((room - attention - scores) / squares, tallest)
    scores, attention = max(2.0, scores or side), max(2.0, attention or side)
    spare = room - side - attention - scores
    vectors = float(np.clip(spare / 2, 0, max(0.0, min(0.75 * dims, 2.6) - VECTORS)))
    more = min(side / 2, (spare - 2 * vectors) / 2) if places > MOST_SCORES else 0.0
    return Widths(side, VECTORS + vectors, scores + more, attention + more)


def draw(data: Data, theme: Theme) -> Figure:
    sequences, heads = data["sequences"], len(data["planes"])
    places = max(len(one["labels"]) for one in sequences)
    dims = sequences[0]["heads"][0]["qk"].shape[-1]
    sizes = widths(places, dims, heads, len(sequences), 16.4)
    block = STRIP + HEADINGS + heads * (sizes.side + BELOW)
    below = 0.25 + text_height(plane_notes(data), SMALL, FOOT) if plane_notes(data) else 0.0
    paper = sheet(theme, len(sequences) * block + below, title(data))
    for index, one in enumerate(sequences):
        frame = paper.part(0, index * block, paper.width, block)
        draw_heading(frame, one)
        for head in range(heads):
            top = STRIP + HEADINGS + head * (sizes.side + BELOW)
            draw_block(frame.part(0, top, paper.width, sizes.side), data, one, head, sizes)
    paper.write(0, paper.height - below + 0.1, plane_notes(data), SMALL, FOOT, color=theme.muted)
    return paper.figure


def plane_notes(data: Data) -> str:
    """What must be known of each head's projection."""
    names = head_names(len(data["planes"]))
    notes = [
        f"{name}: {plane.note}" if name else plane.note
        for name, plane in zip(names, data["planes"], strict=True)
    ]
    return "; ".join((notes if data["planes"][0].note else []) + data["remarks"])


def title(data: Data) -> str:
    """How much of the last places' attention goes to the tokens that the rule needs, where it needs any."""
    shares = [source_share(one) for one in data["sequences"]]
    if any(share is None for share in shares):
        return "Queries meet keys: every place looks at itself and at those before it"
    words = [percent(share, 0) for share in shares if share is not None]
    text = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    heads = "" if len(data["planes"]) == 1 else " (in the head that gives it most)"
    copies = any(one["labels"].count(one["labels"][one["source"]]) > 1 for one in data["sequences"])
    same = ", and to the same token at other places" if copies else ""
    return (
        f"The last place gives {text} of its attention to the earliest token that the rule needs{same}{heads}"
    )


def source_share(one: Data) -> float | None:
    """What the last place gives to the source and to other places with the same token."""
    if one["source"] is None:
        return None
    same = np.array(one["labels"]) == one["labels"][one["source"]]
    return float(max(head["weights"][-1, same].sum() for head in one["heads"]))


def draw_heading(frame: Frame, one: Data) -> None:
    """The sequence, and where its last place looks; beside it where there is room."""
    labels = one["labels"]
    axes = strip(frame, 0, 0, labels, one["source"])
    wide = axes.get_position().width * frame.figure.get_size_inches()[0] * 2.54
    if frame.width - wide > 5:
        frame.write(wide + GAP, 0.06, look_words(one), SMALL, frame.width - wide - GAP)


def look_words(one: Data) -> str:
    """Where the last place looks, head by head."""
    labels, last = one["labels"], len(one["labels"]) - 1
    sentences = []
    for head, name in enumerate(head_names(len(one["heads"]))):
        start = f"{name}: " if name else ""
        weights = one["heads"][head]["weights"][-1]
        most = int(np.argmax(weights))
        share = percent(weights[most], 0)
        which = ", the source" if most == one["source"] else ""
        sentences.append(f"{start}{named(labels, last)} gives {share} to {named(labels, most)}{which}")
    return ";\n".join(sentences)


def draw_block(frame: Frame, data: Data, one: Data, head: int, sizes: Widths) -> None:
    """One head's panels, left to right; titles and columns are named above the first head."""
    theme, labels, parts = frame.theme, one["labels"], one["heads"][head]
    name, ends = head_names(len(data["planes"]))[head], data["largest"][head]
    draw_scatter(frame.axes(AXIS, 0, sizes.side, sizes.side), data, one, head, theme)
    left = AXIS + sizes.side + ROW_NAMES
    frame.write(left - 0.1, -0.34, name, SMALL, weight="bold", ha="right")
    for side, rows in enumerate(parts["qk"]):
        axes = frame.axes(left, 0, sizes.vectors, sizes.side)
        text = f"{'QK'[side]} ({scale_words(ends['qk'])})"
        text = text if text_width(text, BODY) <= sizes.vectors else "QK"[side]
        place_matrix(axes, rows, labels, theme, text, names=side == 0, largest=ends["qk"])
        left += sizes.vectors + (GAP if side else THIN)
        quiet(axes, head)
    axes = frame.axes(left, 0, sizes.scores, sizes.side)
    text = f"scores ({scale_words(ends['scores'])})"
    score_matrix(axes, parts["scores"], labels, theme, text, ends["scores"], names=False)
    quiet(axes, head)
    axes = frame.axes(left + sizes.scores + GAP, 0, sizes.attention, sizes.side)
    attention_matrix(axes, parts["weights"], labels, theme, names=False, source=one["source"])
    quiet(axes, head)


def quiet(axes: Axes, head: int) -> None:
    """Only the first head's matrices have names above them."""
    if head:
        axes.set_title("")
        axes.set_xticks([])


def draw_scatter(axes: Axes, data: Data, one: Data, head: int, theme: Theme) -> None:
    """Queries (triangles) and keys (dots) of the sequence, over those of all tokens and places."""
    plane, labels, (queries, keys) = data["planes"][head], one["labels"], one["heads"][head]["points"]
    show_plane(axes, plane, plane.limits(data["clouds"][head]), "" if head else "q \u25b2, k \u25cf")
    axes.set_xlabel("")
    cross(axes, theme)
    ghost(axes, data["clouds"][head], theme, size=2)
    colours = [token_colour(label) for label in labels]
    look = {"c": colours, "edgecolors": theme.ink, "linewidths": 0.5}
    axes.scatter(*keys.T, s=15, zorder=4, **look)
    axes.scatter(*queries.T, s=17, marker="^", zorder=5, **look)
    which = seen_most(one["heads"][head]["weights"][-1], labels, axes)
    spots = np.concatenate([queries[-1:], keys[which]])
    texts = [f"q of p{len(labels) - 1}", *(labels[place] for place in which)]
    inks = [theme.ink, *(readable(colours[place], theme) for place in which)]
    place_labels(axes, spots, texts, theme, inks, np.concatenate([queries, keys]))


def seen_most(weights: Float[np.ndarray, " pos"], labels: tuple[str, ...], axes: Axes) -> list[int]:
    """One place a token, those that the last place looks at most; as many as the panel has room for."""
    order = [int(place) for place in np.argsort(-weights, kind="stable")]
    first = {labels[place]: place for place in reversed(order)}  # the most seen place of each token
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    return [place for place in order if first[labels[place]] == place][: int(wide**2)]


def caption(data: Data) -> str:
    rows = "; ".join(f"{' '.join(one['labels'])}: {look_words(one)}" for one in data["sequences"])
    folded = (
        "The heads are wider than the stream, so the product of both weights is put on the queries' side and "
        "the keys are the stream itself. "
    )
    framed = "; a framed cell is the last place's look at the source, the earliest token that the rule needs"
    return (
        "Queries and keys of every place, their products (scores, times "
        f"{data['scale']:.3g}), and the softmax of each row over the places up to its own; later places are "
        "masked and left blank; numbers are rounded to what fits. Rows ask, columns answer"
        f"{framed if words_of(data)['law'] == 'rule' else ''}. Scales are shared by "
        "the sequences. In the scatter: queries (triangles) and keys (dots) of the sequence, one label a "
        "token (those that the last place looks at most, where not all have room), over those of all tokens "
        f"at all places (grey). {folded if data['is_folded'] else ''}{rows}. {plane_notes(data)}"
    )
