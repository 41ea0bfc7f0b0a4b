"""Maps of a plane: which token wins where, and how large one number is at every point."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from scipy.ndimage import distance_transform_edt

from glassformer.draw.frame import POINTS, text_width
from glassformer.draw.labels import in_points
from glassformer.draw.marks import readable
from glassformer.draw.matrices import share_map, signed_map
from glassformer.draw.theme import Theme, mixed, token_colour


def regions(
    axes: Axes,
    winner: Int[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: list[tuple[float, float, float, float]] | None = None,
    label: bool = True,
) -> None:
    """Which token wins where: regions in the tokens' colours, with borders and names."""
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
    if label:
        name_regions(axes, winner, limits, tokens, theme, taken)


def name_regions(
    axes: Axes,
    winner: Int[np.ndarray, "y x"],
    limits: Float[np.ndarray, "2 2"],
    tokens: Sequence[str],
    theme: Theme,
    taken: list[tuple[float, float, float, float]] | None = None,
    size: float = 8.0,
) -> None:
    """Each token's name where its region is widest, if it has room there."""
    box = axes.get_position()
    high = box.height * axes.figure.get_size_inches()[1] * 72  # points
    for token in np.unique(winner):
        depth = distance_transform_edt(np.pad(winner == token, 1))[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        room = depth[row, column] * high / winner.shape[0]  # points from the border
        text = tokens[token]
        if room < 0.5 * max(size, text_width(text, size, "bold") * POINTS) + 1:
            continue
        x, y = (
            low + (index + 0.5) / count * (end - low)
            for (low, end), index, count in zip(limits, (column, row), winner.shape[::-1], strict=True)
        )
        spot = np.array([[x, y]])
        put_name(axes, spot, text, readable(token_colour(text), theme), size, taken)


def put_name(
    axes: Axes,
    spot: Float[np.ndarray, "1 2"],
    text: str,
    colour: str,
    size: float,
    taken: list[tuple[float, float, float, float]] | None,
) -> None:
    """A region's name, and its box among those that labels keep clear of."""
    x, y = in_points(axes, spot)[0]
    half = text_width(text, size, "bold") * POINTS / 2 + 1, size * 0.6
    if taken is not None:
        taken.append((x - half[0], y - half[1], x + half[0], y + half[1]))
    axes.text(
        *spot[0],
        text,
        fontsize=size,
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
