"""The poster: all nine panels on one sheet under a headline."""

from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.picture import Data, Picture
from glassformer.draw.poster.sheet import headline, whole_poster
from glassformer.draw.theme import Theme


def compute(subject: Subject) -> Data:
    return {"headline": headline(subject.sums)} | {panel.id: panel.compute(subject) for panel in nine()}


def draw(data: Data, theme: Theme) -> Figure:
    return whole_poster(nine(), data, theme)


def caption(data: Data) -> str:
    return " ".join(f"({number}) {panel.caption(data[panel.id])}" for number, panel in enumerate(nine(), 1))


def nine() -> tuple[Picture, ...]:
    """The panels, which the registry lists after the poster itself."""
    from glassformer.draw.registry import PANELS

    return tuple(panel for panel in PANELS if panel.kind == "panel")
