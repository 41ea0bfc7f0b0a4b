"""Small multiples: panels of one size in rows, with room for what stands around each.

>>> grid = PanelGrid.of(7)
>>> grid.columns, grid.rows
(3, 3)
"""

from dataclasses import dataclass

from matplotlib.axes import Axes

from glassformer.pictures.parts.frame import (
    BODY,
    LINE,
    POINTS,
    SMALL,
    TITLE,
    Frame,
    measure_foot_height,
    measure_text_width,
    write_foot,
)

_COLUMNS = {1: 1, 2: 2, 4: 2}  # by the number of panels; else three
_IN_TITLE = 7.2  # cm that a name takes in a sheet's title
_WIDEST = 11.0  # cm: of a panel that is alone
_ABOVE, _BELOW = 0.95, 0.85  # cm: two lines of title, ticks and the axis' name


@dataclass(frozen=True)
class PanelGrid:
    """Centimetres of a panel's box, and of what stands at its left, above and below."""

    count: int
    columns: int
    width: float
    height: float
    left: float
    above: float = _ABOVE
    below: float = _BELOW

    @classmethod
    def of(cls, count: int, height: float = 2.7, left: float = 1.05, page: float = 16.4) -> "PanelGrid":
        """As many columns as suit the number of panels."""
        columns = _COLUMNS.get(count, 3)
        return cls(count, columns, min(_WIDEST, page / columns - left - 0.15), height, left)

    @classmethod
    def of_squares(cls, count: int, left: float = 0.75, page: float = 16.4) -> "PanelGrid":
        """Panels as high as they are wide."""
        columns = min(3, count)
        side = min(5.5, page / columns - left - 0.2)
        return cls(count, columns, side, side, left)

    @property
    def rows(self) -> int:
        return -(-self.count // self.columns)

    @property
    def total(self) -> float:
        """Height of all rows in cm."""
        return self.rows * (self.above + self.height + self.below)

    @property
    def has_room(self) -> bool:
        """Whether the last row has cells for a note that would stand at the foot."""
        return self.rows > 1 and self.count % self.columns > 0

    def room_below(self, foot: str, key: float = 0.0) -> float:
        """Height in cm that the note and a key above it take under the panels."""
        return 0.0 if self.has_room else key + measure_foot_height(foot)

    def key_corner(self) -> tuple[float, float]:
        """The top left of the key: in the free cells, or under the first panel."""
        x, y = self.corner(self.count)
        return (x + self.left, y + self.above) if self.has_room else (self.left, self.total + 0.05)

    def write_note(self, paper: Frame, foot: str, key: float = 0.0) -> None:
        """The note under the key: in the free cells, or at the foot of the sheet."""
        if not self.has_room:
            write_foot(paper, foot)
            return
        x, y = self.key_corner()
        paper.write(x, y + key + 0.1 * (key > 0), foot, SMALL, paper.width - x, color=paper.theme.muted)

    def panel(self, paper: Frame, index: int, top: float = 0.0) -> Axes:
        """The axes of a panel, counted row by row."""
        x, y = self.corner(index)
        return paper.axes(x + self.left, top + y + self.above, self.width, self.height)

    def corner(self, index: int) -> tuple[float, float]:
        """The top left of a panel and what stands around it."""
        row, column = divmod(index, self.columns)
        across = self.width + self.left + 0.15
        return column * across, row * (self.above + self.height + self.below)

    def name(self, paper: Frame, index: int, title: str, lines: str = "", top: float = 0.0) -> None:
        """A panel's title, and a line about it in small letters."""
        x, y = self.corner(index)
        wide = self.left + self.width
        here = paper.part(x, top + y + 0.1, wide, self.above)
        name, space, shape = title.partition("  ")
        room = wide - measure_text_width(space + shape, BODY, "bold")
        here.write(0, 0, f"{shorten_name(name, BODY, room, 'bold')}{space}{shape}", BODY, weight="bold")
        below = BODY * LINE / POINTS
        here.write(0, below, shorten_name(lines, SMALL, wide), SMALL, color=paper.theme.muted)


def shorten_name(text: str, size: float, width: float, weight: str = "normal") -> str:
    """The text, cut near its beginning where it is too long: names of tensors differ at their ends.

    >>> shorten_name("model.blocks.#.mixer.in_proj.weight", 7.5, 3.0)
    'mode….mixer.in_proj'
    """
    text = text.removesuffix(".weight") or text
    kept, short = len(text), text
    while kept > 2 and measure_text_width(short, size, weight) > width:
        kept -= 1
        first = max(1, kept // 4)
        short = f"{text[:first]}\N{HORIZONTAL ELLIPSIS}{text[first - kept :]}"
    return short


def shorten_title_name(name: str) -> str:
    """A type's name for the title of a sheet, which it must not fill."""
    return shorten_name(name, TITLE, _IN_TITLE, "bold")
