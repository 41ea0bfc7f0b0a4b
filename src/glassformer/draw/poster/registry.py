"""The poster and its nine panels, by number. Nothing here needs matplotlib until something is drawn."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer.draw.picture import Data, called
from glassformer.draw.save import DPI
from glassformer.draw.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.draw.poster.subject import AdderSubject

POSTER_DPI = 150  # 3,189 pixels over 54 cm


class Panel(NamedTuple):
    """One panel; alone it is a figure as wide as a page."""

    id: str
    name: str
    about: str  # what it shows, in a line
    module: str  # in draw/poster/panels

    @property
    def file(self) -> str:
        return f"{self.id}_{self.name.replace(' ', '_')}"

    @property
    def dpi(self) -> int:
        return DPI

    def compute(self, subject: "AdderSubject") -> Data:
        with np.errstate(over="ignore"):  # huge weights: the model itself goes on with infinities
            found: Data = self.functions.compute(subject)
        return found

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from glassformer.draw.poster.sheet import panel_alone

        return panel_alone(self, data, theme)

    def caption(self, data: Data) -> str:
        return " ".join(str(self.functions.caption(data)).split())

    @property
    def functions(self) -> Any:
        return import_module(f"glassformer.draw.poster.panels.{self.module}")


class Poster(NamedTuple):
    """All nine panels on one sheet under a headline."""

    id: str = "P0"
    name: str = "poster"
    about: str = "all nine panels on one sheet, 54 by 38.2 cm"

    @property
    def file(self) -> str:
        return f"{self.id}_{self.name}"

    @property
    def dpi(self) -> int:
        return POSTER_DPI

    def compute(self, subject: "AdderSubject") -> Data:
        from glassformer.draw.poster.sheet import headline

        return {"headline": headline(subject)} | {panel.id: panel.compute(subject) for panel in NINE}

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from glassformer.draw.poster.sheet import whole_poster

        return whole_poster(NINE, data, theme)

    def caption(self, data: Data) -> str:
        return " ".join(f"({number}) {panel.caption(data[panel.id])}" for number, panel in enumerate(NINE, 1))


NINE: tuple[Panel, ...] = (
    Panel("P1", "big picture", "the way of the data, with the numbers spent at each stage", "big_picture"),
    Panel("P2", "digits", "token embeddings, and what attention carries of each digit", "digits"),
    Panel("P3", "places", "how the model knows places: spiral, circle, rotation or slope", "places"),
    Panel("P4", "norms", "what the norms do to the vectors", "norms"),
    Panel("P5", "routing", "where each answer digit really looks, for a pair and on average", "routing"),
    Panel(
        "P6", "bottleneck", "the few numbers that attention hands on, and the digit they decide", "bottleneck"
    ),
    Panel("P7", "parameters", "every parameter by name and value", "parameters"),
    Panel("P8", "one addition", "one sum, digit by digit", "one_addition"),
    Panel("P9", "verdict", "what is proved, and the worst pair of all", "verdict"),
)
PANELS: tuple[Poster | Panel, ...] = (Poster(), *NINE)


def draw_panel(id: str, subject: "AdderSubject", theme: Theme) -> "Figure":
    """One panel, or P0, the whole poster."""
    by_id: Mapping[str, Poster | Panel] = {panel.id: panel for panel in PANELS}
    panel = by_id[called(PANELS, id)]
    return panel.draw(panel.compute(subject), theme)
