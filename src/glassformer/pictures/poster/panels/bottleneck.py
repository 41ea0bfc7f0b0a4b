"""What attention passes on: along how many directions it moves the stream, and which digit that decides."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.core.words import (
    format_count,
    format_percent,
    format_significant,
    format_trimmed,
    lower_digits,
)
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.picture import Data, unpack_part
from glassformer.pictures.poster.decision_map import ColumnOutputs, make_decision_map, pad_range
from glassformer.pictures.poster.directions import (
    collect_attention_outputs,
    count_output_directions,
    decompose_outputs,
    find_output_direction,
    measure_output_size,
)
from glassformer.pictures.poster.style import SIZE, open_axes, set_few_ticks, write_paragraph
from glassformer.pictures.poster.sums import Sums

_WHOLE = 0.999  # of the square sum: a direction that has this much is all there is
_SHOWN = 1_500  # points of the map
_MOST_LABELS = 12  # digits of a base whose totals are all named
_NARROWEST = 0.025  # of the map's width: a region that has room for its digit


def compute(sums: Sums) -> Data:
    layer = sums.attention_layers[-1]
    values, directions = decompose_outputs(sums, layer)
    main = find_output_direction(sums, layer)
    column = sums.focus
    step = sums.columns.index(column)
    flat = collect_attention_outputs(sums, layer)[:, step]
    share = float(values[0] ** 2 / max((values**2).sum(), 1e-300))
    second = directions[1] if len(directions) > 1 else main * 0
    sample = sums.sample
    outputs = ColumnOutputs(
        main, second, flat @ main, flat @ second, sample.context[:, step], share >= _WHOLE
    )
    total = sample.x[:, column] + sample.y[:, column] + sample.carry[:, column]
    return {
        "values": values,
        "rank": count_output_directions(
            values, sums.architecture.precision, measure_output_size(sums, layer)
        ),
        "share": share,
        "layer": layer if len(sums.architecture.layers) > 1 else -1,
        "column": column,
        "score": outputs.score,
        "second": outputs.second_score,
        "total": total,
        "written": sample.written[:, step],
        "own": outputs.own,
        "base": sums.task.base,
        "own_name": _name_own_token(sums, column),
        "main": main,
        "token_names": tuple(sums.token_name(token) for token in range(sums.architecture.vocab)),
        "is_line": outputs.is_line,
        **unpack_part(make_decision_map(sums, outputs, step, layer)),
    }


def _name_own_token(sums: Sums, column: int) -> str:
    """What stands at the position that writes a column: the digit written before, or `=`."""
    before = column + (1 if sums.layout.answer_highest_first else -1)
    return lower_digits(f"z{before}") if before >= 0 else "="


def title(data: Data) -> str:
    where = "" if data["layer"] < 0 else f" of layer {data['layer']}"
    if data["rank"] == 0:
        return (
            f"Attention{where} passes nothing on: its output is the same in all {len(data['score']):,} sums"
        )
    if data["rank"] == 1:
        return f"Attention{where} passes a single number to the rest of the model: its outputs lie on a line"
    if data["is_line"]:
        rest = format_significant(1 - data["share"], 2)
        return (
            f"The output of attention{where} has rank {data['rank']}, but one direction holds all but {rest} "
            "of the square sum"
        )
    return (
        f"Attention{where} passes {data['rank']} numbers to the rest of the model; the first direction "
        f"holds {format_percent(data['share'])} of their square sum"
    )


def draw(frame: Frame, data: Data) -> None:
    _draw_spectrum(frame.axes(0.95, 0.55, 1.9, 6.6), data, frame)
    _draw_totals(frame.axes(3.85, 0.55, 5.1, 6.6), data, frame)
    _draw_decision_map(frame.axes(10.5, 0.55, 5.75, 6.6), data, frame)
    write_paragraph(frame, 0, 8.15, frame.width, [_describe_bottleneck(data)])


def _draw_spectrum(axes: Axes, data: Data, frame: Frame) -> None:
    """Singular values, as shares of the largest."""
    values = data["values"][:8] / (data["values"][0] or 1.0)
    floor = 1e-16
    axes.bar(range(len(values)), np.maximum(values, floor), color=frame.theme.accent, width=0.7)
    axes.set_yscale("log")
    axes.set_ylim(floor, 3)
    axes.set_yticks(
        [1, 1e-4, 1e-8, 1e-12, 1e-16], ["1", *(format_trimmed(10.0**-power) for power in (4, 8, 12, 16))]
    )
    axes.minorticks_off()
    axes.set_xticks(range(len(values)), [str(index + 1) for index in range(len(values))])
    axes.set_title("directions")
    axes.set_xlabel("singular values")
    open_axes(axes)


def _draw_totals(axes: Axes, data: Data, frame: Frame) -> None:
    """The number against the column's total, carry included: dots in the colour of the digit written."""
    theme, score, total = frame.theme, data["score"], data["total"]
    chosen = slice(0, _SHOWN)
    jitter = np.random.default_rng(2).uniform(-0.3, 0.3, len(score))
    colours = [pick_token_colour(str(digit)) for digit in data["written"][chosen]]
    axes.scatter(score[chosen], (total + jitter)[chosen], s=5, c=colours, linewidths=0)
    for value in np.unique(total):
        here = score[total == value]
        axes.plot([here.min(), here.max()], [value] * 2, color=theme.muted, linewidth=0.6, zorder=0)
    low, high = pad_range(score)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.7, 2 * data["base"] - 0.3)
    axes.set_yticks(range(0, 2 * data["base"], 1 + data["base"] // (_MOST_LABELS + 1)))
    axes.set_ylabel(
        lower_digits(f"x{data['column']}") + " + " + lower_digits(f"y{data['column']}") + " + carry"
    )
    axes.set_xlabel("number along the main direction")
    axes.set_title("the number against the sum of its column")
    set_few_ticks(axes.xaxis, 4)
    axes.grid(axis="y", color=theme.faint, linewidth=0.3)
    axes.set_axisbelow(True)
    open_axes(axes)


def _draw_decision_map(axes: Axes, data: Data, frame: Frame) -> None:
    """Which digit is written, with its borders, and the sums that were measured."""
    theme, names = frame.theme, data["token_names"]
    tints = ListedColormap([mix_colours(pick_token_colour(name), theme.paper, theme.tint) for name in names])
    axes.imshow(
        data["map"], tints, vmin=-0.5, vmax=len(names) - 0.5, extent=data["extent"], origin="lower",
        aspect="auto", interpolation="nearest",
    )  # fmt: skip
    _draw_sum_dots(axes, data, theme)
    _name_map_directions(axes, data)
    _name_borders(axes, data, theme.ink)


def _draw_sum_dots(axes: Axes, data: Data, theme: Theme) -> None:
    """Sums as dots in the colour of the digit written; where one token is fixed, those that have it."""
    is_line = data["fixed"] < 0
    own = np.ones(len(data["own"]), bool) if is_line else data["own"] == data["fixed"]
    rows = np.flatnonzero(own)[:_SHOWN]
    jitter = np.random.default_rng(3).uniform(-0.32, 0.32, len(rows)) if is_line else 0.0
    colours = [pick_token_colour(str(digit)) for digit in data["written"][rows]]
    axes.scatter(
        data["score"][rows], data["up"][rows] + jitter, s=6, c=colours, edgecolors=theme.ink, linewidths=0.15
    )


def _name_map_directions(axes: Axes, data: Data) -> None:
    """The first direction along x; along y the token that stands there, or the second direction."""
    names, column = data["token_names"], lower_digits(f"z{data['column']}")
    axes.set_xlabel("number along the main direction")
    set_few_ticks(axes.xaxis, 4)
    if data["fixed"] < 0:
        axes.set_yticks(range(len(data["rows"])), [names[token] for token in data["rows"]])
        which = "token at" if data["own_name"] == "=" else "digit written before,"
        axes.set_ylabel(f"{which} {data['own_name']}", labelpad=1)
        axes.set_title(f"what the rest of the model writes as {column}")
    else:
        axes.set_ylabel("second direction", labelpad=1)
        set_few_ticks(axes.yaxis, 5)
        axes.set_title(f"what it writes as {column} where {data['own_name']} is {names[data['fixed']]}")


def _name_borders(axes: Axes, data: Data, ink: str) -> None:
    """The digits of the regions in the top row, in order, in a band above them."""
    top = data["map"][-1]
    left, right, low, height = data["extent"]
    axes.set_ylim(low, height + 0.055 * (height - low))
    starts = np.r_[0, np.flatnonzero(np.diff(top)) + 1, len(top)]
    for begin, end in pairwise(starts):
        if end - begin >= len(top) * _NARROWEST:
            x = left + (right - left) * (begin + end) / 2 / len(top)
            axes.annotate(
                data["token_names"][top[begin]],
                (x, height),
                (0, 5.5),
                textcoords="offset points",
                ha="center",
                va="center_baseline",
                fontsize=SIZE,
                weight="bold",
                color=ink,
            )


def _describe_bottleneck(data: Data) -> str:
    borders = int((np.diff(data["map"][0]) != 0).sum())
    return (
        "Left: singular values of attention's output, about its mean, as shares of the first. Middle and "
        f"right: digit {lower_digits('z' + str(data['column']))} of {len(data['score']):,} random sums. "
        f"{_describe_total_trend(data)} Right, regions: the rest of the model's "
        f"forward pass{_describe_own_context(data)}, with {format_count(borders, 'border')} in the lowest "
        "row; dots are sums, coloured by the digit written."
    )


def _describe_own_context(data: Data) -> str:
    """After the first layer the stream holds more than the token: the map has it from a single sum."""
    return ", for the stream of one of these sums" if data["layer"] > 0 else ""


def _describe_total_trend(data: Data) -> str:
    """How the number follows the column's total, if it does."""
    correlation = float(np.corrcoef(data["total"], data["score"])[0, 1]) if np.ptp(data["score"]) else 0.0
    if abs(correlation) < 0.9:
        return (
            "The number does not follow the column's total alone (correlation "
            f"{format_trimmed(correlation)})."
        )
    slope = float(np.polyfit(data["total"], data["score"], 1)[0])
    return (
        f"A total larger by 1 moves the number by {format_significant(slope)} on average (correlation "
        f"{format_trimmed(correlation, 4)})."
    )


def caption(data: Data) -> str:
    return (
        f"Attention's output: measured rank {data['rank']}, first direction {format_percent(data['share'])} "
        f"of the square sum. {_describe_bottleneck(data)}"
    )
