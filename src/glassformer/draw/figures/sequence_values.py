"""One sequence: what each place would write, how attention mixes it, and the sum at the last place.

A place's message is its value carried to the stream: what attention would add if it looked there alone.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame, sheet
from glassformer.draw.parts.marks import cross, ghost, note, show_plane, token_dots
from glassformer.draw.parts.matrices import MOST_NUMBERS
from glassformer.draw.parts.message_sums import carry_of, chain_limits, draw_chain, head_names, inside
from glassformer.draw.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    STRIP,
    attention_matrix,
    below_diagonal,
    matrix_height,
    named,
    place_matrix,
    scale_words,
    share_width,
    strip,
    vector_width,
)
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme

GAP = 0.45  # cm between matrices
AXIS = 1.2  # cm left of a scatter
WIDEST = 3.5  # cm: a matrix of vectors


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    carry, trace, name = carry_of(subject, 0), subject.trace(0), f"{subject.layer}attn"
    messages = subject.messages  # head tok pos dim
    plane = subject.stream_plane
    places = np.arange(subject.context, dtype=float)
    nothing = np.zeros_like(carry.bias)
    return {
        "labels": carry.labels,
        "source": subject.source(0),
        "plane": plane,
        "carry": carry,
        "weights": [below_diagonal(trace[f"{name}.weights.{head}"]) for head in range(subject.heads)],
        "messages": carry.messages,  # head pos dim
        "weighted": carry.parts.sum(0),  # pos dim
        "output": trace[f"{name}.output"],  # pos dim
        "clouds": plane(messages, places),
        "points": plane(carry.messages, places[: len(carry.labels)]),
        "chain": carry.points(plane, nothing),
        "end": plane(carry.output, carry.spread[-1]),
    }


def draw(data: Data, theme: Theme) -> Figure:
    labels, heads = data["labels"], len(data["weights"])
    high = matrix_height(len(labels))
    rows = lines_of(panels(data), 16.4)
    side = min(7.1, (16.4 - (heads + 1) * AXIS) / (heads + 1))
    top = STRIP + 0.1 + len(rows) * (HEADINGS + high + 0.15)
    paper = sheet(theme, top + 0.55 + side + 0.95 + 0.3 * bool(data["plane"].note), title(data))
    strip(paper, 0, 0, labels, data["source"])
    for index, row in enumerate(rows):
        y = STRIP + 0.1 + HEADINGS + index * (HEADINGS + high + 0.15)
        draw_row(paper.part(0, y, paper.width, high), data, row)
    for column in range(heads + 1):
        axes = paper.axes(AXIS + column * (side + AXIS), top + 0.55, side, side)
        draw_messages(axes, data, column, theme) if column < heads else draw_sum(axes, data, theme)
    note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    names = head_names(len(data["weights"]))
    heaviest = []
    for name, weights in zip(names, data["weights"], strict=True):
        most = int(np.argmax(weights[-1]))
        where = f" in {name}" if name else ""
        heaviest.append(f"{named(data['labels'], most)} with {percent(weights[-1, most], 0)}{where}")
    return f"The last place adds up all messages by their weights; the heaviest: {' and '.join(heaviest)}"


def panels(data: Data) -> list[tuple[str, int, float]]:
    """Kind, head and width of every matrix, in reading order."""
    heads, count = range(len(data["weights"])), len(data["labels"])
    wide = vector_width(data["output"].shape[1])
    attention = share_width(count, matrix_height(count))
    return [
        *(("attention", head, attention) for head in heads),
        *(("messages", head, wide) for head in heads),
        ("weighted", 0, wide),
        ("output", 0, wide),
    ]


def lines_of(every: list[tuple[str, int, float]], across: float) -> list[list[tuple[str, int, float]]]:
    """The matrices in lines that fit the page."""
    lines: list[list[tuple[str, int, float]]] = [[]]
    for panel in every:
        if ROW_NAMES + sum(wide + GAP for *_, wide in lines[-1]) + panel[2] > across:
            lines.append([])
        lines[-1].append(panel)
    return lines


def draw_row(frame: Frame, data: Data, row: list[tuple[str, int, float]]) -> None:
    """A line of matrices; the first one names the places, and those of vectors take what room is left."""
    vectors = sum(kind != "attention" for kind, *_ in row)
    spare = frame.width - ROW_NAMES - sum(wide + GAP for *_, wide in row) + GAP
    left = ROW_NAMES
    for index, (kind, head, least) in enumerate(row):
        wide = least if kind == "attention" else min(least + spare / vectors, WIDEST)
        draw_matrix(frame.axes(left, 0, wide, frame.height), data, kind, head, index == 0, frame.theme)
        left += wide + GAP


def draw_matrix(axes: Axes, data: Data, kind: str, head: int, names: bool, theme: Theme) -> None:
    labels, last = data["labels"], len(data["labels"]) - 1
    name = head_names(len(data["weights"]))[head]
    of_head = f", {name}" if name else ""
    if kind == "attention":
        text = f"attention{of_head} (%)"
        attention_matrix(axes, data["weights"][head], labels, theme, text, names, data["source"])
        return
    values = data["messages"][head] if kind == "messages" else data[kind]
    largest = max(float(np.abs(data[other]).max()) for other in ("messages", "output"))
    words = {
        "messages": f"messages{of_head}",
        "weighted": f"times p{last}'s weights",
        "output": "output of each",
    }
    text = f"{words[kind]} ({scale_words(largest)})" if kind == "messages" and not head else words[kind]
    place_matrix(axes, values, labels, theme, text, names=names, largest=largest)


def draw_messages(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """Every place's message, over those of all tokens at all places."""
    plane, labels, points = data["plane"], data["labels"], data["points"][head]
    name = head_names(len(data["weights"]))[head]
    show_plane(
        axes, plane, plane.limits(data["clouds"], data["chain"]), f"messages{f', {name}' if name else ''}"
    )
    cross(axes, theme)
    ghost(axes, data["clouds"][head], theme)
    token_dots(axes, points, labels, theme, message_names(labels), size=18)


