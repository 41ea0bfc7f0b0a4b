"""The score of one query over the plane of keys: an even slope, steepest along the query.

score(x) = gradient . x + offset at every point x of the drawn plane, so lines of equal score are straight.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.image import AxesImage

from glassformer.core.theme import Theme, mix_colours
from glassformer.pictures.parts.queries_keys_values import HeadSide, choose_round_step
from glassformer.pictures.parts.regions import draw_scalar_map

FLAT = 1e-12  # a gradient shorter than this has no direction


@dataclass(frozen=True, eq=False)
class ScoreSlope:
    """One query's score over the drawn plane."""

    gradient: Float[np.ndarray, "2"]
    offset: float  # at the plane's origin; not 0 where keys have dimensions that are not drawn

    def __call__(self, points: Float[np.ndarray, "*point 2"]) -> Float[np.ndarray, "*point"]:
        return np.asarray(points @ self.gradient + self.offset)

    @property
    def direction(self) -> Float[np.ndarray, "2"]:
        return self.gradient / max(float(np.linalg.norm(self.gradient)), FLAT)

    def ends(self, limits: Float[np.ndarray, "2 2"]) -> tuple[float, float]:
        """The lowest and the highest score in a rectangle."""
        corners = self(np.stack(np.meshgrid(*limits), -1))
        return float(corners.min()), float(corners.max())


def make_score_slope(query: Float[np.ndarray, " dim"], keys: HeadSide, scale: float) -> ScoreSlope:
    """Dimensions that are not drawn count as they are in the mean key."""
    directions, mean = keys.plane.directions, keys.vectors.mean((0, 1))
    beyond = mean - directions.T @ (directions @ mean)
    return ScoreSlope(directions @ query * scale, float(query @ beyond * scale))


def draw_score_slope(
    axes: Axes,
    slope: ScoreSlope,
    limits: Float[np.ndarray, "2 2"],
    theme: Theme,
    largest: float,
    step: float,
    grid: int,
) -> AxesImage:
    """The score as colour, and a line at every multiple of `step`."""
    x, y = (low + (np.arange(grid) + 0.5) / grid * (high - low) for low, high in limits)
    image = draw_scalar_map(axes, slope(np.stack(np.meshgrid(x, y), -1)), limits, theme, largest, signed=True)
    lines = make_iso_lines(slope, limits, list_score_levels(slope, limits, step))
    colour = mix_colours(theme.ink, theme.paper, 0.45)
    axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.4, zorder=0.5), autolim=False)
    return image


def list_score_levels(
    slope: ScoreSlope, limits: Float[np.ndarray, "2 2"], step: float
) -> Float[np.ndarray, " level"]:
    """The multiples of a step among the scores of a rectangle."""
    low, high = slope.ends(limits)
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step


def make_iso_lines(
    slope: ScoreSlope, limits: Float[np.ndarray, "2 2"], values: Float[np.ndarray, " level"]
) -> Float[np.ndarray, "level 2 2"]:
    """One line per score, from border to border and beyond."""
    steep = float(slope.gradient @ slope.gradient)
    if steep < FLAT**2:
        return np.empty((0, 2, 2))
    feet = (values - slope.offset)[:, None] / steep * slope.gradient
    along = np.array([-slope.direction[1], slope.direction[0]])
    reach = 2 * float(np.abs(limits).max() + np.abs(feet).max(initial=0.0))
    return np.stack([feet - reach * along, feet + reach * along], 1)


def choose_level_step(slopes: list[ScoreSlope], limits: Float[np.ndarray, "2 2"], parts: int) -> float:
    """One step for slopes that are compared: the steepest has about `parts` lines."""
    return choose_round_step(max(high - low for low, high in (slope.ends(limits) for slope in slopes)), parts)
