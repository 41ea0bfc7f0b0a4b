"""The poster: all panels on one sheet under a headline."""

from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.picture import Data, Picture
from glassformer.pictures.poster.sheet import draw_whole_poster, make_headline


def compute(subject: Subject) -> Data:
    return {"headline": make_headline(subject.sums)} | {
        panel.id: panel.compute(subject) for panel in _list_panels()
    }


def draw(data: Data, theme: Theme) -> Figure:
    return draw_whole_poster(_list_panels(), data, theme)


def caption(data: Data) -> str:
    return " ".join(
        f"({number}) {panel.caption(data[panel.id])}" for number, panel in enumerate(_list_panels(), 1)
    )


def _list_panels() -> tuple[Picture, ...]:
    """The panels, which the registry lists after the poster itself."""
    from glassformer.pictures.registry import PANELS

    return tuple(panel for panel in PANELS if panel.kind == "panel")
