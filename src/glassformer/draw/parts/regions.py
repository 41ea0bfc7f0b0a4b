"""Maps of a plane: which token wins where, and how large one number is at every point."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from scipy.ndimage import distance_transform_edt

from glassformer.draw.parts.frame import POINTS, text_width
from glassformer.draw.parts.labels import Taken, axes_box, in_points
from glassformer.draw.parts.marks import readable
from glassformer.draw.parts.matrices import share_map, signed_map
from glassformer.draw.theme import Theme, mixed, token_colour

NAME = 8.0  # points: the name of a region
COARSE = 2  # every how many-th point of a map is looked at to find room for a name


def regions(
    axes: Axes,
    winner: Int[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: Taken | None = None,
    avoid: Float[np.ndarray, "point 2"] | None = None,
) -> None:
    """Which token wins where: regions in the tokens' colours, with borders and names.

    Names keep clear of `avoid`, the points that will be drawn, where a region leaves room for that.
    """
    colours = np.array([to_rgb(mixed(token_colour(token), theme.paper, theme.tint)) for token in tokens])
    picture = colours[winner]
    border = np.zeros(winner.shape, bool)
    border[:, 1:] |= winner[:, 1:] != winner[:, :-1]
    border[1:] |= winner[1:] != winner[:-1]
    picture[border] = to_rgb(mixed(theme.ink, theme.paper, 0.55))
    axes.imshow(
        picture,
        extent=tuple(limits.ravel()),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )
    name_regions(axes, winner, limits, tokens, theme, taken, avoid)


def name_regions(
    axes: Axes,
    winner: Int[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: Taken | None = None,
    avoid: Float[np.ndarray, "point 2"] | None = None,
) -> None:
    """Each token's name where its region is widest, if it has room there."""
    coarse = winner[::COARSE, ::COARSE]
    free = ~near_points(coarse.shape, limits, avoid)
    box = axes_box(axes)
    for token in np.unique(coarse):
        text = tokens[token]
        needed = 0.5 * max(NAME, text_width(text, NAME, "bold") * POINTS) + 1
        for region in (free & (coarse == token), coarse == token):
            spot, room = widest(region, limits)
            if room * (box[3] - box[1]) >= needed:
                put_name(axes, spot, text, readable(token_colour(text), theme), taken)
                break


def near_points(
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


def widest(
    region: Bool[np.ndarray, "y x"], limits: Float[np.ndarray, "2 2"]
) -> tuple[Float[np.ndarray, "1 2"], float]:
    """The point of a region that is farthest from its border, and how far that is in heights of the map."""
    depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(depth.argmax(), depth.shape)
    share = (np.array([column, row]) + 0.5) / region.shape[::-1]
    low, high = limits.T
    return (low + share * (high - low))[None], float(depth[row, column] / region.shape[0])


def put_name(
    axes: Axes,
    spot: Float[np.ndarray, "1 2"],
    text: str,
    colour: str,
    taken: Taken | None,
) -> None:
    """A region's name, and its box among those that labels keep clear of."""
    x, y = in_points(axes, spot)[0]
    half = text_width(text, NAME, "bold") * POINTS / 2 + 1, NAME * 0.6
    if taken is not None:
        taken.append((x - half[0], y - half[1], x + half[0], y + half[1]))
    axes.text(
        *spot[0],
        text,
        fontsize=NAME,
        weight="bold",
        color=colour,
        ha="center",
        va="center_baseline",
        zorder=1.5,
    )


def heat(
    axes: Axes,
    values: Float[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    theme: Theme,
    largest: float | None = None,
    signed: bool = False,
) -> AxesImage:
    """A map of one number over the plane, from 0 upwards (or both ways from 0)."""
    top = float(np.abs(values).max() if largest is None else largest) or 1.0
    colours = signed_map(theme) if signed else share_map(theme)
    return axes.imshow(
        values, colours, vmin=-top if signed else 0, vmax=top, extent=tuple(limits.ravel()), origin="lower",
        aspect="auto", interpolation="bilinear", zorder=0,
    )  # fmt: skip
