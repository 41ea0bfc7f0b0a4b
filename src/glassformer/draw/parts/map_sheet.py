"""A landscape as a sheet of maps: large ones of the winners, small ones of the entropy and of each token.

Seven tokens that are ever predicted make eight small maps: with one large map, four columns and three rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.draw.parts.frame import MARGIN, PAGE, SMALL, Frame, foot_height, sheet, write_foot
from glassformer.draw.parts.marks import show_plane
from glassformer.draw.parts.matrices import scale_bar
from glassformer.draw.parts.regions import heat
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, token_colour

LEFT, GAP, ABOVE, TICKS = (
    0.95,
    0.3,
    0.62,
    0.45,
)  # cm: beside the first map, between, over, under the large ones
WIDE = PAGE - 2 * MARGIN
HIGHEST = 19.0  # cm of maps on a page
BARS = 1.2  # cm for the two colour scales

Overlay = Callable[[Axes, int], None]  # draws on the large map of that number, or on the map of that token


@dataclass(frozen=True)
class Grid:
    """Square cells; each large map takes two by two of them, from the top left on."""

    columns: int
    large: int
    small: int

    @property
    def side(self) -> float:
        """Of a small map, in cm."""
        return (WIDE - LEFT - GAP * (self.columns - 1)) / self.columns

    @property
    def rows(self) -> int:
        beside = 2 * (self.columns - 2 * self.large)
        return 2 + ceil(max(0, self.small - beside) / self.columns)

    @property
    def empty(self) -> int:
        return self.rows * self.columns - 4 * self.large - self.small

    @property
    def height(self) -> float:
        """In cm, with the names of the axes under the large maps."""
        return self.rows * (self.side + ABOVE) + TICKS

    def corner(self, column: int, row: int) -> tuple[float, float]:
        """Left and top of a cell's box."""
        lower = TICKS if row >= 2 else 0.0
        return LEFT + column * (self.side + GAP), ABOVE + row * (self.side + ABOVE) + lower

    def cells(self) -> Iterator[tuple[int, int]]:
        """Column and row of the free cells, those beside the large maps first."""
        for row in range(self.rows):
            for column in range(2 * self.large if row < 2 else 0, self.columns):
                yield column, row


def best_grid(large: int, small: int) -> Grid:
    """The largest maps that fit on a page, with few cells left empty."""
    grids = [Grid(columns, large, small) for columns in range(max(3, 2 * large), 9)]
    fitting = [grid for grid in grids if grid.height <= HIGHEST] or grids[-1:]
    return min(fitting, key=lambda grid: grid.columns + 0.25 * grid.empty + 0.1 * grid.height)


def draw_atlas(
    data: Data, theme: Theme, title: str, large: list[str], on_large: Overlay, on_small: Overlay
) -> Figure:
    """The sheet of what `landings` and `mapped` have found, with its plane, and its remark at the foot."""
    grid = best_grid(len(large), len(data["maps"]) + 1)
    paper = sheet(theme, grid.height + BARS + foot_height(data["remark"]), title)
    for index, name in enumerate(large):
        axes = paper.axes(*grid.corner(2 * index, 0), *[2 * grid.side + GAP] * 2)
        show_plane(axes, data["plane"], data["limits"], name)
        if index:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        on_large(axes, index)
    images = draw_small(paper, grid, data, on_small)
    draw_bars(paper, grid.height + 0.3, data, *images)
    write_foot(paper, data["remark"])
    return paper.figure


def draw_small(paper: Frame, grid: Grid, data: Data, overlay: Overlay) -> tuple[AxesImage, AxesImage]:
    """Entropy, and the probability of each token that is ever predicted, on the large map's limits."""
    limits, cells = data["limits"], grid.cells()
    largest = float(np.log(len(data["tokens"])))
    axes = small_axes(paper, grid, next(cells), limits, "entropy")
    entropy = heat(axes, data["entropy"], limits, paper.theme, largest)
    share, top = entropy, top_of(data["probability"])
    for token, probability in zip(data["maps"], data["probability"], strict=True):
        axes = small_axes(paper, grid, next(cells), limits, f"P({data['tokens'][token]})")
        share = heat(axes, probability, limits, paper.theme, top)
        overlay(axes, int(token))
    return share, entropy


def top_of(probability: Float[np.ndarray, "*point"]) -> float:
    """The end of the scale of all probability maps: 1, or less where a rule allows so many tokens."""
    return next(top for top in (0.1, 0.2, 0.5, 1.0) if probability.max(initial=0.0) <= top or top == 1.0)


def small_axes(
    paper: Frame, grid: Grid, cell: tuple[int, int], limits: Float[np.ndarray, "2 2"], name: str
) -> Axes:
    axes = paper.axes(*grid.corner(*cell), grid.side, grid.side)
    axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[], title=name)
    return axes


def draw_bars(paper: Frame, top: float, data: Data, share: AxesImage, entropy: AxesImage) -> None:
    """Both colour scales, side by side."""
    bars = (
        (share, f"probability, one scale in all {len(data['maps'])} maps"),
        (entropy, f"entropy in nats, up to {len(data['tokens'])} equal chances"),
    )
    for column, (image, label) in enumerate(bars):
        axes = paper.axes(LEFT + column * 7.6, top, 2.2, 0.2)
        scale_bar(axes, image, paper.theme, ticks=[0, image.get_clim()[1]])
        axes.set_xticks([0, image.get_clim()[1]], ["0", f"{image.get_clim()[1]:.3g}"])
        paper.write(LEFT + column * 7.6 + 2.5, top - 0.06, label, SMALL, color=paper.theme.muted)


def landed(
    axes: Axes,
    points: Float[np.ndarray, "point 2"],
    predicted: Int[np.ndarray, " point"],
    data: Data,
    theme: Theme,
    size: float = 8.0,
    level: float = 3.0,
) -> None:
    """Points in the colours of the tokens that the model really predicts there."""
    colours = np.array([token_colour(token) for token in data["tokens"]])[predicted]
    axes.scatter(*points.T, s=size, c=colours, linewidths=0.35, edgecolors=theme.paper, zorder=level)


def landed_on(axes: Axes, token: int, data: Data, theme: Theme) -> None:
    """On one token's map: the points where it is predicted; the others small and grey."""
    points, predicted = data["points"], data["predicted"]
    axes.scatter(*points[predicted != token].T, s=1.2, color=theme.muted, alpha=0.5, linewidths=0, zorder=2)
    landed(axes, points[predicted == token], predicted[predicted == token], data, theme, 6.0)
