"""Maps of a plane: which token wins where, and how large one number is at every point."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Integer
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from scipy.ndimage import distance_transform_edt

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.pictures.parts.frame import POINTS, measure_text_width
from glassformer.pictures.parts.labels import Taken, measure_axes_box, to_points
from glassformer.pictures.parts.marks import make_readable_colour
from glassformer.pictures.parts.matrices import make_share_colours, make_signed_colours

_NAME = 8.0  # points: the name of a region
_COARSE = 2  # every how many-th point of a map is looked at to find room for a name


def draw_winner_regions(
    axes: Axes,
    winner: Integer[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: Taken | None = None,
    avoid: Float[np.ndarray, "point 2"] | None = None,
) -> None:
    """Which token wins where: regions in the tokens' colours, with borders and names.

    Names keep clear of `avoid`, the points that will be drawn, where a region leaves room for that.
    """
    colours = np.array(
        [to_rgb(mix_colours(pick_token_colour(token), theme.paper, theme.tint)) for token in tokens]
    )
    picture = colours[winner]
    border = np.zeros(winner.shape, bool)
    border[:, 1:] |= winner[:, 1:] != winner[:, :-1]
    border[1:] |= winner[1:] != winner[:-1]
    picture[border] = to_rgb(mix_colours(theme.ink, theme.paper, 0.55))
    axes.imshow(
        picture,
        extent=tuple(limits.ravel()),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )
    _name_regions(axes, winner, limits, tokens, theme, taken, avoid)


def _name_regions(
    axes: Axes,
    winner: Integer[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: Taken | None = None,
    avoid: Float[np.ndarray, "point 2"] | None = None,
) -> None:
    """Each token's name where its region is widest, if it has room there."""
    coarse = winner[::_COARSE, ::_COARSE]
    free = ~_flag_point_cells(coarse.shape, limits, avoid)
    box = measure_axes_box(axes)
    for token in np.unique(coarse):
        text = tokens[token]
        needed = 0.5 * max(_NAME, measure_text_width(text, _NAME, "bold") * POINTS) + 1
        for region in (free & (coarse == token), coarse == token):
            spot, room = _find_widest_point(region, limits)
            if room * (box[3] - box[1]) >= needed:
                _write_region_name(
                    axes, spot, text, make_readable_colour(pick_token_colour(text), theme), taken
                )
                break


def _flag_point_cells(
    shape: tuple[int, ...], limits: Float[np.ndarray, "2 2"], points: Float[np.ndarray, "point 2"] | None
) -> Bool[np.ndarray, "y x"]:
    """The cells of a grid that hold a point."""
    held = np.zeros(shape, bool)
    if points is not None:
        low, high = limits.T
        cells = np.floor((np.reshape(points, (-1, 2)) - low) / (high - low) * shape[::-1]).astype(int)
        inside = ((cells >= 0) & (cells < shape[::-1])).all(1)
        held[cells[inside, 1], cells[inside, 0]] = True
    return held


def _find_widest_point(
    region: Bool[np.ndarray, "y x"], limits: Float[np.ndarray, "2 2"]
) -> tuple[Float[np.ndarray, "1 2"], float]:
    """The point of a region that is farthest from its border, and how far that is in heights of the map."""
    depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(depth.argmax(), depth.shape)
    share = (np.array([column, row]) + 0.5) / region.shape[::-1]
    low, high = limits.T
    return (low + share * (high - low))[None], float(depth[row, column] / region.shape[0])


def _write_region_name(
    axes: Axes,
    spot: Float[np.ndarray, "1 2"],
    text: str,
    colour: str,
    taken: Taken | None,
) -> None:
    """A region's name, and its box among those that labels keep clear of."""
    x, y = to_points(axes, spot)[0]
    half = measure_text_width(text, _NAME, "bold") * POINTS / 2 + 1, _NAME * 0.6
    if taken is not None:
        taken.append((x - half[0], y - half[1], x + half[0], y + half[1]))
    axes.text(
        *spot[0],
        text,
        fontsize=_NAME,
        weight="bold",
        color=colour,
        ha="center",
        va="center_baseline",
        zorder=1.5,
    )


def draw_scalar_map(
    axes: Axes,
    values: Float[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    theme: Theme,
    largest: float | None = None,
    signed: bool = False,
) -> AxesImage:
    """A map of one number over the plane, from 0 upwards (or both ways from 0)."""
    top = float(np.abs(values).max() if largest is None else largest) or 1.0
    colours = make_signed_colours(theme) if signed else make_share_colours(theme)
    return axes.imshow(
        values, colours, vmin=-top if signed else 0, vmax=top, extent=tuple(limits.ravel()), origin="lower",
        aspect="auto", interpolation="bilinear", zorder=0,
    )  # fmt: skip
