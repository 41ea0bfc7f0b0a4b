"""A sheet of paper, measured in centimetres from its top left corner.

Every figure is 17 cm wide, the text width of a page, so that a font size here is the size in print. Places
are given outright and nothing moves them afterwards: what does not collide when placed never will.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from glassformer.core.theme import Theme

PAGE = 17.0  # cm
MARGIN = 0.3  # cm
POINTS = 72 / 2.54  # in a centimetre
FOOT = 15.2  # cm: the lines of a note at the foot of a sheet
LINE = 1.32  # line height in font sizes
SMALL, BODY, TITLE = 6.5, 7.5, 9.5  # points; nothing is smaller than SMALL


@dataclass(frozen=True)
class Frame:
    """A rectangle of a figure in which something is drawn."""

    figure: Figure
    theme: Theme
    left: float  # cm, from the figure's left
    top: float  # cm, from the figure's top
    width: float  # cm
    height: float  # cm

    def part(self, x: float, y: float, width: float, height: float) -> "Frame":
        """A frame inside this one, `x` from its left and `y` from its top."""
        return replace(self, left=self.left + x, top=self.top + y, width=width, height=height)

    def axes(self, x: float, y: float, width: float, height: float, **settings: Any) -> Axes:
        """Axes whose box is exactly there: labels and ticks stand outside it."""
        across, down = self.figure.get_size_inches() * 2.54
        left, bottom = (self.left + x) / across, 1 - (self.top + y + height) / down
        return self.figure.add_axes((left, bottom, width / across, height / down), **settings)

    def write(
        self, x: float, y: float, text: str, size: float = BODY, width: float | None = None, **settings: Any
    ) -> float:
        """Text whose top left is there, broken into lines of `width` cm; returns its height in cm."""
        across, down = self.figure.get_size_inches() * 2.54
        weight = settings.get("weight", "normal")
        lines = wrap_text(text, width, size, weight) if width else text.split("\n")
        look: dict[str, Any] = {"color": self.theme.ink, "va": "top", "linespacing": LINE} | settings
        place = (self.left + x) / across, 1 - (self.top + y) / down
        self.figure.text(*place, "\n".join(lines), fontsize=size, **look)
        return len(lines) * size * LINE / POINTS


def make_sheet(theme: Theme, height: float, title: str = "", width: float = PAGE) -> Frame:
    """An empty figure with its title; the frame is what the title leaves, `height` cm of it."""
    rows = wrap_text(title, width - 2 * MARGIN, TITLE, "bold") if title else []
    above = MARGIN + len(rows) * TITLE * LINE / POINTS + (0.15 if rows else 0)
    with rc_context(make_theme_settings(theme)):
        figure = Figure(figsize=(width / 2.54, (above + height + MARGIN) / 2.54), facecolor=theme.paper)
        FigureCanvasAgg(figure)
    whole = Frame(figure, theme, 0, 0, width, above + height + MARGIN)
    whole.write(MARGIN, MARGIN, "\n".join(rows), TITLE, weight="bold")
    return whole.part(MARGIN, above, width - 2 * MARGIN, height)


def make_theme_settings(theme: Theme) -> dict[str, Any]:
    """Matplotlib's settings for a theme; drawing and saving both happen under them."""
    return {
        "font.family": "DejaVu Sans",
        "font.size": BODY,
        "axes.titlesize": BODY,
        "axes.titlelocation": "left",
        "axes.titlepad": 4,
        "axes.labelsize": SMALL + 0.5,
        "axes.labelpad": 2,
        "axes.facecolor": theme.paper,
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.muted,
        "axes.titlecolor": theme.ink,
        "axes.linewidth": 0.6,
        "text.color": theme.ink,
        "text.hinting": "no_hinting",  # widths as measured, at any resolution
        "xtick.color": theme.faint,
        "ytick.color": theme.faint,
        "xtick.labelcolor": theme.muted,
        "ytick.labelcolor": theme.muted,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "xtick.major.size": 2,
        "ytick.major.size": 2,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.pad": 2,
        "ytick.major.pad": 2,
        "legend.fontsize": SMALL,
        "legend.frameon": False,
        "lines.linewidth": 1.0,
        "savefig.facecolor": theme.paper,
        "svg.fonttype": "path",
        "svg.hashsalt": "glassformer",  # the same figure twice is the same file
        "pdf.fonttype": 42,
    }


def wrap_text(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """The text in lines of at most `width` cm."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and measure_text_width(longer, size, weight) > width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def measure_text_height(text: str, size: float, width: float, weight: str = "normal") -> float:
    """Height in cm of a text in lines of at most `width` cm, as `Frame.write` sets it."""
    return len(wrap_text(text, width, size, weight)) * size * LINE / POINTS


def measure_text_width(text: str, size: float, weight: str = "normal") -> float:
    """Width in cm of one line."""
    if not text.strip():
        return len(text) * size * 0.32 / POINTS
    *before, last = (_measure_glyph(letter, weight) for letter in text.rstrip())
    return (sum(advance for advance, _ in before) + last[1]) * size / POINTS


@cache
def _measure_glyph(letter: str, weight: str) -> tuple[float, float]:
    """How far the pen moves on, and how far the ink reaches, in font sizes."""
    font = FontProperties(family="DejaVu Sans", weight=weight)

    def reach(text: str) -> float:
        return float(TextPath((0, 0), text, size=100, prop=font).get_extents().x1) / 100

    advance = reach(f"{letter}|") - reach("|")
    return advance, reach(letter) if letter.strip() else advance


def measure_foot_height(text: str) -> float:
    """Centimetres that a note at the foot of a sheet needs."""
    return measure_text_height(text, SMALL, FOOT) + 0.15 if text else 0.0


def write_foot(paper: Frame, text: str) -> None:
    """A note along the foot of a sheet."""
    if text:
        top = paper.height - measure_foot_height(text) + 0.15
        paper.write(0, top, text, SMALL, FOOT, color=paper.theme.muted)
