"""A figure's parts: data that can be saved and compared, a drawing of them, and a caption.

A figure is a module with three functions: compute(subject, **options), draw(data, theme), caption(data).
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer.draw.save import DPI
from glassformer.draw.subject import Subject
from glassformer.draw.theme import Theme
from glassformer.errors import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]  # arrays, planes, texts and plain numbers by name


class Picture(NamedTuple):
    """One entry of the set."""

    id: str  # 05, S2, F1, A1
    name: str  # in words; with underscores it is the file's name
    about: str  # what it shows, in a line
    module: str  # in draw/figures
    options: dict[str, Any] = {}  # of compute  # noqa: RUF012  a constant
    needs_past: bool = False  # a training history, which a weights file has not

    @property
    def file(self) -> str:
        return f"{self.id}_{self.name.replace(' ', '_').replace(',', '').replace('/', '')}"

    @property
    def dpi(self) -> int:
        return DPI

    def compute(self, subject: Subject) -> Data:
        found: Data = self._functions.compute(subject, **self.options)
        return found

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from matplotlib import rc_context

        from glassformer.draw.frame import look

        with rc_context(look(theme)):
            figure: Figure = self._functions.draw(data, theme)
        return figure

    def caption(self, data: Data) -> str:
        return " ".join(str(self._functions.caption(data)).split())

    @property
    def _functions(self) -> Any:
        return import_module(f"glassformer.draw.figures.{self.module}")


def parameters_of(subject: Subject, *parts: str) -> dict[str, np.ndarray]:
    """The stored parameters of these parts, by full name: what a figure draws number by number."""
    return {
        name: np.asarray(array)
        for name, array in subject.model.params.items()
        if any(name == part or name.startswith(f"{part}.") for part in parts)
    }


def chosen(pictures: Sequence[Any], names: Sequence[str]) -> Sequence[Any]:
    """Those with these numbers or names, in the order of the set; all where none is given.

    >>> one, two = Picture("05", "token embeddings", "", ""), Picture("F1", "hinges", "", "")
    >>> [picture.id for picture in chosen([one, two], ["f1", "5"])]
    ['05', 'F1']
    """
    wanted = {called(pictures, name.strip()) for name in names}
    return [picture for picture in pictures if picture.id in wanted] if names else pictures


def called(pictures: Sequence[Any], text: str) -> str:
    """The id of a picture: `5` is 05, `f1` is F1, and its name will do too."""
    by_name = {picture.name: picture.id for picture in pictures} | {one.id: one.id for one in pictures}
    for spelling in (text, text.zfill(2), text.upper()):
        if spelling in by_name:
            return str(by_name[spelling])
    raise unknown("figure", text, [picture.id for picture in pictures], "glassformer list figures")
