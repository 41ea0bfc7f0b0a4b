"""What attention hands on: along how many directions it moves the stream, and which digit that decides.

The map runs the model's own pass from attention's output on, for a grid of outputs.
"""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from glassformer.draw.parts.frame import Frame
from glassformer.draw.picture import Data
from glassformer.draw.poster.directions import (
    main_direction,
    measured_rank,
    outputs,
    spectrum,
    typical_size,
)
from glassformer.draw.poster.style import SIZE, open_axes, paragraph, short_ticks
from glassformer.draw.poster.subject import AdderSubject
from glassformer.draw.poster.words import counted, lowered, short, trimmed
from glassformer.draw.theme import mixed, token_colour
from glassformer.model.blocks import whole
from glassformer.model.forward import ignore, prefix, read_out, settle, untie
from glassformer.model.ops_numpy import NumpyOps

WHOLE = 0.999  # of the square sum: a direction that has this much is all there is
GRID = 400
SHOWN = 1_500  # points of the map


def compute(subject: AdderSubject) -> Data:
    layer = subject.attention_layers[-1]
    values, directions = spectrum(subject, layer)
    main = main_direction(subject, layer)
    column = subject.focus
    step = subject.columns.index(column)
    flat = outputs(subject, layer)[:, step]
    share = float(values[0] ** 2 / max((values**2).sum(), 1e-300))
    second = directions[1] if len(directions) > 1 else main * 0
    sample = subject.sample
    total = sample.x[:, column] + sample.y[:, column] + sample.carry[:, column]
    data: Data = {
        "values": values,
        "rank": measured_rank(values, subject.architecture.precision, typical_size(subject, layer)),
        "share": share,
        "layer": layer if len(subject.architecture.layers) > 1 else -1,
        "column": column,
        "score": flat @ main,
        "second": flat @ second,
        "total": total,
        "column_sum": sample.x[:, column] + sample.y[:, column],
        "written": sample.written[:, step],
        "own": sample.context[:, step],
        "own_name": own_name(subject, column),
        "main": main,
        "token_names": tuple(subject.token_name(token) for token in range(subject.architecture.vocab)),
        "is_last": layer == len(subject.architecture.layers) - 1,
        "is_line": share >= WHOLE,
    }
    return data | decision_map(subject, data, second, step, layer)


def own_name(subject: AdderSubject, column: int) -> str:
    """What stands at the place that writes a column: the digit written before, or `=`."""
    before = column + (1 if subject.layout.answer_highest_first else -1)
    return lowered(f"z{before}") if before >= 0 else "="


