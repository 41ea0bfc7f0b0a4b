"""Drawing a computation graph: its stages at their places, boxes, wires, and the stream above them."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from glassformer.core.theme import Theme, mix_colours, pick_text_colour
from glassformer.pictures.graph.layout import (
    APART,
    BAND,
    BETWEEN,
    BRANCH,
    EDGE,
    GAP,
    HEADING,
    LANE,
    LINE_HEIGHT,
    PAD,
    ROOMIER,
    GraphStage,
    OperationBox,
    arrange_bands,
)
from glassformer.pictures.parts.frame import BODY, LINE, POINTS, SMALL, Frame

_Point = tuple[float, float]


def draw_graph(paper: Frame, stages: Sequence[GraphStage]) -> None:
    """The whole graph over the frame, as wide as it; call it on a frame of measure_graph_height."""
    axes = paper.axes(0, 0, paper.width, paper.height)
    axes.set(xlim=(0, paper.width), ylim=(paper.height, 0))
    axes.axis("off")
    pen = _GraphPen(axes, paper.theme, max(max(box.count for stage in stages for box in stage.boxes), 1))
    lines = arrange_bands(stages, paper.width)
    lane, top = LANE * (len(lines) > 1), 0.0
    end: _Point | None = None
    for line in lines:
        depth = max(stage.depth for stage in line)
        if end:
            end = pen.turn(end, top - BAND / 2, top + HEADING, paper.width)
        end = _draw_stage_band(pen, line, (lane, paper.width - lane), top, depth, end)
        top += depth + BAND


def _draw_stage_band(
    pen: "_GraphPen", line: list[GraphStage], sides: _Point, top: float, depth: float, end: _Point | None
) -> _Point | None:
    """Stages side by side, the stream coming from `end`; returns where it leaves the last of them."""
    left, right = sides
    free = right - left - sum(stage.width(0.0) for stage in line) - APART * (len(line) - 1)
    extra = min(ROOMIER, max(free, 0.0) / sum(stage.columns for stage in line))
    for stage in line:
        pen.panel(left, top, stage.width(extra), depth, stage)
        end = _PlacedStage(pen, stage, left, top, extra).draw(end)
        left += stage.width(extra) + APART
    return end


@dataclass(frozen=True)
class _PlacedStage:
    """A stage at its place on the page."""

    pen: "_GraphPen"
    stage: GraphStage
    left: float
    top: float
    extra: float

    @property
    def stream(self) -> float:
        return self.top + HEADING

    @property
    def right(self) -> float:
        """The wire back up."""
        return self.left + self.stage.width(self.extra) - EDGE - 0.1

    def span(self, columns: _Point | tuple[int, int]) -> _Point:
        step = self.stage.column + self.extra + BETWEEN
        first, stop = columns
        return self.left + EDGE + first * step, self.left + EDGE + stop * step - BETWEEN

    def centre(self, box: OperationBox) -> float:
        return sum(self.span(box.columns)) / 2

    def edges(self, box: OperationBox) -> _Point:
        """Top and bottom."""
        top = self.stream + self.stage.row_tops()[box.row]
        return top, top + box.height

    def draw(self, before: _Point | None) -> _Point | None:
        """Boxes, wires, and the stream above them; returns where the stream goes on."""
        for box in self.stage.boxes:
            (left, right), (top, bottom) = self.span(box.columns), self.edges(box)
            self.pen.box(box, left, top, right - left, bottom - top)
        boxes = {box.key: box for box in self.stage.boxes}
        inside = [wire for wire in self.stage.wires if wire.start and wire.end]
        for wire in inside:
            self.join(boxes[wire.start], boxes[wire.end], wire.shape)
        if before:
            self.branch([boxes[wire.end] for wire in self.stage.wires if not wire.start], before)
        ends = [wire for wire in self.stage.wires if not wire.end]
        return self.back(boxes[ends[0].start], ends[0].shape) if ends else None

    def join(self, start: OperationBox, end: OperationBox, shape: str) -> None:
        """Straight down, where the narrower box is."""
        narrow = min(start, end, key=lambda box: box.columns[1] - box.columns[0])
        x, (y0, y1) = self.centre(narrow), (self.edges(start)[1], self.edges(end)[0])
        self.pen.wire([(x, y0), (x, y1)])
        self.pen.label(x, y1 - GAP / 2 - 0.05, shape)

    def branch(self, targets: list[OperationBox], before: _Point) -> None:
        """From the stream down to the first boxes, and along the stream to the plus."""
        pen, x = self.pen, sum(self.span((0, self.stage.columns))) / 2
        pen.stream([before, (x, self.stream)])
        pen.name(before[0] + 0.2, self.stream - 0.21, self.stage.given)
        fork = self.stream + BRANCH - 0.42
        for target in targets:
            path = [(x, self.stream), (x, fork), (self.centre(target), fork)]
            pen.wire(
                [*(path if len(targets) > 1 else path[:1]), (self.centre(target), self.edges(target)[0])]
            )
        if self.stage.skip is None:
            return
        if self.stage.skip:
            pen.dot(x, self.stream)
            pen.stream([(x, self.stream), (self.right, self.stream)])
        pen.label((x + self.right) / 2, self.stream - 0.21, "skip" if self.stage.skip else "no skip")

    def back(self, box: OperationBox, shape: str) -> _Point:
        """From the last box up to the stream."""
        pen, (x, bottom) = self.pen, (self.centre(box), self.edges(box)[1])
        below, reach = bottom + 0.38, 0.13 if self.stage.skip else 0.0
        path = [(x, bottom), (x, below), (self.right, below), (self.right, self.stream + reach)]
        pen.wire(path, head=bool(self.stage.skip))
        pen.label((x + self.right) / 2, below, shape)
        if self.stage.skip:
            pen.plus(self.right, self.stream)
        return self.right, self.stream


@dataclass(frozen=True)
class _GraphPen:
    """Draws on axes whose unit is a centimetre, y downwards."""

    axes: Axes
    theme: Theme
    most: int  # parameters of the largest box

    def panel(self, x: float, y: float, width: float, height: float, stage: GraphStage) -> None:
        self.rounded(x, y, width, height, self.theme.zero, self.theme.zero, 0)
        text = {"va": "top", "zorder": 6}
        self.axes.text(x + EDGE, y + 0.15, stage.title, fontsize=BODY, weight="bold", **text)
        self.axes.text(x + EDGE, y + 0.52, stage.about, fontsize=SMALL, color=self.theme.muted, **text)

    def box(self, box: OperationBox, x: float, y: float, width: float, height: float) -> None:
        theme = self.theme
        fill = (
            mix_colours(theme.high, theme.paper, 0.08 + 0.5 * box.count / self.most)
            if box.count
            else theme.paper
        )
        self.rounded(x, y, width, height, fill, theme.high if box.count else theme.muted, 2)
        ink = pick_text_colour(fill)
        look = {"ha": "center", "va": "center_baseline", "color": ink, "zorder": 6}
        line = y + PAD + BODY * LINE / POINTS / 2
        self.axes.text(x + width / 2, line, box.title, fontsize=BODY, weight="bold", **look)
        for index, text in enumerate(box.texts):
            below = line + (index + 1) * LINE_HEIGHT + 0.02
            weight = "bold" if text == box.count_text else "normal"
            self.axes.text(x + width / 2, below, text, fontsize=SMALL, weight=weight, **look)

    def rounded(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str, order: float
    ) -> None:
        shape = "round,pad=0,rounding_size=0.1"
        patch = FancyBboxPatch((x, y), width, height, boxstyle=shape, facecolor=fill, edgecolor=edge)
        patch.set(linewidth=0.7 if order else 0.0, zorder=order)
        self.axes.add_patch(patch)

    def wire(self, path: Sequence[_Point], head: bool = True) -> None:
        ink = self.theme.muted
        self.axes.plot(*zip(*path, strict=True), color=ink, linewidth=0.8, zorder=3, solid_joinstyle="miter")
        if head:
            (x0, y0), (x1, y1) = path[-2:]
            right, down = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
            marker = {(1, 0): ">", (-1, 0): "<", (0, 1): "v", (0, -1): "^"}[right, down]
            tip = x1 - 0.06 * right, y1 - 0.06 * down
            self.axes.plot(*tip, marker=marker, markersize=3.4, color=ink, markeredgewidth=0, zorder=4)

    def stream(self, path: Sequence[_Point]) -> None:
        look = {"linewidth": 2.0, "solid_capstyle": "butt", "solid_joinstyle": "miter", "zorder": 2.5}
        self.axes.plot(*zip(*path, strict=True), color=self.theme.accent, **look)

    def dot(self, x: float, y: float) -> None:
        self.axes.plot(x, y, "o", markersize=4.2, color=self.theme.accent, markeredgewidth=0, zorder=4)

    def plus(self, x: float, y: float) -> None:
        look = {"markerfacecolor": self.theme.paper, "markeredgecolor": self.theme.accent, "zorder": 4}
        self.axes.plot(x, y, "o", markersize=8.4, markeredgewidth=1.2, **look)
        self.axes.plot(x, y, "+", markersize=5.0, markeredgewidth=1.0, color=self.theme.ink, zorder=5)

    def label(self, x: float, y: float, text: str) -> None:
        if text:
            look = {"ha": "center", "va": "center_baseline", "fontsize": SMALL, "color": self.theme.muted}
            behind = {"facecolor": self.theme.zero, "edgecolor": "none", "pad": 0.4}
            self.axes.text(x, y, text, zorder=6, bbox=behind, **look)

    def name(self, x: float, y: float, text: str) -> None:
        """What the stream is called, and its shape."""
        look = {"va": "center_baseline", "fontsize": SMALL, "weight": "bold", "color": self.theme.accent}
        self.axes.text(x, y, text, zorder=6, **look)

    def turn(self, source: _Point, between: float, stream: float, width: float) -> _Point:
        """The stream's way from the end of one band to the beginning of the next."""
        left, right = 0.08, width - 0.08
        path = [source, (right, source[1]), (right, between), (left, between), (left, stream), (LANE, stream)]
        self.stream(path)
        return path[-1]
