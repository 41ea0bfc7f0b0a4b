"""A figure of an analysis: data that can be saved, a drawing of them, a caption."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from glassformer.draw.theme import Theme
from glassformer.spectra.results import Analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]  # arrays, texts and plain numbers by name


class SpectralPicture(NamedTuple):
    """One figure; its module has compute(analysis, **options), draw(data, theme) and caption(data)."""

    id: str  # S01
    name: str  # in words; with underscores it is the file's name
    about: str  # what it shows, in a line
    module: str  # in draw/spectra
    options: dict[str, Any] = {}  # of compute  # noqa: RUF012  a constant

    def compute(self, analysis: Analysis) -> Data:
        """The data; a UserError of one sentence where the model has nothing to show."""
        found: Data = self._functions.compute(analysis, **self.options)
        return found

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from matplotlib import rc_context

        from glassformer.draw.parts.frame import look

        with rc_context(look(theme)):
            figure: Figure = self._functions.draw(data, theme)
        return figure

    def caption(self, data: Data) -> str:
        return " ".join(self._functions.caption(data).split())

    def file(self, data: Data) -> str:
        """The file's name without its ending; a head's figure names the head."""
        return f"{self.id}_{self.name.replace(' ', '_')}{data.get('place', '')}"

    @property
    def _functions(self) -> Any:
        return import_module(f"glassformer.draw.spectra.{self.module}")
