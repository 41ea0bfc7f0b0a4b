"""One sum, digit by digit: the column, the carry, where attention looked, the two best logits, the digit."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, mix_colours
from glassformer.core.words import choose_plural, format_percent, format_significant, join_words, lower_digits
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.sample import compute_signed_margins
from glassformer.pictures.poster.style import (
    SIZE,
    add_canvas,
    cut_text,
    draw_round_box,
    draw_token_cell,
    format_cell_token,
    write_centred_text,
    write_paragraph,
)
from glassformer.pictures.poster.sums import Sums

_MOST_NAMED = 5  # wrong digits that the title names
_SOURCES = 4  # positions named in a row, over all heads of the last layer
_HEADS = (
    "digit",
    "column",
    "carry",
    "total",
    "attends to",
    "best logit",
    "second",
    "margin",
    "writes",
)
_LEFT = (0.35, 1.4, 2.5, 3.35, 4.0, 9.3, 11.2, 13.2, 15.85)  # cm of the middle of a column, or its left


def compute(sums: Sums) -> Data:
    x, y, z = sums.digits
    logits = sums.logits
    ranked = np.argsort(-logits, axis=1, kind="stable")
    written = np.array([digit.token for digit in sums.sum.digits])
    columns = np.array(sums.columns)
    return {
        "pair": sums.pair,
        "got": str(sums.sum.got),
        "expected": sums.sum.expected,
        "right": sums.sum.right,
        "columns": columns,
        "x": x[columns],
        "y": y[columns],
        "carry": sums.carry[columns],
        "asked": z[columns],
        "written": written,
        "names": tuple(sums.token_name(int(token)) for token in range(logits.shape[1])),
        "best": ranked[:, :2],
        "logits": np.take_along_axis(logits, ranked[:, :2], 1),
        "margins": compute_signed_margins(logits, z[columns]),
        "sources": [_describe_sources(sums, step) for step in range(sums.steps)],
        "layer": sums.attention_layers[-1] if len(sums.architecture.layers) > 1 else -1,
        "digits": sums.task.digits,
    }


def _describe_sources(sums: Sums, step: int) -> str:
    """The positions that the last layer's heads look at most."""
    place, labels = sums.layout.predicting.start + step, _name_positions(sums)
    heads = [head for head in sums.heads if head.layer == sums.attention_layers[-1]]
    most = max(1, _SOURCES // len(heads))
    words = []
    for head in heads:
        weights = sums.trace[f"{head.prefix}attn.weights.{head.head}"][place, : place + 1]
        if np.ptp(weights) <= 1e-3 * weights.max():
            words.append(f"all {len(weights)} positions, {format_percent(float(weights.mean()), 0)} each")
            continue
        best = np.argsort(-weights, kind="stable")[:most]
        words.append(
            " ".join(
                f"{lower_digits(labels[i])} {format_percent(float(weights[i]), 0)}"
                for i in best
                if weights[i] >= 0.005
            )
        )
    return " | ".join(words)


def _name_positions(sums: Sums) -> list[str]:
    """`x3`, `<`, and words for marks that look like digits: the paddings where a number has its columns."""
    plain = "pad" if sums.layout.is_any_length else "mark"
    return [plain if label.isdigit() else label for label in sums.layout.position_labels()]


def title(data: Data) -> str:
    a, b = data["pair"]
    if data["right"]:
        worst = int(np.argmin(data["margins"]))
        where = lower_digits(f"z{data['columns'][worst]}")
        return (
            f"{a} + {b} = {data['expected']}, digit by digit: {where} has the smallest margin, "
            f"{format_significant(data['margins'][worst])}"
        )
    wrong = [lower_digits(f"z{column}") for column in data["columns"][data["written"] != data["asked"]]]
    which = (
        join_words(wrong) if len(wrong) <= _MOST_NAMED else f"{len(wrong)} of {len(data['columns'])} digits"
    )
    return (
        f"{a} + {b} = {data['expected']}, but the model writes {data['got']}: {which} "
        f"{choose_plural(len(wrong), 'comes', 'come')} out wrong"
    )


def draw(frame: Frame, data: Data) -> None:
    rows = len(data["columns"])
    line = min(0.62, 7.6 / rows)
    axes = add_canvas(frame, 0, 0, frame.width, 0.75 + rows * line)
    for x, head in zip(_LEFT, _HEADS, strict=True):
        write_centred_text(
            axes,
            x,
            0.3,
            head,
            color=frame.theme.muted,
            ha="left" if head == "attends to" else "center",
        )
    axes.plot([0, frame.width], [0.58] * 2, color=frame.theme.faint, linewidth=0.8)
    for row in range(rows):
        _draw_answer_row(axes, frame, data, row, 0.75 + (row + 0.5) * line, line)
    write_paragraph(frame, 0, 8.55, frame.width, [_describe_addition(data)])


def _draw_answer_row(axes: Axes, frame: Frame, data: Data, row: int, y: float, line: float) -> None:
    """All of one answer digit; a tint where it is wrong or the closest call."""
    theme = frame.theme
    right = data["written"][row] == data["asked"][row]
    if not right or row == int(np.argmin(data["margins"])):
        tint = mix_colours(theme.accent if right else theme.bad, theme.paper, 0.13)
        draw_round_box(axes, 0, y - line / 2, frame.width, line, tint, radius=0.1, zorder=0)
    _draw_column_task(axes, data, row, y, theme)
    write_centred_text(axes, _LEFT[4], y, cut_text(data["sources"][row], 4.5), ha="left", color=theme.ink)
    for place, x in enumerate(_LEFT[5:7]):
        token, logit = data["best"][row, place], data["logits"][row, place]
        draw_token_cell(
            axes, x - 0.55, y, 0.36, line - 0.14, format_cell_token(data["names"][token]), theme, size=SIZE
        )
        write_centred_text(
            axes,
            x - 0.28,
            y,
            _format_few_digits(float(logit)),
            ha="left",
            color=theme.ink if place == 0 else theme.muted,
        )
    _draw_margin(axes, frame, data, row, y, line)
    name = format_cell_token(data["names"][data["written"][row]])
    draw_token_cell(axes, _LEFT[8], y, 0.55, line - 0.1, name, theme, "none" if right else theme.bad, 9, 0.85)
    if not right:
        write_centred_text(
            axes, _LEFT[8] - 0.42, y, f"not {data['asked'][row]}", ha="right", color=theme.bad, weight="bold"
        )


def _draw_column_task(axes: Axes, data: Data, row: int, y: float, theme: Theme) -> None:
    """What must be added in the column: its two digits, but in the last one, and the carry."""
    x, other, carry = data["x"][row], data["y"][row], data["carry"][row]
    write_centred_text(
        axes, _LEFT[0], y, lower_digits(f"z{data['columns'][row]}"), 8.5, weight="bold", color=theme.good
    )
    if data["columns"][row] < data["digits"]:
        write_centred_text(axes, _LEFT[1], y, f"{x} + {other}", 8.5)
    write_centred_text(axes, _LEFT[2], y, str(carry), 8.5, color=theme.ink if carry else theme.muted)
    write_centred_text(axes, _LEFT[3], y, str(x + other + carry), 8.5)


def _draw_margin(axes: Axes, frame: Frame, data: Data, row: int, y: float, line: float) -> None:
    """A bar as long as the margin, on the scale of the largest; `bad` where it is below zero."""
    margin, largest = float(data["margins"][row]), float(np.abs(data["margins"]).max()) or 1.0
    colour = frame.theme.good if margin > 0 else frame.theme.bad
    left = _LEFT[7] - 0.75
    draw_round_box(
        axes, left, y + line * 0.24, max(0.03, 1.7 * abs(margin) / largest), 0.09, colour, radius=0.03
    )
    write_centred_text(
        axes, left, y - 0.03, _format_few_digits(margin), ha="left", color=colour, weight="bold"
    )


def _format_few_digits(value: float) -> str:
    """Three significant digits, two where a power of ten follows."""
    return format_significant(value, 3 if 1e-3 <= abs(value) < 1e6 else 2)


def _describe_addition(data: Data) -> str:
    where = "" if data["layer"] < 0 else f" of layer {data['layer']}"
    return (
        "In the order of writing; every digit is read again for the next one. Shares are attention's "
        f"weights{where}; the margin is the right digit's logit minus the best other one."
    )


def caption(data: Data) -> str:
    a, b = data["pair"]
    return (
        f"{a} + {b} as the model computes it: it writes {data['got']}, and {data['expected']} is right. "
        f"{_describe_addition(data)}"
    )
