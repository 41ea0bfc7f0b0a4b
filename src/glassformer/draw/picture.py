"""A figure's parts: data that can be saved and compared, a drawing of them, and a caption.

A figure is a module with three functions: compute(subject, **options), draw(data, theme), caption(data).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer.draw.subject import Subject
from glassformer.draw.theme import Theme

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
