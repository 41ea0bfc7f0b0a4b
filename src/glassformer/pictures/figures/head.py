"""The head: one direction and one bias per token; the token whose direction h lies along most wins.

The border between two tokens is the line on which their scores are equal.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.models.forward import untie_parameters
from glassformer.models.norm import NoNorm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.hidden_units import (
    collect_all_states,
    collect_last_states,
    describe_contexts,
)
from glassformer.pictures.measure.landscape import make_landscape, make_slice
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    FOOT,
    SMALL,
    Frame,
    make_sheet,
    measure_text_height,
    measure_text_width,
)
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import (
    draw_data_arrow,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.matrices import draw_heatmap
from glassformer.pictures.parts.regions import draw_winner_regions
from glassformer.pictures.picture import Data, select_parameters

_SIDE, _GAP = 7.0, 1.15  # cm: a panel, and what stands left of it
_ROW = 0.42  # cm: a row of a matrix
_MOST_ROWS, _TALLEST = 64, 18.0  # rows that are all so high, and cm of a matrix that has more
SHOWN = 600  # contexts whose states are drawn
_BEHIND = 150  # contexts whose states at all positions are drawn behind


def compute(subject: Subject) -> Data:
    directions, bias = _probe_head(subject)
    states = collect_last_states(subject, f"{subject.layer}stream")
    plane = make_slice(states, "h", "the final states", subject.dims)
    labels = (plane.labels[0], "number of the context" if plane.is_line else plane.labels[1])
    plane = replace(plane, labels=labels, note="" if plane.is_line else plane.note)
    points = plane(states[:SHOWN], np.arange(len(states[:SHOWN]), dtype=float))
    everywhere = collect_all_states(subject, f"{subject.layer}stream", _BEHIND)
    behind = plane(everywhere, np.arange(len(everywhere)) % len(points))
    limits = plane.limits(points, behind)
    ground, answers = (
        make_landscape(subject.model, plane, limits, from_mid=False),
        collect_last_states(subject, "logits"),
    )
    rank = np.arange(len(directions), dtype=float)
    return {
        "tokens": subject.tokens,
        "parameters": select_parameters(subject, "head", "final_norm"),
        "plane": plane,
        "arrow_plane": replace(
            plane, labels=(plane.labels[0], "token" if plane.is_line else plane.labels[1])
        ),
        "starts": plane(np.zeros_like(directions), rank),
        "ends": plane(directions, rank),
        "bias": bias,
        "limits": limits,
        "points": points,
        "behind": behind,
        "answers": answers.argmax(1)[:SHOWN],
        "answered": len(np.unique(answers.argmax(1))),
        "winner": ground.winner,
        "on_colour": MeasuredShare.of(
            int((ground.winner_at(points) == answers.argmax(1)[:SHOWN]).sum()), len(points)
        ),
        "is_normed": not isinstance(subject.model.architecture.final_norm, NoNorm),
        "sample": describe_contexts(subject),
    }


def _probe_head(subject: Subject) -> tuple[Float[np.ndarray, "tok dim"], Float[np.ndarray, " tok"]]:
    """Direction and bias of each token, whatever the head: its scores of 0 and of each unit vector."""
    shape = subject.model.architecture
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, subject.model.params)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    probes = np.concatenate([np.zeros((shape.width, 1)), np.eye(shape.width)], 1)[:, None]  # dim 1 batch
    scores = np.asarray(shape.head(ops, params, "head", ops.array(probes), table)[:, 0], np.float64)
    return scores[:, 1:] - scores[:, :1], scores[:, 0]


def draw(data: Data, theme: Theme) -> Figure:
    tables = _choose_row_height(data) * _count_table_rows(data)
    text = _foot(data)
    below = measure_text_height(text, SMALL, FOOT)
    paper = make_sheet(theme, _SIDE + 1.4 + 1.3 + tables + below + 0.5, title(data))
    _draw_token_directions(paper.axes(_GAP, 0.55, _SIDE, _SIDE), data, theme)
    _draw_answer_regions(paper.axes(_SIDE + 2 * _GAP + 0.1, 0.55, _SIDE, _SIDE), data, theme)
    _draw_head_tables(paper.part(0.9, _SIDE + 2.55, paper.width - 0.9, tables), data)
    paper.write(0, paper.height - below, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def _count_table_rows(data: Data) -> int:
    """Rows of the tallest table."""
    return max(
        [len(data["tokens"])] + [len(_to_column_table(array)) for array in data["parameters"].values()]
    )


def _choose_row_height(data: Data) -> float:
    """In cm: lower where there are very many rows, of which not all have names then."""
    return min(_ROW, _TALLEST / _count_table_rows(data)) if _count_table_rows(data) > _MOST_ROWS else _ROW


def title(data: Data) -> str:
    winners = len(np.unique(data["winner"]))
    where = "the slice shown" if data["plane"].note else "the part shown"
    return (
        f"The head scores {len(data['tokens'])} tokens by a direction and a bias each: {winners} of them "
        f"win somewhere in {where}, {data['answered']} on {data['sample']}"
    )


def _foot(data: Data) -> str:
    hits, note = data["on_colour"], data["plane"].note
    sliced = (
        f" {note} {format_percent(hits.value, 0)} of the dots lie on their own colour of the slice."
        if note
        else ""
    )
    normed = (
        " The head reads h after a norm; its directions belong to the normed states."
        if data["is_normed"]
        else ""
    )
    return (
        "Coloured dots: final states h at the last position, in the colour of the model's answer; small "
        f"{name_colour('muted')} dots: at all positions.{sliced}{normed}"
    )


def _draw_token_directions(axes: Axes, data: Data, theme: Theme) -> None:
    """Each token's weights, an arrow from the origin."""
    starts, ends, plane = data["starts"], data["ends"], data["arrow_plane"]
    show_plane(axes, plane, plane.limits(starts, ends, room=0.12), "directions: the weights of each token")
    draw_zero_lines(axes, theme)
    colours = [pick_token_colour(token) for token in data["tokens"]]
    for start, end, colour in zip(starts, ends, colours, strict=True):
        draw_data_arrow(axes, start, end, colour, 1.1)
    place_labels(
        axes,
        ends,
        data["tokens"],
        theme,
        [make_readable_colour(colour, theme) for colour in colours],
        size=7.5,
    )


