"""Maps that change with every frame, at the pixels of their panel: evaluated there, coloured, pasted.

Colours are packed, one 32-bit number per pixel, so that a map is painted by a single look-up.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt32
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, to_rgba_array

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.pictures.video.stage import Mover

_Picture = UInt32[np.ndarray, "y x"]
_SHADES = 256


class _PixelBox(NamedTuple):
    """The pixels of a panel: columns from the left, rows from the top of the canvas."""

    left: int
    right: int
    top: int
    bottom: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left


def find_pixel_box(axes: Axes) -> _PixelBox:
    extent = axes.get_window_extent()
    high = round(axes.figure.bbox.height)
    left, right, low, up = (round(edge) for edge in (extent.x0, extent.x1, extent.y0, extent.y1))
    return _PixelBox(left, right, high - up, high - low)


def compute_grid_points(axes: Axes, shape: tuple[int, int]) -> Float[np.ndarray, "y x 2"]:
    """Where the cells of a grid over a panel have their centres in the data; row 0 is the top.

    With the shape of the panel's box these are its pixels.
    """
    box, high = find_pixel_box(axes), round(axes.figure.bbox.height)
    x = box.left + (np.arange(shape[1]) + 0.5) / shape[1] * (box.right - box.left)
    y = high - box.top - (np.arange(shape[0]) + 0.5) / shape[0] * (box.bottom - box.top)
    grid = np.stack(np.meshgrid(x, y), -1)
    return np.asarray(axes.transData.inverted().transform(grid.reshape(-1, 2))).reshape(grid.shape)


def make_map_mover(axes: Axes, paint: Callable[[int], _Picture]) -> Mover:
    """A map over the whole box of a panel."""
    box = find_pixel_box(axes)

    def move(index: int) -> None:
        canvas = np.asarray(axes.figure.canvas.buffer_rgba()).view(np.uint32)[..., 0]
        canvas[box.top : box.bottom, box.left : box.right] = paint(index)

    return move


def _pack_colours(colours: Sequence[str]) -> UInt32[np.ndarray, " colour"]:
    """Colours as they lie in the canvas."""
    channels = np.round(255 * to_rgba_array(list(colours))).astype(np.uint8)
    return np.asarray(channels.view(np.uint32)[:, 0])


def list_shades(colours: Colormap) -> UInt32[np.ndarray, " shade"]:
    """A colour map in 256 steps."""
    return np.asarray(colours(np.arange(_SHADES) / (_SHADES - 1), bytes=True).view(np.uint32)[:, 0])


def shade_values(
    values: Float[np.ndarray, "*cell"], low: float, high: float, colours: UInt32[np.ndarray, " shade"]
) -> UInt32[np.ndarray, "*cell"]:
    """Numbers in the shades of a scale; those beyond its ends have the colours of the ends."""
    level = (values - low) * ((_SHADES - 1) / (high - low)) + 0.5
    return np.asarray(colours[np.clip(level, 0, _SHADES - 1).astype(np.uint8)])


def make_region_painter(
    tokens: Sequence[str], theme: Theme
) -> Callable[[Int[np.ndarray, "y x"]], UInt32[np.ndarray, "y x"]]:
    """Winners to regions in the tokens' colours, with their borders."""
    fills = _pack_colours(
        [mix_colours(pick_token_colour(token), theme.paper, theme.tint) for token in tokens]
    )
    (line,) = _pack_colours([mix_colours(theme.ink, theme.paper, 0.55)])

    def paint(winner: Int[np.ndarray, "y x"]) -> UInt32[np.ndarray, "y x"]:
        picture: np.ndarray = fills[winner]
        picture[:, 1:][winner[:, 1:] != winner[:, :-1]] = line
        picture[1:][winner[1:] != winner[:-1]] = line
        return picture

    return paint


def make_resizer(axes: Axes) -> Callable[[UInt32[np.ndarray, "row column"]], _Picture]:
    """Fits a matrix of colours to the pixels of a panel: each takes that of the cell it lies in."""
    size = find_pixel_box(axes).shape

    def fit(colours: UInt32[np.ndarray, "row column"]) -> _Picture:
        rows, columns = (
            ((np.arange(pixels) + 0.5) * count / pixels).astype(int)
            for pixels, count in zip(size, colours.shape, strict=True)
        )
        return np.asarray(colours[rows[:, None], columns])

    return fit


def make_matrix_mover(
    axes: Axes, values: Float[np.ndarray, "frame row column"], low: float, high: float,
    colours: UInt32[np.ndarray, " shade"], theme: Theme,
) -> Mover:  # fmt: skip
    """A matrix as blocks; what is nan is left blank."""
    (blank,) = _pack_colours([theme.paper])
    spread, known = make_resizer(axes), np.isfinite(values[0])
    filled = np.where(known, values, 0.0)
    return make_map_mover(
        axes, lambda index: spread(np.where(known, shade_values(filled[index], low, high, colours), blank))
    )
