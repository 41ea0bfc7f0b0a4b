"""How each value moves the residual stream: a token's message as an arrow from its embedding.

On the left every token looks at itself alone; on the right the last position of a sequence looks as it does.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.parts.labels import place_labels, to_points
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
    write_plane_note,
)
from glassformer.pictures.parts.message_sums import (
    compute_carry,
    compute_chain_limits,
    draw_message_chain,
    draw_step_arrow,
    list_head_names,
    select_inside_points,
)
from glassformer.pictures.parts.sequence_matrices import STRIP, draw_token_strip
from glassformer.pictures.picture import Data

_AXIS = 1.2  # cm left of a panel


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    plane, carry = subject.stream_plane, compute_carry(subject, 0)
    rows = np.arange(len(subject.tokens), dtype=float)  # keeps tokens apart in one dimension
    places = np.arange(subject.context, dtype=float)
    starts, moves = subject.embedded.mean(1), subject.messages.mean(2)  # tok dim, head tok dim
    return {
        "tokens": subject.tokens,
        "labels": carry.labels,
        "source": subject.source(0),
        "plane": plane,
        "token_plane": plane.spread_over("token"),
        "moves": moves,
        "lengths": np.linalg.norm(moves, axis=-1),  # head tok
        "starts": plane(starts, rows),
        "tips": plane(starts + moves, rows),  # head tok 2
        "token_cloud": plane(subject.embedded, rows[:, None]),
        "carry": carry,
        "cloud": plane(subject.embedded, places),
        "chain": carry.points(plane, carry.kept),
        "end": plane(carry.mid, carry.spread[-1]),
    }


def draw(data: Data, theme: Theme) -> Figure:
    count = len(data["tips"]) + 1
    side = min(7.1, (16.4 - count * _AXIS) / count)
    above = 0.5 + STRIP
    paper = make_sheet(theme, above + side + 0.95 + 0.3 * bool(data["plane"].note), title(data))
    lefts = [_AXIS + column * (side + _AXIS) for column in range(count)]
    for head, left in enumerate(lefts[:-1]):
        _draw_token_messages(paper.axes(left, above, side, side), data, head, theme)
    draw_token_strip(paper, 0, 0, data["labels"], data["source"])
    _draw_last_position(paper.axes(lefts[-1], above, side, side), data, theme)
    write_plane_note(paper, data["plane"].spread_over("token on the left, the position on the right"))
    return paper.figure


def title(data: Data) -> str:
    lengths, names = data["lengths"], list_head_names(len(data["lengths"]))
    (far_head, far), (near_head, near) = (
        np.unravel_index(index, lengths.shape) for index in (lengths.argmax(), lengths.argmin())
    )
    where = [f" ({names[head]})" if names[head] else "" for head in (far_head, near_head)]
    return (
        f"The value of {data['tokens'][far]}{where[0]} moves the stream farthest, by "
        f"{lengths[far_head, far]:.3g}; that of {data['tokens'][near]}{where[1]} least, by "
        f"{lengths[near_head, near]:.3g}"
    )


def _draw_token_messages(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """Each token's message from its embedding, both averaged over all positions."""
    plane, tokens, starts, tips = data["token_plane"], data["tokens"], data["starts"], data["tips"][head]
    name = list_head_names(len(data["tips"]))[head]
    limits = plane.limits(data["token_cloud"], data["tips"])
    show_plane(axes, plane, limits, f"every token's message{f', {name}' if name else ''}")
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, data["token_cloud"], theme)
    seen = np.linalg.norm(to_points(axes, tips) - to_points(axes, starts), axis=1)
    for token, start, tip, length in zip(tokens, starts, tips, seen, strict=True):
        draw_step_arrow(axes, start, tip, pick_token_colour(token), length, 1.2)
    axes.scatter(*starts.T, s=9, c=[pick_token_colour(token) for token in tokens], linewidths=0, zorder=5)
    colours = [make_readable_colour(pick_token_colour(token), theme) for token in tokens]
    place_labels(axes, starts, tokens, theme, colours, np.concatenate([tips, (starts + tips) / 2]))


def _draw_last_position(axes: Axes, data: Data, theme: Theme) -> None:
    """The last position of the sequence: from its embedding, by weight times message, to the sum."""
    plane, carry = data["plane"], data["carry"]
    limits = compute_chain_limits(plane, data["chain"], data["end"])
    show_plane(axes, plane, limits, f"from {carry.kept_name} to z at p{len(carry.labels) - 1}")
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, select_inside_points(data["cloud"], limits), theme)
    draw_message_chain(
        axes, data["chain"], data["end"], carry, (carry.start_name(carry.kept_name), "z"), theme
    )


def caption(data: Data) -> str:
    carry, last = data["carry"], len(data["labels"]) - 1
    start = "its embedding e" if carry.is_residual else "0 (there is no residual connection)"
    gap = float(np.abs(carry.chain(carry.kept)[-1] - carry.mid).max())
    return (
        "Left: every token's message (its value, carried to the stream) as an arrow from its embedding, both "
        f"averaged over the {data['cloud'].shape[1]} positions; {name_colour('faint')}: all embeddings. "
        "Lengths in the title "
        f"are those of these mean messages, in all dimensions. Right: the last position (p{last}) of the "
        f"sequence {' '.join(data['labels'])}: from {start}, weight times message of every position, tip to "
        f"tail, to the stream after attention (star: the forward pass; the tip differs by {gap:.1g}). "
        f"{data['plane'].note}"
    )
