"""Matrices as heatmaps with their numbers, on scales centred at 0.

A matrix of a parameter carries the parameter's name, so that a test can add up what a set of figures shows.
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.core.theme import Theme, pick_text_colour
from glassformer.core.words import format_decimals, format_exponent, format_power, replace_minus
from glassformer.pictures.parts.frame import POINTS, SMALL, measure_text_width

MOST_NUMBERS = 12  # rows, and columns, up to which a matrix shows its numbers
_LONG, _SHORT = 1_000, 0.1  # numbers from here on, or all below, are written short: 15k, 5e-4
PARAMETER = "parameter:"  # before the name, in the group id of a drawn parameter


def draw_heatmap(
    axes: Axes,
    values: Float[np.ndarray, "row column"],
    theme: Theme,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    signed: bool = True,
    largest: float | None = None,
    parameter: str = "",
    numbers: bool = True,
) -> AxesImage:
    """A heatmap, on a scale centred at 0 (`largest` is its end), with its numbers where they are readable.

    Masked numbers (nan) are left blank. `parameter` names the parameter whose numbers these are.
    """
    values = np.asarray(values, np.float64)
    top = float(largest if largest is not None else np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colours = (make_signed_colours(theme) if signed else make_share_colours(theme)).with_extremes(
        bad=theme.paper
    )
    image = axes.imshow(
        values, colours, vmin=-top if signed else 0.0, vmax=top, aspect="auto", interpolation="nearest"
    )
    image.set_gid(PARAMETER + parameter if parameter else None)
    name_ticks(axes, rows, columns)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if numbers and max(values.shape) <= MOST_NUMBERS:
        print_cell_numbers(axes, values, image)
    return image


def name_ticks(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Names at the rows and columns, above the matrix; as many as there is room for."""
    box = axes.get_position()
    wide, high = (box.width, box.height) * axes.figure.get_size_inches() * 2.54
    row_step = _choose_tick_step(len(rows), high, SMALL * 1.15 / POINTS)
    widest = max((measure_text_width(name, SMALL) for name in columns), default=0.0)
    column_step = _choose_tick_step(len(columns), wide, widest + 0.08)
    axes.set_yticks(range(0, len(rows), row_step), rows[::row_step])
    axes.set_xticks(range(0, len(columns), column_step), columns[::column_step])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)


def _choose_tick_step(count: int, room: float, needed: float) -> int:
    """Every how many-th name fits."""
    return max(1, int(np.ceil(count * needed / max(room, 1e-9)))) if count else 1


def print_cell_numbers(axes: Axes, values: Float[np.ndarray, "row column"], image: AxesImage) -> None:
    """Each number in its cell, with as many decimals as fit; none where not even one does."""
    box = axes.get_position()
    wide, high = (box.width, box.height) * axes.figure.get_size_inches() * 2.54 / values.shape[::-1]
    texts = format_cell_numbers(values, wide, high)
    if texts is None:
        return
    for (row, column), text in np.ndenumerate(texts):
        if np.isfinite(values[row, column]):
            background = "#" + "".join(
                f"{round(255 * c):02x}" for c in image.to_rgba(values[row, column])[:3]
            )
            axes.text(
                column, row, text, ha="center", va="center_baseline", fontsize=SMALL,
                color=pick_text_colour(background),
            )  # fmt: skip


def format_cell_numbers(
    values: Float[np.ndarray, "row column"], wide: float, high: float
) -> np.ndarray | None:
    """The numbers as text for cells of that size in cm."""
    if high < SMALL * 1.05 / POINTS:
        return None
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    most = 2 if largest >= 0.1 or largest == 0 else min(4, 1 - int(np.floor(np.log10(largest))))
    for decimals in range(most, -1, -1):
        texts = np.vectorize(lambda value, n=decimals: format_decimals(value, n))(values)
        shapes = {re.sub(r"\d", "0", text) for text in texts[np.isfinite(values)]}  # digits are equally wide
        if max((measure_text_width(shape, SMALL) for shape in shapes), default=0.0) <= wide - 0.06:
            return np.asarray(texts)
    return None


def format_short_number(value: float) -> str:
    """A very large or very small number in few characters.

    >>> format_short_number(-15000.0), format_short_number(2.5e6)
    ('\u221215k', '2.5M')
    >>> format_short_number(0.0), format_short_number(0.0005)
    ('0', '5e\u22124')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return replace_minus(f"{value / unit:.3g}{letter}")
    if 0 < abs(value) < _SHORT / 10:
        return format_exponent(value)
    return replace_minus(f"{value:.{2 if abs(value) < _SHORT else 3}g}")


def is_unwieldy(largest: float) -> bool:
    """Whether numbers up to here take many characters when they are written out."""
    return largest >= _LONG or 0 < largest < _SHORT


def shorten_ticks(axis: Axis) -> None:
    """Few characters at an axis whose limits and name are set: the name tells the power of ten."""
    largest = float(np.abs(axis.get_view_interval()).max())
    if is_unwieldy(largest):
        power = 3 * int(np.floor(np.log10(largest) / 3))
        times = f"\N{MULTIPLICATION SIGN}{format_power(power)}"
        axis.set_major_formatter(FuncFormatter(lambda value, _: format_short_number(value / 10.0**power)))
        axis.set_label_text(f"{axis.get_label_text()} {times}")


def draw_scale_bar(
    axes: Axes, image: AxesImage, theme: Theme, label: str = "", ticks: Sequence[float] | None = None
) -> None:
    """The colour scale of a map, drawn into axes of its own (long side = the scale)."""
    box = axes.get_position()
    wide, high = (box.width, box.height) * axes.figure.get_size_inches()
    bar = axes.figure.colorbar(image, cax=axes, orientation="horizontal" if wide > high else "vertical")
    bar.outline.set_visible(False)
    if is_unwieldy(max(map(abs, image.get_clim()))):
        bar.formatter = FuncFormatter(lambda value, _: format_short_number(value))
    if ticks is None:
        bar.locator = MaxNLocator(3)
        bar.update_ticks()
    else:
        bar.set_ticks(list(ticks))
    bar.set_label(label)


def make_signed_colours(theme: Theme) -> LinearSegmentedColormap:
    """For numbers with a sign: zero is the neutral middle."""
    return LinearSegmentedColormap.from_list("signed", [theme.negative, theme.zero, theme.positive])


def make_share_colours(theme: Theme) -> LinearSegmentedColormap:
    """For shares, probabilities and entropies, from nothing upwards."""
    return LinearSegmentedColormap.from_list("share", [theme.zero, theme.high])