def message_names(labels: tuple[str, ...]) -> list[str]:
    """One a place, or one a token where there are many places."""
    if len(labels) <= MOST_NUMBERS:
        return [f"{label} p{place}" for place, label in enumerate(labels)]
    return [label if labels.index(label) == place else "" for place, label in enumerate(labels)]


def draw_sum(axes: Axes, data: Data, theme: Theme) -> None:
    """The last place's weighted messages, tip to tail from nothing to the output."""
    plane, carry = data["plane"], data["carry"]
    limits = chain_limits(plane, data["chain"], data["end"])
    show_plane(axes, plane, limits, "weighted messages, tip to tail")
    cross(axes, theme)
    ghost(axes, inside(data["clouds"], limits), theme)
    ends = carry.start_name("0"), f"output of p{len(carry.labels) - 1}"
    draw_chain(axes, data["chain"], data["end"], carry, ends, theme)


def caption(data: Data) -> str:
    carry, last = data["carry"], len(data["labels"]) - 1
    gap = float(np.abs(carry.chain(np.zeros_like(carry.bias))[-1] - carry.output).max())
    return (
        f"The sequence {' '.join(data['labels'])}; numbers are rounded to what fits. "
        "Attention; the message of every place (its value, carried "
        "through the output projection where there is one: what attention would add to the stream if it "
        f"looked there alone); each message times the weight that p{last} gives it (heads added up), whose "
        f"sum over the rows{'' if not carry.bias.any() else ', with the output bias,'} is the output of "
        f"p{last}; and the output of every place. Signed matrices share "
        "one scale. Scatters: messages of the sequence over those of all tokens at all places (grey), and "
        f"the weighted messages of p{last} put tip to tail: the star is the output of the model's own pass, "
        f"from which the last tip differs by {gap:.1g}. In one dimension the arrows climb with the places. "
        f"{data['plane'].note}"
    )
