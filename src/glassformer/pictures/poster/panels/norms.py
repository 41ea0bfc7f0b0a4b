"""What the norms do: the gain of every dimension, and the length of the vectors before and after."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import name_colour, pick_token_colour
from glassformer.core.words import format_count, format_significant, format_trimmed, lower_digits
from glassformer.models.forward import untie_parameters
from glassformer.models.norm import NoNorm, RMSNorm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.plane import Plane, fit_plane
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.marks import show_plane
from glassformer.pictures.parts.matrices import draw_heatmap
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.directions import is_far_cloud
from glassformer.pictures.poster.sample import list_norm_sites
from glassformer.pictures.poster.style import (
    SIZE,
    add_canvas,
    draw_token_cell,
    format_fitting_number,
    open_axes,
    set_few_ticks,
    write_numbers,
    write_paragraph,
)
from glassformer.pictures.poster.sums import Sums
from glassformer.tasks.layouts import DIGIT_LABELS

_SHOWN = 1_200  # points of a cloud


def compute(sums: Sums) -> Data:
    sites, sample = list_norm_sites(sums), sums.sample
    lengths = {
        site.name: np.stack(
            [
                _measure_rms_quantiles(sample.kept[site.before]),
                _measure_rms_quantiles(sample.kept[site.after]),
            ]
        )
        for site in sites
    }
    last = sites[-1]
    step = sums.columns.index(sums.focus)
    before, after = (
        sample.kept[name][:_SHOWN, step].astype(np.float64) for name in (last.before, last.after)
    )
    shift = after.mean(0) if is_far_cloud(after) else after[0] * 0
    plane = fit_plane(after - shift, "stream")
    written = sample.written[:_SHOWN, step]
    return {
        "gains": _collect_gains(sums),
        "lengths": lengths,
        "has_norm": {
            site.name: not isinstance(_find_norm(sums, site.layer, site.kind), NoNorm) for site in sites
        },
        "plane": plane,
        "before": plane(before - (before.mean(0) if shift.any() else 0.0), written.astype(float)),
        "after": plane(after - shift, written.astype(float)),
        "centred": bool(shift.any()),
        "digit": written,
        "base": sums.task.base,
        "column": sums.focus,
        "sums": len(sample.z),
    }


def _measure_rms_quantiles(vectors: np.ndarray) -> np.ndarray:
    """The 0, 5, 50, 95 and 100 percent points of the root mean squares; zeros where all vectors are zero."""
    sizes = np.sqrt((vectors.astype(np.float64) ** 2).mean(-1))
    return np.percentile(sizes[sizes > 0], [0, 5, 50, 95, 100]) if sizes.any() else np.zeros(5)


def _find_norm(sums: Sums, layer: int, kind: str) -> object:
    if kind == "final":
        return sums.architecture.final_norm
    found = sums.architecture.layers[layer]
    return found.attention_norm if kind == "attention" else found.feedforward_norm


def _collect_gains(sums: Sums) -> dict[str, np.ndarray]:
    """The gain of every norm on the stream, in the model's own arithmetic."""
    shape = sums.architecture
    params, ops = untie_parameters(shape, sums.model.params), NumpyOps(shape.precision)
    found: dict[str, np.ndarray] = {}
    for site in list_norm_sites(sums):
        norm = _find_norm(sums, site.layer, site.kind)
        if isinstance(norm, RMSNorm):
            found[site.name] = np.asarray(norm.gain(ops, params, site.parameter, shape.width), np.float64)
    return found


def title(data: Data) -> str:
    if not data["gains"]:
        least, most = _find_length_span(data, 0)
        return (
            f"No norm: vectors keep their size, which goes from {format_significant(least)} to "
            f"{format_significant(most)} (root mean square)"
        )
    gain = np.concatenate(list(data["gains"].values()))
    least, most = _find_length_span(data, 0)
    same = np.ptp(gain) <= 1e-6 * np.abs(gain).max()
    words = (
        f"gain {format_significant(gain[0])} in every dimension"
        if same
        else f"gains from {format_significant(gain.min())} to {format_significant(gain.max())}"
    )
    return (
        f"Norms bring root mean squares of {format_significant(least)} to {format_significant(most)} to one "
        f"size, then scale dimensions: {words}"
    )


def _find_length_span(data: Data, which: int) -> tuple[float, float]:
    """The smallest and the largest vector before or after the norms; at all sites where there is none."""
    chosen = [data["lengths"][name] for name in data["gains"]] or list(data["lengths"].values())
    return float(min(one[which, 0] for one in chosen)), float(max(one[which, -1] for one in chosen))


