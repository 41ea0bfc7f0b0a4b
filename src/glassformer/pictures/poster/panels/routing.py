"""Where each answer digit attends: arrows from the model's real attention, and the mean over many sums."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve

from glassformer.core.theme import Theme, mix_colours
from glassformer.core.words import format_percent, format_significant, join_words, lower_digits
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.sample import ROLES, measure_role_shares
from glassformer.pictures.poster.style import (
    SIZE,
    add_canvas,
    choose_position_colour,
    draw_token_cell,
    format_cell_token,
    open_axes,
    write_centred_text,
    write_paragraph,
)
from glassformer.pictures.poster.sums import HeadSite, Sums

_MOST = 6  # heads that are drawn, the last ones
_LEAST = 0.02  # weights below this are not drawn
_SOME = 0.005  # a mean weight from which on a role takes part
_THICKEST = 5.0  # points, for a weight of 1
_STRIPS = 5.75  # cm for all heads together
_CELL = 0.42  # cm, the height of a token's cell
_ROOMY, _LABELLED = 0.35, 0.4  # cm a position, from which cells have edges, and names above them


def compute(sums: Sums) -> Data:
    asking, heads = sums.layout.predicting, sums.heads[-_MOST:]
    shares = measure_role_shares(sums)[-_MOST:]
    inner = range(1, sums.task.digits)  # columns that have one before them
    steps = [step for step, column in enumerate(sums.columns) if column in inner] or [0]
    return {
        "pair": sums.pair,
        "tokens": tuple(sums.token_name(int(token)) for token in sums.tokens[:-1]),
        "labels": sums.layout.position_labels()[:-1],
        "answer": tuple(sums.token_name(int(token)) for token in sums.tokens[asking.start + 1 :]),
        "first": asking.start,
        "heads": tuple(head.name for head in heads),
        "last_layer": [row for row, head in enumerate(heads) if head.layer == sums.attention_layers[-1]],
        "weights": np.stack(
            [
                np.asarray(sums.trace[f"{head.prefix}attn.weights.{head.head}"][asking], np.float64)
                for head in heads
            ]
        ),  # head step pos
        "shares": shares,
        "roles": _list_role_names(sums),
        "mean": shares[:, steps].mean(1),
        "alike": [_is_uniform(sums, head) for head in heads],
        "sums": len(sums.sample.z),
    }


def _is_uniform(sums: Sums, head: HeadSite) -> bool:
    """Every position that is seen gets the same, to one in a thousand, and not nothing."""
    mean = sums.sample.kept[f"{head.prefix}attn.weights.{head.head}"].mean(0, dtype=np.float64)
    seen = [mean[step, : sums.layout.predicting.start + step + 1] for step in range(sums.steps)]
    return all(np.ptp(one) <= 1e-3 * one.max() and one.sum() > _LEAST for one in seen)


def _list_role_names(sums: Sums) -> tuple[str, ...]:
    """For people; the position that asks holds the digit written just before."""
    own = "zₖ₊₁" if sums.layout.answer_highest_first else "zₖ₋₁"
    names = {"x k": "xₖ", "y k": "yₖ", "x k-1": "xₖ₋₁", "y k-1": "yₖ₋₁"}
    if sums.layout.is_any_length:
        names["signs"] = "marks, paddings"
    if sums.task.digits > 1:  # else nothing is written before the only column
        names["own position"] = f"{own}, just written"
    return tuple(names.get(role, role) for role in ROLES)


def title(data: Data) -> str:
    every = [f"{data['heads'][row]}: {describe_looks(data, row, 2)}" for row in data["last_layer"][:2]]
    only = len(data["heads"]) == 1
    return (
        f"Digit zₖ attends to {describe_looks(data, 0)}"
        if only
        else f"Digit zₖ attends to: {'; '.join(every)}"
    )


def describe_looks(data: Data, row: int, most: int = 5) -> str:
    """The roles that get most, with their shares; where all positions get the same, that."""
    mean = data["mean"][row]
    if data["alike"][row]:
        return "all positions equally"
    best = [index for index in np.argsort(-mean.round(2), kind="stable")[:most] if mean[index] >= 0.03]
    return join_words(
        [f"{data['roles'][index].split(',')[0]} ({format_percent(mean[index], 0)})" for index in best],
        empty="nothing",
    )


def draw(frame: Frame, data: Data) -> None:
    heads = len(data["heads"])
    across = 1 if heads <= 2 else 2
    down = -(-heads // across)
    wide = (frame.width - 0.5 * (across - 1)) / across
    high = _STRIPS / down
    for row in range(heads):
        line, column = divmod(row, across)
        axes = add_canvas(frame, column * (wide + 0.5), line * high, wide, high - 0.1)
        _draw_routing_strip(axes, data, row, wide, high - 0.1, frame)
    for row in range(heads):
        room = (frame.width - 2.6) / heads
        axes = frame.axes(2.6 + row * room, _STRIPS + 0.4, room - 0.35, 2.3)
        _draw_roles(axes, data, row, frame)
    a, b = data["pair"]
    words = (
        f"Above: attention in {a} + {b}; width shows the weight, from {_LEAST:.0%} up. "
        f"Below: means over {data['sums']:,} random sums, for columns that have one before them."
    )
    write_paragraph(frame, 0, frame.height - 0.65, frame.width, [f"{words} {describe_column_ratio(data)}"])


def describe_column_ratio(data: Data) -> str:
    """How much the column weighs against the one before, where one head looks at both."""
    for row in data["last_layer"]:
        mean, before = data["mean"][row], data["mean"][row][2:4]
        if mean[:4].min() >= _SOME and not data["alike"][row]:
            has_own = mean[4] >= _SOME and "zₖ₋₁" in data["roles"][4]
            roles = ("xₖ", "yₖ", "xₖ₋₁", "yₖ₋₁", "zₖ₋₁")[: 5 if has_own else 4]
            parts = [format_significant(mean[role] / before.mean(), 2) for role in range(len(roles))]
            return f"{' : '.join(roles)} = {' : '.join(parts)}."
    return ""


def _draw_routing_strip(axes: Axes, data: Data, row: int, wide: float, high: float, frame: Frame) -> None:
    """Positions above, the digits that ask below, and what goes between."""
    theme = frame.theme
    step = wide / (len(data["tokens"]) + 1)
    named = len(data["heads"]) > 1
    top, bottom = (0.62 if named else 0.55), high - 0.3
    if named:
        write_centred_text(axes, 0, 0.12, data["heads"][row], ha="left", weight="bold", color=theme.ink)
    _draw_read_tokens(axes, data, top, step, theme)
    edge = theme.good if step > _ROOMY else "none"
    for index, digit in enumerate(data["answer"]):
        x = (data["first"] + index + 1.5) * step
        draw_token_cell(axes, x, bottom, step - 0.04, _CELL, format_cell_token(digit), theme, edge, SIZE, 0.4)
        _draw_attention_curves(axes, data, row, index, step, (x, bottom - _CELL / 2), top + _CELL / 2, frame)
    if step > _LABELLED:
        write_centred_text(
            axes, (data["first"] + 0.85) * step, bottom, "the digit written", ha="right", color=theme.good
        )


def _draw_read_tokens(axes: Axes, data: Data, top: float, step: float, theme: Theme) -> None:
    """The tokens that are read; with the names of their positions above where there is one head and room."""
    has_names = step > _LABELLED and len(data["heads"]) == 1
    for place, (token, label) in enumerate(zip(data["tokens"], data["labels"], strict=True)):
        x, colour = (place + 0.5) * step, choose_position_colour(label, theme)
        edge = mix_colours(colour, theme.paper, 0.8) if step > _ROOMY else "none"
        draw_token_cell(axes, x, top, step - 0.04, _CELL, format_cell_token(token), theme, edge, SIZE, 0.4)
        if has_names and not label.isdigit():
            write_centred_text(axes, x, top - 0.38, lower_digits(format_cell_token(label)), color=colour)


def _draw_attention_curves(
    axes: Axes,
    data: Data,
    row: int,
    index: int,
    step: float,
    start: tuple[float, float],
    end: float,
    frame: Frame,
) -> None:
    """One curve per position that is attended to."""
    weights = data["weights"][row, index]
    for place in np.flatnonzero(weights >= _LEAST):
        x, y = start
        aim = (place + 0.5) * step
        middle = (y + end) / 2
        curve = Curve([(x, y), (x, middle), (aim, middle), (aim, end)], [Curve.MOVETO] + [Curve.CURVE4] * 3)
        colour = choose_position_colour(data["labels"][place], frame.theme)
        axes.add_patch(
            PathPatch(
                curve, facecolor="none", edgecolor=colour, linewidth=_THICKEST * weights[place],
                alpha=0.35 + 0.5 * min(1.0, weights[place]), zorder=1, capstyle="butt",
            )
        )  # fmt: skip
        size = 2.5 + 4 * weights[place]
        axes.plot([aim], [end + 0.06], marker="^", markersize=size, color=colour, markeredgewidth=0, zorder=3)


def _draw_roles(axes: Axes, data: Data, row: int, frame: Frame) -> None:
    """Bars with their numbers, one line per role."""
    theme, mean = frame.theme, data["mean"][row]
    lines = np.arange(len(mean))
    colours = [
        choose_position_colour(role, theme)
        if "ₖ" not in role
        else choose_position_colour(role[0] + "0", theme)
        for role in data["roles"]
    ]
    axes.barh(lines, mean, color=colours, height=0.7)
    axes.set_xlim(0, data["mean"].max() * (1.12 if len(data["heads"]) < 3 else 1.5))
    axes.set_ylim(len(mean) - 0.4, -0.6)
    axes.set_yticks(lines, data["roles"] if row == 0 else [""] * len(mean))
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    open_axes(axes)
    for line, share in enumerate(mean):
        axes.text(
            share + 0.015 * axes.get_xlim()[1],
            line,
            format_percent(share, 0),
            va="center_baseline",
            fontsize=SIZE,
            color=theme.ink,
        )
    axes.set_title(
        data["heads"][row] if len(data["heads"]) > 1 else "mean attention of zₖ to each role", pad=2
    )


def caption(data: Data) -> str:
    a, b = data["pair"]
    every = "; ".join(f"{name}: {describe_looks(data, row)}" for row, name in enumerate(data["heads"]))
    return (
        f"Attention of every head for {a} + {b}, from each digit that is written to the positions it "
        f"attends to; width shows the weight, from {_LEAST:.0%} up. Its mean over {data['sums']:,} "
        f"random sums by role: {every}."
    )