def decision_map(subject: AdderSubject, data: Data, second: np.ndarray, step: int, layer: int) -> Data:
    """Which digit the rest of the model writes for outputs along the main direction (and the second one)."""
    place = subject.layout.predicting.start + step
    flat = outputs(subject, layer)[:, step]
    low, high = spread(data["score"])
    across = middles(low, high, GRID)
    tokens = np.unique(data["own"])
    if data["is_line"]:
        rest = flat.mean(0) - (flat.mean(0) @ data["main"]) * data["main"]
        moved = rest + across[:, None] * data["main"]  # grid dim
        rows = [written_for(subject, moved, int(token), place, layer) for token in tokens]
        return {
            "map": np.stack(rows),
            "extent": (low, high, -0.5, len(tokens) - 0.5),
            "rows": tokens,
            "up": np.searchsorted(tokens, data["own"]).astype(float),
            "fixed": -1,
        }
    fixed = int(np.bincount(data["own"]).argmax())
    bottom, top = spread(data["second"])
    upward = middles(bottom, top, GRID // 2)
    both = np.stack([data["main"], second])
    rest = flat.mean(0) - (flat.mean(0) @ both.T) @ both
    moved = rest + across[None, :, None] * data["main"] + upward[:, None, None] * second  # up across dim
    found = written_for(subject, moved.reshape(-1, moved.shape[-1]), fixed, place, layer)
    return {
        "map": found.reshape(len(upward), -1),
        "extent": (low, high, bottom, top),
        "rows": np.array([fixed]),
        "up": data["second"],
        "fixed": fixed,
    }


def spread(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return low - room, high + room


def middles(low: float, high: float, count: int) -> np.ndarray:
    """The middles of so many cells of equal size.

    >>> middles(0.0, 1.0, 2).tolist()
    [0.25, 0.75]
    """
    return low + (np.arange(count) + 0.5) * (high - low) / count


def written_for(subject: AdderSubject, moved: np.ndarray, token: int, place: int, layer: int) -> np.ndarray:
    """The token with the largest logit after attention's output `moved`, at a place that holds `token`."""
    shape = subject.architecture
    sample = subject.sample
    which = int(np.flatnonzero(sample.context[:, place - subject.layout.predicting.start] == token)[0])
    before = "embedded" if layer == 0 else f"{prefix(shape, layer - 1)}stream"
    kept = sample.kept[before][which, place - subject.layout.predicting.start]  # dim
    ops, params = NumpyOps(shape.precision), untie(shape, subject.model.params)
    stream = np.repeat(kept[:, None, None], len(moved), 2)  # dim pos grid
    arrived = np.ascontiguousarray(moved.T[:, None, :].astype(shape.precision))
    name = prefix(shape, layer)
    settled = settle(shape.layers[layer], ops, params, name, stream, arrived, ignore)
    table = shape.token.table(ops, params, "token", shape.vocab, shape.token_dims)
    logits = whole(read_out(shape, ops, params, settled, table, ignore))
    return np.asarray(logits[:, 0].argmax(0))


def title(data: Data) -> str:
    where = "" if data["layer"] < 0 else f" of layer {data['layer']}"
    if data["rank"] == 0:
        return f"Attention{where} hands on nothing: its output is the same in all {len(data['score']):,} sums"
    if data["rank"] == 1:
        return f"All that attention{where} hands on is one number: its outputs lie along a single direction"
    if data["is_line"]:
        rest = short(1 - data["share"], 2)
        return (
            f"Attention{where} moves along {data['rank']} directions, but all save {rest} of the square sum "
            "is along one"
        )
    return (
        f"Attention{where} hands on {data['rank']} numbers: the first direction holds {data['share']:.1%} "
        "of their square sum"
    )


def draw(frame: Frame, data: Data) -> None:
    draw_spectrum(frame.axes(0.95, 0.55, 1.9, 6.6), data, frame)
    draw_totals(frame.axes(3.85, 0.55, 5.1, 6.6), data, frame)
    draw_map(frame.axes(10.5, 0.55, 5.75, 6.6), data, frame)
    paragraph(frame, 0, 8.15, frame.width, [words(data)])


def draw_spectrum(axes: Axes, data: Data, frame: Frame) -> None:
    """Singular values, as shares of the largest."""
    values = data["values"][:8] / (data["values"][0] or 1.0)
    floor = 1e-16
    axes.bar(range(len(values)), np.maximum(values, floor), color=frame.theme.accent, width=0.7)
    axes.set_yscale("log")
    axes.set_ylim(floor, 3)
    axes.set_yticks(
        [1, 1e-4, 1e-8, 1e-12, 1e-16], ["1", *(trimmed(10.0**-power) for power in (4, 8, 12, 16))]
    )
    axes.minorticks_off()
    axes.set_xticks(range(len(values)), [str(index + 1) for index in range(len(values))])
    axes.set_title("directions")
    axes.set_xlabel("singular values")
    open_axes(axes)


def draw_totals(axes: Axes, data: Data, frame: Frame) -> None:
    """The number against the column's total, carry included: dots in the colour of the digit written."""
    theme, score, total = frame.theme, data["score"], data["total"]
    chosen = slice(0, SHOWN)
    jitter = np.random.default_rng(2).uniform(-0.3, 0.3, len(score))
    colours = [token_colour(str(digit)) for digit in data["written"][chosen]]
    axes.scatter(score[chosen], (total + jitter)[chosen], s=5, c=colours, linewidths=0)
    for value in np.unique(total):
        here = score[total == value]
        axes.plot([here.min(), here.max()], [value] * 2, color=theme.muted, linewidth=0.6, zorder=0)
    low, high = spread(score)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.7, 19.7)
    axes.set_yticks(range(20))
    axes.set_ylabel(lowered(f"x{data['column']}") + " + " + lowered(f"y{data['column']}") + " + carry")
    axes.set_xlabel("number along the main direction")
    axes.set_title("the number, by what it stands for")
    short_ticks(axes.xaxis, 4)
    axes.grid(axis="y", color=theme.faint, linewidth=0.3)
    axes.set_axisbelow(True)
    open_axes(axes)


def draw_map(axes: Axes, data: Data, frame: Frame) -> None:
    """Which digit is written, with its borders, and the sums that were measured."""
    theme = frame.theme
    names = data["token_names"]
    tints = ListedColormap([mixed(token_colour(name), theme.paper, theme.tint) for name in names])
    axes.imshow(
        data["map"],
        tints,
        vmin=-0.5,
        vmax=len(names) - 0.5,
        extent=data["extent"],
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    own = data["own"] == data["fixed"] if data["fixed"] >= 0 else np.ones(len(data["own"]), bool)
    rows = np.flatnonzero(own)[:SHOWN]
    jitter = np.random.default_rng(3).uniform(-0.32, 0.32, len(rows)) if data["fixed"] < 0 else 0.0
    colours = [token_colour(str(digit)) for digit in data["written"][rows]]
    axes.scatter(
        data["score"][rows], data["up"][rows] + jitter, s=6, c=colours, edgecolors=theme.ink, linewidths=0.15
    )
    axes.set_xlabel("number along the main direction")
    short_ticks(axes.xaxis, 4)
    column = lowered(f"z{data['column']}")
    if data["fixed"] < 0:
        axes.set_yticks(range(len(data["rows"])), [names[token] for token in data["rows"]])
        which = "token at" if data["own_name"] == "=" else "digit written before,"
        axes.set_ylabel(f"{which} {data['own_name']}", labelpad=1)
        axes.set_title(f"what the rest of the model writes as {column}")
    else:
        axes.set_ylabel("second direction", labelpad=1)
        short_ticks(axes.yaxis, 5)
        axes.set_title(f"what it writes as {column} where {data['own_name']} is {names[data['fixed']]}")
    name_borders(axes, data, theme.ink)


def name_borders(axes: Axes, data: Data, ink: str) -> None:
    """The digits of the regions in the top row, in order, in a band above them."""
    top = data["map"][-1]
    left, right, low, height = data["extent"]
    axes.set_ylim(low, height + 0.055 * (height - low))
    starts = np.r_[0, np.flatnonzero(np.diff(top)) + 1, len(top)]
    for begin, end in pairwise(starts):
        if end - begin >= len(top) * 0.035:
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


def words(data: Data) -> str:
    borders = int((np.diff(data["map"][0]) != 0).sum())
    return (
        "Left: singular values of attention's output, about its mean, as shares of the first. Middle and "
        f"right: digit {lowered('z' + str(data['column']))} of {len(data['score']):,} random sums. "
        f"{trend(data)} Right, regions: the model's own pass from there on{own_context(data)}, with "
        f"{counted(borders, 'border')} in the lowest row; dots are sums, coloured by the digit written."
    )


def own_context(data: Data) -> str:
    """After the first layer the stream holds more than the token: the map has it from a single sum."""
    return ", for the stream of one of these sums" if data["layer"] > 0 else ""


def trend(data: Data) -> str:
    """How the number follows the column's total, if it does."""
    correlation = float(np.corrcoef(data["total"], data["score"])[0, 1]) if np.ptp(data["score"]) else 0.0
    if abs(correlation) < 0.9:
        return f"The number does not follow the column's total alone (correlation {trimmed(correlation)})."
    slope = float(np.polyfit(data["total"], data["score"], 1)[0])
    return (
        f"A total larger by 1 moves the number by {short(slope)} on average (correlation "
        f"{trimmed(correlation, 4)})."
    )


def caption(data: Data) -> str:
    return (
        f"Attention's output: measured rank {data['rank']}, first direction {data['share']:.4%} of the "
        f"square sum. {words(data)}"
    )
