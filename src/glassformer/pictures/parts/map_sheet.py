"""A landscape as a sheet of maps: large ones of the winners, small ones of the entropy and of each token.

Seven tokens that are ever predicted make eight small maps: with one large map, four columns and three rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.pictures.measure.landings import Landings, TokenMaps
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.parts.frame import (
    MARGIN,
    PAGE,
    SMALL,
    Frame,
    make_sheet,
    measure_foot_height,
    write_foot,
)
from glassformer.pictures.parts.marks import show_plane
from glassformer.pictures.parts.matrices import draw_scale_bar
from glassformer.pictures.parts.regions import draw_scalar_map

_LEFT, _GAP, _ABOVE, _TICKS = (
    0.95,
    0.3,
    0.62,
    0.45,
)  # cm: beside the first map, between, over, under the large ones
_WIDE = PAGE - 2 * MARGIN
_HIGHEST = 19.0  # cm of maps on a page
_BARS = 1.2  # cm for the two colour scales

_Overlay = Callable[[Axes, int], None]  # draws on the large map of that number, or on the map of that token


@dataclass(frozen=True, eq=False)
class MapSheet:
    """What a sheet of maps is drawn of."""

    land: Landings
    maps: TokenMaps
    plane: Plane
    remark: str  # at the foot


@dataclass(frozen=True)
class _MapGrid:
    """Square cells; each large map takes two by two of them, from the top left on."""

    columns: int
    large: int
    small: int

    @property
    def side(self) -> float:
        """Of a small map, in cm."""
        return (_WIDE - _LEFT - _GAP * (self.columns - 1)) / self.columns

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
        return self.rows * (self.side + _ABOVE) + _TICKS

    def corner(self, column: int, row: int) -> tuple[float, float]:
        """Left and top of a cell's box."""
        lower = _TICKS if row >= 2 else 0.0
        return _LEFT + column * (self.side + _GAP), _ABOVE + row * (self.side + _ABOVE) + lower

    def cells(self) -> Iterator[tuple[int, int]]:
        """Column and row of the free cells, those beside the large maps first."""
        for row in range(self.rows):
            for column in range(2 * self.large if row < 2 else 0, self.columns):
                yield column, row


def choose_map_grid(large: int, small: int) -> _MapGrid:
    """The largest maps that fit on a page, with few cells left empty."""
    grids = [_MapGrid(columns, large, small) for columns in range(max(3, 2 * large), 9)]
    fitting = [grid for grid in grids if grid.height <= _HIGHEST] or grids[-1:]
    return min(fitting, key=lambda grid: grid.columns + 0.25 * grid.empty + 0.1 * grid.height)


def draw_atlas(
    sheet: MapSheet, theme: Theme, title: str, large: list[str], on_large: _Overlay, on_small: _Overlay
) -> Figure:
    """The sheet with its large maps, the small ones and their scales."""
    grid = choose_map_grid(len(large), len(sheet.maps.maps) + 1)
    paper = make_sheet(theme, grid.height + _BARS + measure_foot_height(sheet.remark), title)
    for index, name in enumerate(large):
        axes = paper.axes(*grid.corner(2 * index, 0), *[2 * grid.side + _GAP] * 2)
        show_plane(axes, sheet.plane, sheet.maps.limits, name)
        if index:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        on_large(axes, index)
    images = _draw_small_maps(paper, grid, sheet, on_small)
    _draw_map_scales(paper, grid.height + 0.3, sheet, *images)
    write_foot(paper, sheet.remark)
    return paper.figure


def _draw_small_maps(
    paper: Frame, grid: _MapGrid, sheet: MapSheet, overlay: _Overlay
) -> tuple[AxesImage, AxesImage]:
    """Entropy, and the probability of each token that is ever predicted, on the large map's limits."""
    maps, tokens, cells = sheet.maps, sheet.land.tokens, grid.cells()
    largest = float(np.log(len(tokens)))
    axes = _make_small_axes(paper, grid, next(cells), maps.limits, "entropy")
    entropy = draw_scalar_map(axes, maps.entropy, maps.limits, paper.theme, largest)
    share, top = entropy, choose_probability_limit(maps.probability)
    for token, probability in zip(maps.maps, maps.probability, strict=True):
        axes = _make_small_axes(paper, grid, next(cells), maps.limits, f"P({tokens[token]})")
        share = draw_scalar_map(axes, probability, maps.limits, paper.theme, top)
        overlay(axes, int(token))
    return share, entropy


def choose_probability_limit(probability: Float[np.ndarray, "*point"]) -> float:
    """The end of the scale of all probability maps: 1, or less where a rule allows so many tokens."""
    return next(top for top in (0.1, 0.2, 0.5, 1.0) if probability.max(initial=0.0) <= top or top == 1.0)


def _make_small_axes(
    paper: Frame, grid: _MapGrid, cell: tuple[int, int], limits: Float[np.ndarray, "2 2"], name: str
) -> Axes:
    axes = paper.axes(*grid.corner(*cell), grid.side, grid.side)
    axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[], title=name)
    return axes


def _draw_map_scales(paper: Frame, top: float, sheet: MapSheet, share: AxesImage, entropy: AxesImage) -> None:
    """Both colour scales, side by side."""
    bars = (
        (share, f"probability, one scale in all {len(sheet.maps.maps)} maps"),
        (entropy, f"entropy in nats, up to {len(sheet.land.tokens)} equal chances"),
    )
    for column, (image, label) in enumerate(bars):
        axes = paper.axes(_LEFT + column * 7.6, top, 2.2, 0.2)
        draw_scale_bar(axes, image, paper.theme, ticks=[0, image.get_clim()[1]])
        axes.set_xticks([0, image.get_clim()[1]], ["0", f"{image.get_clim()[1]:.3g}"])
        paper.write(_LEFT + column * 7.6 + 2.5, top - 0.06, label, SMALL, color=paper.theme.muted)


def draw_landings(
    axes: Axes,
    points: Float[np.ndarray, "point 2"],
    predicted: Int[np.ndarray, " point"],
    tokens: Sequence[str],
    theme: Theme,
    size: float = 8.0,
    level: float = 3.0,
) -> None:
    """Points in the colours of the tokens that the model really predicts there."""
    colours = np.array([pick_token_colour(token) for token in tokens])[predicted]
    axes.scatter(*points.T, s=size, c=colours, linewidths=0.35, edgecolors=theme.paper, zorder=level)


def draw_token_landings(axes: Axes, token: int, land: Landings, theme: Theme) -> None:
    """On one token's map: the points where it is predicted; the others small and muted."""
    points, predicted = land.points, land.predicted
    axes.scatter(*points[predicted != token].T, s=1.2, color=theme.muted, alpha=0.5, linewidths=0, zorder=2)
    draw_landings(axes, points[predicted == token], predicted[predicted == token], land.tokens, theme, 6.0)
