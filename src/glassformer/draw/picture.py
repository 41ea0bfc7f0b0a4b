"""A figure's parts: data that can be saved and compared, a drawing of them, and a caption.

A figure is a module with three functions: compute(subject, **options), draw(data, theme), caption(data).
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from glassformer.draw.measure.subject import Subject
from glassformer.draw.save import DPI
from glassformer.draw.theme import Theme
from glassformer.errors import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]  # arrays, planes, texts and plain numbers by name


class Drawable(Protocol):
    """What `glassformer draw` can draw: a figure, a panel, the poster."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def dpi(self) -> int: ...
    def compute(self, subject: Any) -> Data:
        """The data; a UserError where the model has nothing to show."""

    def draw(self, data: Data, theme: Theme) -> "Figure": ...
    def caption(self, data: Data) -> str: ...


class Picture(NamedTuple):
    """One figure of a rule model."""

    id: str  # 05, S2, F1, A1
    name: str  # in words; with underscores it is the file's name
    about: str  # what it shows, in a line
    module: str  # in draw/figures
    options: dict[str, Any] = {}  # of compute  # noqa: RUF012  a constant

    @property
    def file(self) -> str:
        return f"{self.id}_{self.name.replace(' ', '_').replace(',', '').replace('/', '')}"

    @property
    def dpi(self) -> int:
        return DPI

    def compute(self, subject: Subject) -> Data:
        found: Data = self._functions.compute(subject, **self.options)
        return found | {"layers": len(subject.model.architecture.layers)}

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from matplotlib import rc_context

        from glassformer.draw.parts.frame import look

        with rc_context(look(theme)):
            figure: Figure = self._functions.draw(data, theme)
        return figure

    def caption(self, data: Data) -> str:
        return " ".join(f"{self._functions.caption(data)} {layers_text(data.get('layers', 1))}".split())

    @property
    def _functions(self) -> Any:
        return import_module(f"glassformer.draw.figures.{self.module}")


def layers_text(layers: int) -> str:
    """What figures of one layer must say of a model with several."""
    if layers == 1:
        return ""
    return (
        f"Of the model's {layers} layers the attention and the feed-forward layer shown are the last one's; "
        "what stands for every token at every place was computed in contexts that repeat that token, and e, "
        "where a sequence is followed, is the stream that enters the last layer."
    )


def parameters_of(subject: Subject, *parts: str) -> dict[str, np.ndarray]:
    """The stored parameters of these parts, by full name: what a figure draws number by number."""
    return {
        name: np.asarray(array)
        for name, array in subject.model.params.items()
        if any(name == part or name.startswith(f"{part}.") for part in parts)
    }


def chosen(pictures: Sequence[Drawable], names: Sequence[str]) -> Sequence[Drawable]:
    """Those with these numbers or names, in the order of the set; all where none is given.

    >>> one, two = Picture("05", "token embeddings", "", ""), Picture("F1", "hinges", "", "")
    >>> [picture.id for picture in chosen([one, two], ["f1", "5"])]
    ['05', 'F1']
    """
    wanted = {called(pictures, name.strip()) for name in names}
    return [picture for picture in pictures if picture.id in wanted] if names else pictures


def called(pictures: Sequence[Drawable], text: str) -> str:
    """The id of a picture: `5` is 05, `f1` is F1, and its name will do too."""
    by_name = {picture.name: picture.id for picture in pictures} | {one.id: one.id for one in pictures}
    for spelling in (text, text.zfill(2), text.upper()):
        if spelling in by_name:
            return by_name[spelling]
    raise unknown("figure", text, [picture.id for picture in pictures], "glassformer list figures")