def draw(frame: Frame, data: Data) -> None:
    side = 3.6 if data["has_norm"]["head"] else 5.0
    below = 0.55 + side + 1.0
    _draw_lengths(frame.axes(2.3, 0.55, 4.2, 3.6), data, frame)
    _draw_gains(frame, data)
    for index, when in enumerate(("before", "after") if data["has_norm"]["head"] else ("before",)):
        axes = frame.axes(7.95 + index * (side + 1.0), 0.55, side, side)
        _draw_normed_cloud(axes, data, when, frame)
    lines = [
        f"The stream where digit {lower_digits('z' + str(data['column']))} is written, in "
        f"{len(data['digit']):,} random sums, coloured by that digit"
        f"{', minus the mean' if data['centred'] else ''}"
        f"{'; ' if data['plane'].note else ''}{data['plane'].note}.",
    ]
    _draw_digit_key(frame, below, data["base"])
    write_paragraph(frame, 7.5, below + 0.85, frame.width - 7.5, lines)


def _draw_lengths(axes: Axes, data: Data, frame: Frame) -> None:
    """Whiskers from the smallest to the largest root mean square, before and after every site."""
    theme, names = frame.theme, list(data["lengths"])
    for row, name in enumerate(names):
        for shift, which, colour in ((-0.16, 0, theme.muted), (0.16, 1, theme.accent)):
            if which and not data["has_norm"][name]:
                continue
            low, lower, middle, upper, high = data["lengths"][name][which]
            if not high:
                continue  # zero has no place on a scale of powers
            axes.plot([low, high], [row + shift] * 2, color=colour, linewidth=1)
            axes.plot([lower, upper], [row + shift] * 2, color=colour, linewidth=4, solid_capstyle="butt")
            axes.plot(
                [middle], [row + shift], marker="o", markersize=4, color=colour, markeredgecolor=theme.paper
            )
    axes.set_yticks(range(len(names)), [f"{name}" for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.minorticks_off()
    low, high = axes.get_xlim()
    exponents = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    axes.set_xlim(10.0 ** exponents[0], 10.0 ** exponents[-1])
    kept = exponents[:: int(np.ceil(len(exponents) / 5))]
    axes.set_xticks(10.0**kept, [format_trimmed(value) for value in 10.0**kept])
    both = f"size before ({name_colour('muted')}), after ({name_colour('accent')})"
    axes.set_title(both if data["gains"] else "size of the vectors")
    axes.set_xlabel("root mean square")
    open_axes(axes)


def _draw_gains(frame: Frame, data: Data) -> None:
    found, theme = data["gains"], frame.theme
    if not found:
        frame.write(
            0, 6.0, "This model has no norm: every part reads the stream as it is.", 8, 6.4, color=theme.muted
        )
        return
    table = np.stack(list(found.values()))
    high = min(0.55 * len(table), 3.2)
    axes = frame.axes(2.3, 6.2, 4.2, high)
    columns = tuple(map(str, range(table.shape[1]))) if table.shape[1] <= 16 else ()
    image = draw_heatmap(axes, table, theme, tuple(found), columns, numbers=False)
    axes.set_title("gain of every dimension", pad=14)
    if table.shape[1] <= 5:
        write_numbers(
            axes, image, table, lambda value: format_fitting_number(value, 4.2 / table.shape[1], SIZE)
        )


def _draw_normed_cloud(axes: Axes, data: Data, when: str, frame: Frame) -> None:
    plane: Plane = data["plane"]
    points = data[when]
    least = np.eye(2) * (0.0 if points.any() else 1.0)  # where all is zero, any size will do
    show_plane(axes, plane, plane.limits(points, least, -least))
    axes.set_title(f"{when} the last norm" if data["has_norm"]["head"] else "the stream at the head")
    axes.axhline(0, color=frame.theme.faint, linewidth=0.6, zorder=0)
    axes.axvline(0, color=frame.theme.faint, linewidth=0.6, zorder=0)
    for axis in (axes.xaxis, axes.yaxis):
        set_few_ticks(axis, 4)
    axes.yaxis.labelpad = 0
    if when == "after":
        axes.set_ylabel("")
    colours = [pick_token_colour(str(digit)) for digit in data["digit"]]
    axes.scatter(*points.T, s=5, c=colours, linewidths=0, zorder=2)


def _draw_digit_key(frame: Frame, down: float, base: int) -> None:
    """The colours of the digits."""
    axes = add_canvas(frame, 7.4, down, 9.0, 0.7)
    apart = min(0.6, 8.5 / base)  # cm
    for digit in range(base):
        draw_token_cell(
            axes,
            0.45 + digit * apart,
            0.35,
            apart - 0.1,
            0.45,
            DIGIT_LABELS[digit],
            frame.theme,
            strength=0.85,
        )


def caption(data: Data) -> str:
    many = format_count(len(data["gains"]), "norm")
    return (
        f"{many[:1].upper()}{many[1:]} on the stream. Whiskers go from the smallest to the largest root "
        "mean square of the vectors where digits are written, bars from 5% to 95%, dots are medians, over "
        f"{data['sums']:,} random sums; right, the stream at the head where digit z{data['column']} is "
        f"written. {data['plane'].note}"
    )
