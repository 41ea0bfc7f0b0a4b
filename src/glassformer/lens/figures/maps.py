"""A number of every head as a map: layers across, heads down, the smallest and the largest marked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from glassformer.core.theme import Theme, name_colour
from glassformer.core.words import format_decimals
from glassformer.lens.figures.lines import FLAT
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.matrices import (
    draw_scale_bar,
    format_cell_numbers,
    make_share_colours,
    make_signed_colours,
    name_ticks,
    print_cell_numbers,
)

_CROWDED = 0.02  # share of the heads that may lie below a scale's beginning
_FAR = 0.25  # of the rest's range: below by more than this is too far to begin the scale there
_BAR = 0.95  # cm: scale bar with its ticks and name, under a map
_TOLD = 9  # steps of the last decimal that a map's numbers must span to be written
_MOST_NUMBERS = 40  # layers up to which cells try to show their numbers


@dataclass(frozen=True)
class ColourScale:
    """What the colours of some maps mean."""

    low: float
    high: float
    is_signed: bool = False  # around 0

    def is_cut(self, values: Float[np.ndarray, "..."]) -> bool:
        """Whether some heads lie below its beginning."""
        return bool(np.nanmin(values) < self.low)


def choose_colour_scale(values: Float[np.ndarray, "..."], is_signed: bool = False) -> ColourScale:
    """From the smallest to the largest number; a few outliers at the low end do not spoil it.

    >>> choose_colour_scale(np.r_[1.0, np.linspace(40, 60, 99)]).low > 39
    True
    """
    every = values[np.isfinite(values)]
    low, high = float(every.min()), float(every.max())
    if is_signed:
        end = max(abs(low), abs(high)) or 1.0
        return ColourScale(-end, end, True)
    crowd = float(np.quantile(every, _CROWDED))
    low = crowd if crowd - low > _FAR * (high - crowd) > 0 else low
    return ColourScale(low, high) if high - low > FLAT * abs(high) else ColourScale(0.0, 2 * high or 1.0)


def draw_head_map(
    axes: Axes,
    values: Float[np.ndarray, "layer head"],
    layers: tuple[int, ...],
    scale: ColourScale,
    theme: Theme,
) -> AxesImage:
    """The map, with the frames of the smallest and the largest."""
    colours = (make_signed_colours(theme) if scale.is_signed else make_share_colours(theme)).with_extremes(
        bad=theme.paper
    )
    image = axes.imshow(
        values.T, colours, vmin=scale.low, vmax=scale.high, aspect="auto", interpolation="nearest"
    )
    name_ticks(axes, [str(head) for head in range(values.shape[1])], [str(layer) for layer in layers])
    axes.tick_params(top=False, labeltop=False, bottom=False, labelbottom=True)
    axes.set_ylabel("head")
    axes.set_xlabel("layer")
    if values.shape[0] <= _MOST_NUMBERS and _has_enough_decimals(axes, values):
        print_cell_numbers(axes, values.T, image)
    ends = () if has_one_value(values) else ((theme.bad, np.nanargmin), (theme.good, np.nanargmax))
    for colour, pick in ends:
        _mark_cell(axes, np.unravel_index(int(pick(values)), values.shape), colour, theme.paper)
    return image


def describe_map_frames() -> str:
    """The colours of both frames."""
    return f"{name_colour('bad').capitalize()} frame: lowest, {name_colour('good')} frame: highest."


def has_one_value(values: Float[np.ndarray, "layer head"]) -> bool:
    """Whether all heads have one number, up to rounding: then none is the lowest."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return high - low <= FLAT * max(abs(low), abs(high))


def _has_enough_decimals(axes: Axes, values: Float[np.ndarray, "layer head"]) -> bool:
    """Whether numbers that fit into the cells have enough decimals to say more than the colours."""
    box = axes.get_position()
    wide, high = (box.width, box.height) * axes.figure.get_size_inches() * 2.54 / values.shape
    texts = format_cell_numbers(values.T, wide, high)
    if texts is None:
        return False
    decimals = max(len(str(text).partition(".")[2]) for text in texts.ravel())
    return bool(np.nanmax(values) - np.nanmin(values) > _TOLD * 10.0**-decimals)


def _mark_cell(axes: Axes, place: tuple[np.intp, ...], colour: str, paper: str) -> None:
    """A frame around a cell."""
    layer, head = (int(index) for index in place)
    halo = [withStroke(linewidth=2.4, foreground=paper)]
    look = {"edgecolor": colour, "linewidth": 1.2, "zorder": 5, "clip_on": False, "path_effects": halo}
    axes.add_patch(Rectangle((layer - 0.5, head - 0.5), 1, 1, fill=False, **look))


def draw_map_scale(
    part: Frame, x: float, y: float, width: float, image: AxesImage, label: str, is_cut: bool
) -> None:
    """The scale bar with both ends named, so that nobody takes its beginning for 0."""
    low, high = image.get_clim()
    ticks = (low, (low + high) / 2, high)
    axes = part.axes(x, y, width, 0.2)
    draw_scale_bar(axes, image, part.theme, label, ticks=ticks)
    decimals = 0 if high - low >= 20 else 1 if high - low >= 2 else 2
    below = "\u2264 " if is_cut else ""
    axes.set_xticklabels(
        [
            f"{mark}{format_decimals(tick, decimals)}"
            for mark, tick in zip((below, "", ""), ticks, strict=True)
        ]
    )


_Extreme = Literal["lowest", "highest"]


def find_extreme_head(values: Float[np.ndarray, "layer head"], which: _Extreme) -> tuple[int, int]:
    """Row and head of the smallest or the largest number."""
    flat = int(np.nanargmin(values) if which == "lowest" else np.nanargmax(values))
    row, head = np.unravel_index(flat, values.shape)
    return int(row), int(head)


def describe_extreme_heads(
    values: Float[np.ndarray, "layer head"], layers: Sequence[int], say: Callable[[float], str]
) -> str:
    """The smallest and the largest number with their heads: `lowest 1.20 (L3 h0), highest 7.90 (L0 h5)`."""
    ends = []
    which: _Extreme
    for which in ("lowest", "highest"):
        row, head = find_extreme_head(values, which)
        ends.append(f"{which} {say(values[row, head])} (L{layers[row]} h{head})")
    return ", ".join(ends)
