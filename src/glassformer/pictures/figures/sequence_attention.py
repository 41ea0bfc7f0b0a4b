"""Three sequences: queries, keys, their products below the diagonal, and the attention that comes of them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_percent, join_words
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    BODY,
    FOOT,
    SMALL,
    Frame,
    make_sheet,
    measure_text_height,
    measure_text_width,
)
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.matrices import MOST_NUMBERS
from glassformer.pictures.parts.message_sums import list_head_names
from glassformer.pictures.parts.queries_keys_values import describe_score_terms
from glassformer.pictures.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    SHARE_CELL,
    STRIP,
    draw_attention_matrix,
    draw_position_matrix,
    draw_score_matrix,
    draw_token_strip,
    format_scale_end,
    format_token_position,
    mask_above_diagonal,
)
from glassformer.pictures.picture import Data, find_task_words

_AXIS, _GAP, _THIN = 0.8, 0.3, 0.15  # cm: names left of a scatter, between panels, between Q and K
_BELOW = 0.45  # cm under a block, for the ticks of its scatter
_NUMBER_HEIGHT = 0.245  # cm of a row in which a number can be read
_ROOM = 20.0  # cm of height for all blocks
_SCORE_CELL, _MOST_SCORES = 0.545, 8  # cm in which `-12` can be read; positions for which there is room
_VECTORS = 1.25  # cm: Q, or K, at least


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    planes = [subject.qk_plane(head) for head in range(subject.heads)]
    sequences = [compute_sequence_attention(subject, index) for index in range(len(subject.sequences))]
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
            {
                kind: _find_largest_magnitude([one["heads"][head][kind] for one in sequences])
                for kind in ("qk", "scores")
            }
            for head in range(subject.heads)
        ],
        "is_folded": subject.attention.folds_scores(width),
        "scale": subject.attention.score_scale,
        "remarks": describe_score_terms(subject),
    }


def compute_sequence_attention(subject: Subject, index: int) -> Data:
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
                "scores": mask_above_diagonal(trace[f"{name}.scores.{head}"]),
                "weights": mask_above_diagonal(trace[f"{name}.weights.{head}"]),
            }
        )
    source = subject.source(index)
    return {"labels": subject.labels(index), "source": source, "heads": heads}


def _find_largest_magnitude(arrays: list[np.ndarray]) -> float:
    return max(float(np.nanmax(np.abs(array))) for array in arrays)


class _PanelWidths(NamedTuple):
    """Of the panels of a block, in cm."""

    side: float  # the scatter, and the height of all
    vectors: float  # Q, and K
    scores: float
    attention: float


def _choose_panel_widths(places: int, dims: int, heads: int, sequences: int, across: float) -> _PanelWidths:
    """Numbers get the room that they need; without them scores and attention share what is left."""
    room = across - _AXIS - ROW_NAMES - _THIN - 2 * _GAP - 2 * _VECTORS
    tallest = min((_ROOM / sequences - STRIP - HEADINGS) / heads - _BELOW, 4.0)
    is_high = tallest >= _NUMBER_HEIGHT * places
    attention = SHARE_CELL * places if places <= MOST_NUMBERS and is_high else 0.0
    scores = _SCORE_CELL * places if places <= _MOST_SCORES and is_high else 0.0
    squares = 1 + (attention == 0) + (scores == 0)
    side = min((room - attention - scores) / squares, tallest)
    scores, attention = max(2.0, scores or side), max(2.0, attention or side)
    spare = room - side - attention - scores
    vectors = float(np.clip(spare / 2, 0, max(0.0, min(0.75 * dims, 2.6) - _VECTORS)))
    more = min(side / 2, (spare - 2 * vectors) / 2) if places > _MOST_SCORES else 0.0
    return _PanelWidths(side, _VECTORS + vectors, scores + more, attention + more)


def draw(data: Data, theme: Theme) -> Figure:
    sequences, heads = data["sequences"], len(data["planes"])
    places = max(len(one["labels"]) for one in sequences)
    dims = sequences[0]["heads"][0]["qk"].shape[-1]
    sizes = _choose_panel_widths(places, dims, heads, len(sequences), 16.4)
    block = STRIP + HEADINGS + heads * (sizes.side + _BELOW)
    below = (
        0.25 + measure_text_height(_describe_head_planes(data), SMALL, FOOT)
        if _describe_head_planes(data)
        else 0.0
    )
    paper = make_sheet(theme, len(sequences) * block + below, title(data))
    for index, one in enumerate(sequences):
        frame = paper.part(0, index * block, paper.width, block)
        _draw_sequence_heading(frame, one)
        for head in range(heads):
            top = STRIP + HEADINGS + head * (sizes.side + _BELOW)
            _draw_head_block(frame.part(0, top, paper.width, sizes.side), data, one, head, sizes)
    paper.write(0, paper.height - below + 0.1, _describe_head_planes(data), SMALL, FOOT, color=theme.muted)
    return paper.figure


def _describe_head_planes(data: Data) -> str:
    """What must be known of each head's projection."""
    names = list_head_names(len(data["planes"]))
    notes = [
        f"{name}: {plane.note}" if name else plane.note
        for name, plane in zip(names, data["planes"], strict=True)
    ]
    return "; ".join((notes if data["planes"][0].note else []) + data["remarks"])


