"""One sequence: what each position would write, how attention mixes it, and the sum at the last position.

A position's message is its value carried to the stream: what attention would add if it attended there alone.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour
from glassformer.core.words import format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, make_sheet
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_token_dots,
    draw_zero_lines,
    show_plane,
    write_plane_note,
)
from glassformer.pictures.parts.message_sums import (
    compute_carry,
    compute_chain_limits,
    draw_message_chain,
    list_head_names,
    select_inside_points,
)
from glassformer.pictures.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    STRIP,
    draw_attention_matrix,
    draw_position_matrix,
    draw_token_strip,
    format_scale_end,
    format_token_position,
    list_point_names,
    mask_above_diagonal,
    measure_attention_width,
    measure_matrix_height,
    measure_vector_width,
)
from glassformer.pictures.picture import Data

_GAP = 0.45  # cm between matrices
_AXIS = 1.2  # cm left of a scatter
_WIDEST = 3.5  # cm: a matrix of vectors


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    carry, trace, name = compute_carry(subject, 0), subject.trace(0), f"{subject.layer}attn"
    messages = subject.messages  # head tok pos dim
    plane = subject.stream_plane
    places = np.arange(subject.context, dtype=float)
    nothing = np.zeros_like(carry.bias)
    return {
        "labels": carry.labels,
        "source": subject.source(0),
        "plane": plane,
        "carry": carry,
        "weights": [mask_above_diagonal(trace[f"{name}.weights.{head}"]) for head in range(subject.heads)],
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
    high = measure_matrix_height(len(labels))
    rows = _arrange_panel_lines(_list_matrix_panels(data), 16.4)
    side = min(7.1, (16.4 - (heads + 1) * _AXIS) / (heads + 1))
    top = STRIP + 0.1 + len(rows) * (HEADINGS + high + 0.15)
    paper = make_sheet(theme, top + 0.55 + side + 0.95 + 0.3 * bool(data["plane"].note), title(data))
    draw_token_strip(paper, 0, 0, labels, data["source"])
    for index, row in enumerate(rows):
        y = STRIP + 0.1 + HEADINGS + index * (HEADINGS + high + 0.15)
        _draw_panel_line(paper.part(0, y, paper.width, high), data, row)
    for column in range(heads + 1):
        axes = paper.axes(_AXIS + column * (side + _AXIS), top + 0.55, side, side)
        _draw_sequence_messages(axes, data, column, theme) if column < heads else _draw_message_sum(
            axes, data, theme
        )
    write_plane_note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    names = list_head_names(len(data["weights"]))
    heaviest = []
    for name, weights in zip(names, data["weights"], strict=True):
        most = int(np.argmax(weights[-1]))
        where = f" in {name}" if name else ""
        heaviest.append(
            f"{format_token_position(data['labels'], most)} with "
            f"{format_percent(weights[-1, most], 0)}{where}"
        )
    return f"The last position adds all messages, weighted by attention; most: {' and '.join(heaviest)}"


def _list_matrix_panels(data: Data) -> list[tuple[str, int, float]]:
    """Kind, head and width of every matrix, in reading order."""
    heads, count = range(len(data["weights"])), len(data["labels"])
    wide = measure_vector_width(data["output"].shape[1])
    attention = measure_attention_width(count, measure_matrix_height(count))
    return [
        *(("attention", head, attention) for head in heads),
        *(("messages", head, wide) for head in heads),
        ("weighted", 0, wide),
        ("output", 0, wide),
    ]


def _arrange_panel_lines(
    every: list[tuple[str, int, float]], across: float
) -> list[list[tuple[str, int, float]]]:
    """The matrices in lines that fit the page."""
    lines: list[list[tuple[str, int, float]]] = [[]]
    for panel in every:
        if ROW_NAMES + sum(wide + _GAP for *_, wide in lines[-1]) + panel[2] > across:
            lines.append([])
        lines[-1].append(panel)
    return lines


def _draw_panel_line(frame: Frame, data: Data, row: list[tuple[str, int, float]]) -> None:
    """A line of matrices; the first one names the positions, and those of vectors take what room is left."""
    vectors = sum(kind != "attention" for kind, *_ in row)
    spare = frame.width - ROW_NAMES - sum(wide + _GAP for *_, wide in row) + _GAP
    left = ROW_NAMES
    for index, (kind, head, least) in enumerate(row):
        wide = least if kind == "attention" else min(least + spare / vectors, _WIDEST)
        _draw_value_matrix(frame.axes(left, 0, wide, frame.height), data, kind, head, index == 0, frame.theme)
        left += wide + _GAP


def _draw_value_matrix(axes: Axes, data: Data, kind: str, head: int, names: bool, theme: Theme) -> None:
    labels, last = data["labels"], len(data["labels"]) - 1
    name = list_head_names(len(data["weights"]))[head]
    of_head = f", {name}" if name else ""
    if kind == "attention":
        text = f"attention{of_head} (%)"
        draw_attention_matrix(axes, data["weights"][head], labels, theme, text, names, data["source"])
        return
    values = data["messages"][head] if kind == "messages" else data[kind]
    largest = max(float(np.abs(data[other]).max()) for other in ("messages", "output"))
    words = {
        "messages": f"messages{of_head}",
        "weighted": f"times p{last}'s weights",
        "output": "output of each",
    }
    text = f"{words[kind]} ({format_scale_end(largest)})" if kind == "messages" and not head else words[kind]
    draw_position_matrix(axes, values, labels, theme, text, names=names, largest=largest)


def _draw_sequence_messages(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """Every position's message, over those of all tokens at all positions."""
    plane, labels, points = data["plane"], data["labels"], data["points"][head]
    name = list_head_names(len(data["weights"]))[head]
    show_plane(
        axes, plane, plane.limits(data["clouds"], data["chain"]), f"messages{f', {name}' if name else ''}"
    )
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, data["clouds"][head], theme)
    draw_token_dots(axes, points, labels, theme, list_point_names(labels), size=18)


def _draw_message_sum(axes: Axes, data: Data, theme: Theme) -> None:
    """The last position's weighted messages, tip to tail from nothing to the output."""
    plane, carry = data["plane"], data["carry"]
    limits = compute_chain_limits(plane, data["chain"], data["end"])
    show_plane(axes, plane, limits, "weighted messages, tip to tail")
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, select_inside_points(data["clouds"], limits), theme)
    ends = carry.start_name("0"), f"output of p{len(carry.labels) - 1}"
    draw_message_chain(axes, data["chain"], data["end"], carry, ends, theme)


def caption(data: Data) -> str:
    carry, last = data["carry"], len(data["labels"]) - 1
    gap = float(np.abs(carry.chain(np.zeros_like(carry.bias))[-1] - carry.output).max())
    return (
        f"The sequence {' '.join(data['labels'])}; numbers are rounded to fit. "
        "Attention; the message of every position (its value, carried "
        "through the output projection where there is one: what attention would add to the stream if it "
        f"attended there alone); each message times the weight that p{last} gives it (heads added up), whose "
        f"sum over the rows{'' if not carry.bias.any() else ', with the output bias,'} is the output of "
        f"p{last}; and the output of every position. Signed matrices share "
        "one scale. Scatters: messages of the sequence over those of all tokens at all positions "
        f"({name_colour('faint')}), and "
        f"the weighted messages of p{last} put tip to tail: the star is the output of the forward pass, "
        f"from which the last tip differs by {gap:.1g}. In one dimension, y is the position. "
        f"{data['plane'].note}"
    )