def _draw_answer_regions(axes: Axes, data: Data, theme: Theme) -> None:
    """Which token wins where, and the final states."""
    show_plane(axes, data["plane"], data["limits"], "answers: the highest score, bias included")
    draw_winner_regions(axes, data["winner"], data["limits"], data["tokens"], theme, avoid=data["points"])
    axes.scatter(*data["behind"].T, s=2.5, color=theme.muted, alpha=0.6, linewidths=0, zorder=2.5)
    colours = [pick_token_colour(data["tokens"][answer]) for answer in data["answers"]]
    axes.scatter(*data["points"].T, s=9, c=colours, linewidths=0.35, edgecolors=theme.paper, zorder=3)


def _draw_head_tables(frame: Frame, data: Data) -> None:
    """Every parameter of the head and of the norm before it, then the biases as bars."""
    tokens, theme, left, high = data["tokens"], frame.theme, 0.0, _choose_row_height(data)
    order = sorted(data["parameters"].items(), key=lambda pair: -pair[1].ndim)
    largest = max((float(np.abs(array).max()) for _, array in order if array.ndim == 2), default=1.0)
    for name, array in order:
        table = _to_column_table(array)
        rows = tokens if len(table) == len(tokens) else ()
        wide = min(max(0.85 * table.shape[1], measure_text_width(name, SMALL + 0.5) + 0.1), 7.0)
        axes = frame.axes(left, 0, wide, high * len(table))
        top = largest if array.ndim == 2 else None
        columns = tuple(map(str, range(table.shape[1]))) if array.ndim == 2 else ()
        draw_heatmap(axes, table, theme, rows, columns, largest=top, parameter=name)
        frame.write(left, -0.75, name, SMALL + 0.5)
        left += wide + 1.0
    _draw_bias_bars(
        frame.axes(left, 0, frame.width - left - 0.2, high * len(tokens)), data["bias"], tokens, theme
    )
    frame.write(left, -0.75, "biases as bars", SMALL + 0.5)


def _to_column_table(array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "row column"]:
    """A vector is a column."""
    return array.reshape(len(array) if array.ndim else 1, -1)


def _draw_bias_bars(axes: Axes, bias: Float[np.ndarray, " tok"], tokens: Sequence[str], theme: Theme) -> None:
    """One bar per token, in the rows of the matrices."""
    axes.barh(np.arange(len(bias)), bias, height=0.72, color=[pick_token_colour(token) for token in tokens])
    axes.set_ylim(len(bias) - 0.5, -0.5)
    step = -(-len(tokens) // _MOST_ROWS)
    axes.set_yticks(range(0, len(tokens), step), tokens[::step])
    axes.axvline(0, color=theme.muted, linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def caption(data: Data) -> str:
    low, high = int(data["bias"].argmin()), int(data["bias"].argmax())
    count = sum(array.size for array in data["parameters"].values())
    return (
        f"All {count} parameters of the head and the norm before it. Each token's score is its "
        f"direction times the final state plus its bias, from {data['bias'][low]:.2f} (token "
        f"{data['tokens'][low]}) to {data['bias'][high]:.2f} (token {data['tokens'][high]}). {_foot(data)}"
    )
