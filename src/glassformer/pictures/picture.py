"""A picture: data that can be saved and compared, a drawing of them, and a caption.

Its module has three functions: compute(subject, **options), draw(data, theme), caption(data). The panel of a
poster draws into a frame instead and has a title(data); the scene of a film performs on a stage instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from glassformer.core.errors import UserError, make_unknown_error
from glassformer.core.theme import INTEGERS, Theme, scale_token_colours
from glassformer.pictures.save import DPI
from glassformer.pictures.words import RULE_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.pictures.measure.subject import Subject

Data = dict[str, Any]  # arrays, planes, texts and plain numbers by name
_Part = TypeVar("_Part")
_Need = Callable[[Any], object]  # raises a UserError of one sentence where a model does not have it
_Kind = Literal["figure", "panel", "poster", "spectrum", "comparison", "film"]

_POSTER_DPI = 150  # 3,189 pixels over 54 cm
_HOMES: dict[_Kind, str] = {  # the package of a picture's module
    "figure": "pictures.figures",
    "panel": "pictures.poster.panels",
    "poster": "pictures.poster",
    "spectrum": "lens.figures",
    "comparison": "lens.figures",
    "film": "pictures.video.scenes",
}


@dataclass(frozen=True)
class Picture:
    """One entry of the registry: a figure, a panel, the poster, a spectrum, a film."""

    id: str  # 05, S2, F1, A1, P3, S01; of a film its file's name
    name: str  # in words; with underscores it is the file's name
    about: str  # what it shows, in a line
    module: str
    kind: _Kind = "figure"
    needs: tuple[_Need, ...] = ()  # what a model must have
    reads: str = ""  # the part of a subject that the module is about; empty: all of it
    options: Mapping[str, Any] = field(default_factory=dict)  # of compute

    @property
    def file(self) -> str:
        if self.kind == "film":
            return self.id
        return f"{self.id}_{self.name.replace(' ', '_').replace(',', '').replace('/', '')}"

    @property
    def dpi(self) -> int:
        return _POSTER_DPI if self.kind == "poster" else DPI

    @property
    def functions(self) -> Any:
        return import_module(f"glassformer.{_HOMES[self.kind]}.{self.module}")

    def file_of(self, data: Data) -> str:
        """The file's name without its ending; the spectrum of one head names the head."""
        return self.file + (data.get("place", "") if self.kind == "spectrum" else "")

    def fits(self, subject: Any) -> str:
        """Why it cannot be drawn of this subject, in one sentence; empty where it can."""
        try:
            for need in self.needs:
                need(subject)
        except UserError as error:
            return str(error)
        return ""

    def compute(self, subject: Any) -> Data:
        """The data; a UserError where the model has nothing to show."""
        part = getattr(subject, self.reads) if self.reads else subject
        with np.errstate(over="ignore"):  # huge weights: the model itself goes on with infinities
            found: Data = self.functions.compute(part, **self.options)
        if self.kind in ("spectrum", "comparison"):  # of weights, not of a model with its task
            return found
        found |= _note_many_tokens(subject)
        return found | _collect_figure_facts(subject) if self.kind == "figure" else found

    def draw(self, data: Data, theme: Theme) -> "Figure":
        from matplotlib import rc_context

        from glassformer.pictures.parts.frame import make_theme_settings

        with scale_token_colours(data.get("many_tokens", ())), rc_context(make_theme_settings(theme)):
            if self.kind == "panel":
                from glassformer.pictures.poster.sheet import draw_panel_alone

                return draw_panel_alone(self, data, theme)
            figure: Figure = self.functions.draw(data, theme)
        return figure

    def caption(self, data: Data) -> str:
        layers = _describe_last_layer(data.get("layers", 1)) if self.kind == "figure" else ""
        return " ".join(f"{self.functions.caption(data)} {layers}".split())


def _collect_figure_facts(subject: "Subject") -> Data:
    """What every figure must say: the number of layers, and the words for a task that is no rule."""
    layers = {"layers": len(subject.model.architecture.layers)}
    return layers if subject.words == RULE_WORDS else layers | {"words": subject.words}


def _note_many_tokens(subject: "Subject") -> Data:
    """The vocabulary, where it is so large that its colours are a scale."""
    return {"many_tokens": subject.tokens} if len(subject.tokens) > len(INTEGERS) else {}


def unpack_part(part: object) -> Data:
    """The fields of a dataclass by name, as they stand in the data of a figure."""
    return {one.name: getattr(part, one.name) for one in fields(part)}  # type: ignore[arg-type]


def read_part(data: Data, kind: type[_Part]) -> _Part:
    """What several files read of a figure's data, as the dataclass that `unpack_part` took apart."""
    return kind(**{one.name: data[one.name] for one in fields(kind)})  # type: ignore[arg-type]


def find_task_words(data: Data) -> Mapping[str, str]:
    """How a figure speaks of its task: of what says which token comes next, of an input, of errors."""
    found: Mapping[str, str] = data.get("words", RULE_WORDS)
    return found


def _describe_last_layer(layers: int) -> str:
    """What figures of one layer must say of a model with several."""
    if layers == 1:
        return ""
    return (
        f"Of the model's {layers} layers the figure shows the attention and feed-forward layer of the last. "
        "Vectors of every token at every position come from contexts that repeat that token. For a "
        "sequence, e is the residual stream that enters the last layer."
    )


def select_parameters(subject: "Subject", *parts: str) -> dict[str, np.ndarray]:
    """The stored parameters of these parts, by full name: what a figure draws number by number."""
    return {
        name: np.asarray(array)
        for name, array in subject.model.params.items()
        if any(name == part or name.startswith(f"{part}.") for part in parts)
    }


def choose_pictures(
    pictures: Sequence[Picture], names: Sequence[str], noun: str = "figure", usual: Sequence[Picture] = ()
) -> Sequence[Picture]:
    """Those with these numbers or names, in the order of the set; the usual ones where none is given.

    >>> one, two = Picture("05", "token embeddings", "", ""), Picture("F1", "hinges", "", "")
    >>> [picture.id for picture in choose_pictures([one, two], ["f1", "5"])]
    ['05', 'F1']
    """
    if not names:
        return usual or pictures
    wanted = {find_picture_id(pictures, name.strip(), noun, usual) for name in names}
    return [picture for picture in pictures if picture.id in wanted]


def find_picture_id(
    pictures: Sequence[Picture], text: str, noun: str = "figure", usual: Sequence[Picture] = ()
) -> str:
    """The id of a picture: `5` is 05, `f1` is F1, and its name will do too."""
    by_name = {picture.name: picture.id for picture in pictures} | {one.id: one.id for one in pictures}
    for spelling in (text, text.zfill(2), text.upper()):
        if spelling in by_name:
            return by_name[spelling]
    raise make_unknown_error(
        noun, text, [picture.id for picture in usual or pictures], "glassformer list figures"
    )
