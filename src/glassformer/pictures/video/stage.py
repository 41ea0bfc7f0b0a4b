"""The page of a video: title, step and scores stay where they are, and only what moves is drawn anew.

A mover draws its part of frame i on top of what is there; movers are called in the order of the list.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from jaxtyping import Int, UInt8
from matplotlib import rc_context
from matplotlib.axes import Axes

from glassformer.core.theme import Theme
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.parts.frame import (
    BODY,
    MARGIN,
    PAGE,
    SMALL,
    TITLE,
    Frame,
    make_sheet,
    make_theme_settings,
    measure_text_height,
)
from glassformer.pictures.parts.marks import draw_zero_lines, show_plane
from glassformer.pictures.picture import Data, read_part
from glassformer.pictures.video.checkpoints import VideoScores
from glassformer.pictures.video.strip import STRIP, make_score_strip

WIDE = PAGE - 2 * MARGIN  # cm
_STEP = 2.8  # cm at the top right, for the step
ABOVE, LEFT, BELOW = 0.5, 1.0, 0.85  # cm around a panel: its title, and the names of its axes

Mover = Callable[[int], None]  # draws its part of a frame


@dataclass(frozen=True, eq=False)
class Stage:
    """A figure whose static parts are drawn once, and the movers of the rest."""

    body: Frame  # for the panels
    count: int  # frames
    movers: list[Mover] = field(default_factory=list)

    @property
    def pixels(self) -> UInt8[np.ndarray, "y x 4"]:
        """The canvas itself: what is written here is seen."""
        return np.asarray(self.body.figure.canvas.buffer_rgba())

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        wide, high = self.body.figure.canvas.get_width_height(physical=True)
        return int(wide), int(high)

    def frames(self) -> Iterator[UInt8[np.ndarray, "y x 4"]]:
        """One after the other, all in the same memory."""
        with rc_context(make_theme_settings(self.body.theme)):
            self.body.figure.canvas.draw()
        pixels = self.pixels
        background = pixels.copy()
        for index in range(self.count):
            pixels[...] = background
            for move in self.movers:
                move(index)
            yield pixels


def set_stage(data: Data, theme: Theme, width: int, body: float) -> Stage:
    """A page of `width` pixels with room of `body` cm for panels, and all that every video has."""
    scores = read_part(data, VideoScores)
    heading = measure_text_height(data["title"], TITLE, WIDE - _STEP, "bold")
    words = measure_text_height(data["about"], SMALL, WIDE)
    paper = _make_video_canvas(theme, width, heading + 0.08 + words + 0.15 + body + STRIP)
    paper.write(0, 0, data["title"], TITLE, WIDE - _STEP, weight="bold")
    paper.write(0, heading + 0.08, data["about"], SMALL, WIDE, color=theme.muted)
    stage = Stage(paper.part(0, heading + 0.08 + words + 0.15, WIDE, body), len(scores.steps))
    stage.movers.append(_make_step_counter(paper, scores.steps))
    stage.movers.append(make_score_strip(paper.part(0, paper.height - STRIP, WIDE, STRIP), scores))
    return stage


def _make_video_canvas(theme: Theme, width: int, height: float) -> Frame:
    """A sheet of exactly `width` pixels and an even number of rows, with everything on it to scale."""
    paper = make_sheet(theme, height)
    resolution = width / (PAGE / 2.54)  # pixels per inch
    rows = 2 * round(paper.figure.get_size_inches()[1] * resolution / 2)
    paper.figure.set_dpi(resolution)
    paper.figure.set_size_inches((width + 0.01) / resolution, (rows + 0.01) / resolution)
    return paper


def _make_step_counter(paper: Frame, steps: Int[np.ndarray, " frame"]) -> Mover:
    """`step 4,200`, at the top right."""
    across, down = paper.figure.get_size_inches() * 2.54
    place = (paper.left + paper.width) / across, 1 - paper.top / down
    text = paper.figure.text(
        *place, "", fontsize=TITLE + 1, weight="bold", color=paper.theme.accent, ha="right", va="top",
        animated=True,
    )  # fmt: skip

    def move(index: int) -> None:
        text.set_text(f"step {int(steps[index]):,}")
        paper.figure.draw_artist(text)

    return move


def add_panel(
    body: Frame, x: float, y: float, side: float, plane: Plane, limits: np.ndarray, title: str
) -> Axes:
    """Square axes of a plane, with the names of the axes outside."""
    axes = body.axes(x, y, side, side)
    show_plane(axes, plane, limits)
    axes.set_title(title, fontsize=BODY)
    draw_zero_lines(axes, body.theme)
    return axes


def add_map_panel(
    body: Frame, x: float, y: float, side: float, plane: Plane, limits: np.ndarray, title: str
) -> Axes:
    """The same for a map, which is pasted over the whole box."""
    axes = body.axes(x, y, side, side)
    show_plane(axes, plane, limits)
    axes.set_title(title, fontsize=BODY)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def compute_column_side() -> float:
    """Of three square panels side by side, each with the names of its axes."""
    return WIDE / 3 - LEFT


def compute_column_left(column: int, side: float) -> float:
    return LEFT + column * (side + LEFT)


def name_axis_once(panels: Sequence[Axes]) -> None:
    """Panels in a row whose y axes are the same: the first one has the name."""
    for before, axes in reversed(list(pairwise(panels))):
        if axes.get_ylabel() == before.get_ylabel():
            axes.set_ylabel("")