def title(data: Data) -> str:
    """Share of the last position's attention on the tokens that the rule needs, where it needs any."""
    shares = [measure_source_share(one) for one in data["sequences"]]
    if any(share is None for share in shares):
        return "Every position attends to itself and to earlier positions"
    words = [format_percent(share, 0) for share in shares if share is not None]
    text = join_words(words)
    heads = "" if len(data["planes"]) == 1 else " (in the head with the most)"
    copies = any(one["labels"].count(one["labels"][one["source"]]) > 1 for one in data["sequences"])
    same = " and its copies at other positions" if copies else ""
    return (
        f"The last position puts {text} of its attention on the earliest token that the rule needs{same}"
        f"{heads}"
    )


def measure_source_share(one: Data) -> float | None:
    """What the last position gives to the source and to other positions with the same token."""
    if one["source"] is None:
        return None
    same = np.array(one["labels"]) == one["labels"][one["source"]]
    return float(max(head["weights"][-1, same].sum() for head in one["heads"]))


def _draw_sequence_heading(frame: Frame, one: Data) -> None:
    """The sequence, and where its last position looks; beside it where there is room."""
    labels = one["labels"]
    axes = draw_token_strip(frame, 0, 0, labels, one["source"])
    wide = axes.get_position().width * frame.figure.get_size_inches()[0] * 2.54
    if frame.width - wide > 5:
        frame.write(wide + _GAP, 0.06, _describe_last_look(one), SMALL, frame.width - wide - _GAP)


def _describe_last_look(one: Data) -> str:
    """Where the last position looks, head by head."""
    labels, last = one["labels"], len(one["labels"]) - 1
    sentences = []
    for head, name in enumerate(list_head_names(len(one["heads"]))):
        start = f"{name}: " if name else ""
        weights = one["heads"][head]["weights"][-1]
        most = int(np.argmax(weights))
        share = format_percent(weights[most], 0)
        which = ", the source" if most == one["source"] else ""
        sentences.append(
            f"{start}{format_token_position(labels, last)} gives {share} to "
            f"{format_token_position(labels, most)}{which}"
        )
    return ";\n".join(sentences)


