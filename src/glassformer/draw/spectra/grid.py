"""Small multiples: panels of one size in rows, with room for what stands around each.

>>> grid = Grid.of(7)
>>> grid.columns, grid.rows
(3, 3)
"""

from dataclasses import dataclass

from matplotlib.axes import Axes

from glassformer.draw.parts.frame import BODY, LINE, POINTS, SMALL, Frame, text_width

COLUMNS = {1: 1, 2: 2, 4: 2}  # by the number of panels; else three
WIDEST = 11.0  # cm: of a panel that is alone
ABOVE, BELOW = 0.95, 0.85  # cm: two lines of title, ticks and the axis' name


@dataclass(frozen=True)
class Grid:
    """Centimetres of a panel's box, and of what stands at its left, above and below."""

    count: int
    columns: int
    width: float
    height: float
    left: float
    above: float = ABOVE
    below: float = BELOW

    @classmethod
    def of(cls, count: int, height: float = 2.7, left: float = 1.05, page: float = 16.4) -> "Grid":
        """As many columns as suit the number of panels."""
        columns = COLUMNS.get(count, 3)
        return cls(count, columns, min(WIDEST, page / columns - left - 0.15), height, left)

    @classmethod
    def of_squares(cls, count: int, left: float = 0.75, page: float = 16.4) -> "Grid":
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
        here.write(0, 0, shortened(title, BODY, wide, "bold"), BODY, weight="bold")
        below = BODY * LINE / POINTS
        here.write(0, below, shortened(lines, SMALL, wide), SMALL, color=paper.theme.muted)


def shortened(text: str, size: float, width: float, weight: str = "normal") -> str:
    """The text, with its middle left out where it is too long: names of tensors differ at their ends."""
    kept, short = len(text), text
    while kept > 2 and text_width(short, size, weight) > width:
        kept -= 1
        short = f"{text[: kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(kept - kept // 2) :]}"
    return short
