"""A computation graph: stages that hang from one line, the stream, each a column of boxes joined by wires.

A branch leaves the stream at a dot, runs down through the boxes of its stage, and comes back up to it: where
there is a skip, a plus adds it to the line that ran on above the boxes. Here: what is where, in centimetres.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from glassformer.pictures.parts.frame import BODY, LINE, POINTS, SMALL, measure_text_width

LINE_HEIGHT = SMALL * LINE / POINTS  # cm
PAD, GAP, BETWEEN = 0.12, 0.7, 0.16  # cm: inside a box, between rows (a wire and its label), between boxes
EDGE, _CHANNEL, APART = 0.2, 0.46, 0.2  # cm: of a stage's panel, for the wire back up, between panels
HEADING, BRANCH = 1.5, 0.95  # cm: from a panel's top to the stream, and from there to the first row
BAND, LANE = 0.75, 0.3  # cm between two bands of stages, and beside them for the wire that joins them
ROOMIER = 0.9  # cm that a column may be wider than its texts, where the page has room


@dataclass(frozen=True)
class OperationBox:
    """One operation, in a row of its stage and over some of its columns."""

    key: str
    title: str
    lines: tuple[str, ...] = ()
    count: int = 0  # parameters
    row: int = 0
    columns: tuple[int, int] = (0, 1)  # from, to
    count_text: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.lines, self.count_text) if self.count_text else self.lines

    @property
    def width(self) -> float:
        lines = [measure_text_width(line, SMALL) for line in self.lines]
        count = measure_text_width(self.count_text, SMALL, "bold")
        return max(measure_text_width(self.title, BODY, "bold"), count, *lines) + 2 * PAD

    @property
    def height(self) -> float:
        return BODY * LINE / POINTS + len(self.texts) * LINE_HEIGHT + 2 * PAD - 0.04


@dataclass(frozen=True)
class Wire:
    """From a box to another; without a start it comes from the stream, without an end it goes back there."""

    start: str
    end: str
    shape: str = ""


@dataclass(frozen=True)
class GraphStage:
    """A column of boxes under the stream; the first has no stream before it, the last none after it."""

    title: str
    about: str
    boxes: tuple[OperationBox, ...]
    wires: tuple[Wire, ...]
    skip: bool | None = None  # none: there is no stream yet, or it ends here
    given: str = ""  # the stream before it, by name and shape
    result: bool = True  # whether it gives the stream back

    @property
    def count(self) -> int:
        return sum(box.count for box in self.boxes)

    @property
    def columns(self) -> int:
        return max(box.columns[1] for box in self.boxes)

    @property
    def column(self) -> float:
        """Width in cm of one of its columns: every box and every label on a wire fits."""
        needed = [1.0]
        for box in self.boxes:
            span = box.columns[1] - box.columns[0]
            labels = [measure_text_width(wire.shape, SMALL) for wire in self.wires if wire.start == box.key]
            needed.append((max(box.width, *labels, 0.0) - BETWEEN * (span - 1)) / span)
        about = [measure_text_width(line, SMALL) for line in self.about.split("\n")]
        heading = max(measure_text_width(self.title, BODY, "bold"), *about)
        needed.append((heading - self.channel - BETWEEN * (self.columns - 1)) / self.columns)
        return max(needed)

    @property
    def channel(self) -> float:
        return _CHANNEL if self.result else 0.0

    def width(self, extra: float) -> float:
        inside = self.columns * (self.column + extra) + (self.columns - 1) * BETWEEN
        return inside + 2 * EDGE + self.channel

    def row_tops(self) -> list[float]:
        """Top of each row in cm below the stream, and at last the bottom."""
        heights = [
            max(box.height for box in self.boxes if box.row == row)
            for row in range(1 + max(box.row for box in self.boxes))
        ]
        tops = [BRANCH if self.skip is not None or not self.result else 0.35]
        for height in heights:
            tops.append(tops[-1] + height + GAP)
        return tops

    @property
    def depth(self) -> float:
        return HEADING + self.row_tops()[-1] - GAP + (0.62 if self.result else EDGE)


def arrange_bands(stages: Sequence[GraphStage], width: float) -> list[list[GraphStage]]:
    """The stages in their order, in as few lines as fit the page; several lines are about equally long."""
    found = _fill_bands(stages, width)
    room = width - 2 * LANE
    while len(found) > 1 and len(narrower := _fill_bands(stages, room)) <= len(found) and room > 1:
        found, room = narrower, room - 0.1
    return found


def _fill_bands(stages: Sequence[GraphStage], width: float) -> list[list[GraphStage]]:
    """Each line takes what it can."""
    found: list[list[GraphStage]] = [[]]
    for stage in stages:
        used = sum(other.width(0.0) + APART for other in found[-1])
        if found[-1] and used + stage.width(0.0) > width:
            found.append([])
        found[-1].append(stage)
    return found


def measure_graph_height(stages: Sequence[GraphStage], width: float) -> float:
    lines = arrange_bands(stages, width)
    return sum(max(stage.depth for stage in line) for line in lines) + BAND * (len(lines) - 1)