def _draw_head_block(frame: Frame, data: Data, one: Data, head: int, sizes: _PanelWidths) -> None:
    """One head's panels, left to right; titles and columns are named above the first head."""
    theme, labels, parts = frame.theme, one["labels"], one["heads"][head]
    name, ends = list_head_names(len(data["planes"]))[head], data["largest"][head]
    _draw_attention_scatter(frame.axes(_AXIS, 0, sizes.side, sizes.side), data, one, head, theme)
    left = _AXIS + sizes.side + ROW_NAMES
    frame.write(left - 0.1, -0.34, name, SMALL, weight="bold", ha="right")
    for side, rows in enumerate(parts["qk"]):
        axes = frame.axes(left, 0, sizes.vectors, sizes.side)
        text = f"{'QK'[side]} ({format_scale_end(ends['qk'])})"
        text = text if measure_text_width(text, BODY) <= sizes.vectors else "QK"[side]
        draw_position_matrix(axes, rows, labels, theme, text, names=side == 0, largest=ends["qk"])
        left += sizes.vectors + (_GAP if side else _THIN)
        _hide_repeated_names(axes, head)
    axes = frame.axes(left, 0, sizes.scores, sizes.side)
    text = f"scores ({format_scale_end(ends['scores'])})"
    draw_score_matrix(axes, parts["scores"], labels, theme, text, ends["scores"], names=False)
    _hide_repeated_names(axes, head)
    axes = frame.axes(left + sizes.scores + _GAP, 0, sizes.attention, sizes.side)
    draw_attention_matrix(axes, parts["weights"], labels, theme, names=False, source=one["source"])
    _hide_repeated_names(axes, head)


def _hide_repeated_names(axes: Axes, head: int) -> None:
    """Only the first head's matrices have names above them."""
    if head:
        axes.set_title("")
        axes.set_xticks([])


def _draw_attention_scatter(axes: Axes, data: Data, one: Data, head: int, theme: Theme) -> None:
    """Queries (triangles) and keys (dots) of the sequence, over those of all tokens and positions."""
    plane, labels, (queries, keys) = data["planes"][head], one["labels"], one["heads"][head]["points"]
    show_plane(axes, plane, plane.limits(data["clouds"][head]), "" if head else "q \u25b2, k \u25cf")
    axes.set_xlabel("")
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, data["clouds"][head], theme, size=2)
    colours = [pick_token_colour(label) for label in labels]
    look = {"c": colours, "edgecolors": theme.ink, "linewidths": 0.5}
    axes.scatter(*keys.T, s=15, zorder=4, **look)
    axes.scatter(*queries.T, s=17, marker="^", zorder=5, **look)
    which = _pick_most_attended(one["heads"][head]["weights"][-1], labels, axes)
    spots = np.concatenate([queries[-1:], keys[which]])
    texts = [f"q of p{len(labels) - 1}", *(labels[place] for place in which)]
    inks = [theme.ink, *(make_readable_colour(colours[place], theme) for place in which)]
    place_labels(axes, spots, texts, theme, inks, np.concatenate([queries, keys]))


def _pick_most_attended(weights: Float[np.ndarray, " pos"], labels: tuple[str, ...], axes: Axes) -> list[int]:
    """One position a token, those that the last position looks at most; as many as the panel has room for."""
    order = [int(place) for place in np.argsort(-weights, kind="stable")]
    first = {labels[place]: place for place in reversed(order)}  # the most seen position of each token
    wide = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54
    return [place for place in order if first[labels[place]] == place][: int(wide**2)]


def caption(data: Data) -> str:
    rows = "; ".join(f"{' '.join(one['labels'])}: {_describe_last_look(one)}" for one in data["sequences"])
    folded = (
        "The heads are wider than the stream, so the product of both weights is put on the queries' side and "
        "the keys are the stream itself. "
    )
    framed = "; framed: from the last position to the source, the earliest token that the rule needs"
    return (
        f"Queries and keys of every position, their products (scores, times {data['scale']:.3g}), and the "
        "softmax of each row over the positions up to its own. Later positions are masked and left blank; "
        "numbers are rounded to fit. Rows are queries, columns are "
        f"keys{framed if find_task_words(data)['law'] == 'rule' else ''}. Scales are shared by the "
        "sequences. In the scatter: queries (triangles) and keys (dots) of the sequence, one label per token "
        "(those with the most attention of the last position, where there is not room for all), over those "
        f"of all tokens at all positions ({name_colour('faint')}). "
        f"{folded if data['is_folded'] else ''}{rows}. {_describe_head_planes(data)}"
    )
