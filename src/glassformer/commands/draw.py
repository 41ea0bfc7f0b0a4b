"""`glassformer draw`: every parameter and every step of a model as figures.

From Python the same is `glassformer.draw("runs/plus_last_even", only=["05", "F1"])`.
"""

import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.commands.waiting import bar
from glassformer.draw.picture import Data, Drawable, chosen
from glassformer.draw.poster.registry import PANELS
from glassformer.draw.registry import PICTURES
from glassformer.draw.save import check_formats, save_data, save_figure, write_captions
from glassformer.draw.shares import counted
from glassformer.draw.theme import Theme, theme_named
from glassformer.errors import UserError, require
from glassformer.model.adding import checked
from glassformer.runs.atomic import locked
from glassformer.runs.load import Loaded, load
from glassformer.runs.seal import sealing
from glassformer.tasks import Rule

FIGURES = "figures"


@dataclass(frozen=True)
class DrawResult:
    """What `--json` prints."""

    files: list[str]
    seconds: float
    folder: str
    skipped: dict[str, str] = field(default_factory=dict)  # figure to why it was not drawn
    notes: list[str] = field(default_factory=list)  # what was done with the input

    def _repr_html_(self) -> str:
        """The pictures, in a notebook."""
        shown = [Path(file) for file in self.files if file.endswith(".png")]
        code = [base64.b64encode(path.read_bytes()).decode() for path in shown]
        return "\n".join(f'<img src="data:image/png;base64,{one}" style="max-width:100%">' for one in code)


@dataclass(frozen=True)
class Wish:
    """What is to be drawn, and how."""

    step: int | None = None  # a saved step; none: the finished model
    sequences: tuple[str, ...] = ()  # rules: "4 1 + 4", the user's own, before the chosen ones
    pair: tuple[int, int] | None = None  # adders: the sum that is worked through
    query: str | None = None  # rules: TOKEN@PLACE of the focused query
    dims: tuple[int, int] | None = None  # of wide models; none: their two main directions
    only: tuple[str, ...] = ()  # numbers of figures; empty: all
    formats: tuple[str, ...] = ("png",)
    theme: str = "light"


def draw(
    target: str | Path,
    wish: Wish | None = None,
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
    **wishes: Any,
) -> DrawResult:
    """Draw the model that a target names; `draw("runs/x", only=("05",))` is short for a Wish."""
    asked = wish or Wish(**{name: tuple_of(value) for name, value in wishes.items()})
    loaded = load(target, model)
    folder = Path(out) if out is not None else place(loaded, asked)
    return draw_model(loaded, loaded.folder, asked, folder, show)


def tuple_of(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def draw_model(
    loaded: Loaded, origin: Path | None, wish: Wish, folder: Path, show: bool = False
) -> DrawResult:
    """The same for a model at hand; `origin` is its run folder."""
    began = time.perf_counter()
    check_formats(wish.formats)
    theme = theme_named(wish.theme)
    pictures, subject, notes = prepared(loaded, origin, wish)
    files: list[Path] = []
    skipped: dict[str, str] = {}
    with locked(folder), sealing(origin, folder), bar(len(pictures), show, "figures") as tell:
        for picture in pictures:
            try:
                data = picture.compute(subject)
            except UserError as error:  # the model has nothing to show there
                skipped[picture.id] = str(error)
            else:
                files += draw_one(picture, data, subject, wish, theme, folder)
            if tell:
                tell(1)
        if not files:
            raise UserError(next(iter(skipped.values())))
        write_captions(folder, [picture.id for picture in every_picture(loaded)])
    names, seconds = [str(path) for path in files], round(time.perf_counter() - began, 3)
    return DrawResult(names, seconds, str(folder), skipped, notes)


def draw_one(
    picture: Drawable, data: Data, subject: Any, wish: Wish, theme: Theme, folder: Path
) -> list[Path]:
    """One figure, its data and its caption."""
    figure = picture.draw(data, theme)
    about = {
        "name": picture.name,
        "caption": picture.caption(data),
        "file": f"{picture.file}.{wish.formats[0]}",
    }
    about |= {"model": subject.name, "step": subject.step}
    files = save_figure(figure, folder / picture.file, wish.formats, theme, picture.dpi)
    save_data(folder, picture.id, data, about)
    return files


def prepared(loaded: Loaded, origin: Path | None, wish: Wish) -> tuple[Sequence[Drawable], Any, list[str]]:
    """The figures asked for, what they are about, and what a user must be told of the input."""
    name, pictures = loaded.name, wanted_pictures(loaded, wish.only)
    if isinstance(loaded.task, Rule):
        from glassformer.draw.measure.prepare import rule_subject

        refuse(wish.pair, "--pair", f"adders; {name} follows a rule: --sequence")
        require_dims(wish.dims, loaded.architecture.width)
        subject = rule_subject(loaded, name, origin, wish.step, wish.sequences, wish.dims, wish.query)
        return pictures, subject, shortened(wish.sequences, subject.context)
    from glassformer.draw.poster.subject import adder_subject

    for option, value in (("--sequence", wish.sequences), ("--query", wish.query), ("--dims", wish.dims)):
        refuse(value, option, f"rules; {name} adds: --pair A+B")
    return pictures, adder_subject(loaded, name, origin, wish.pair, wish.step), []


def require_dims(dims: tuple[int, int] | None, width: int) -> None:
    """Two dimensions that the model has."""
    is_good = dims is None or (min(dims) >= 0 and max(dims) < width and dims[0] != dims[1])
    require(is_good, "--dims", f"two of the dimensions 0 to {width - 1}", dims)


def every_picture(loaded: Loaded) -> Sequence[Drawable]:
    """The whole set of figures for a model of this kind."""
    return PICTURES if isinstance(loaded.task, Rule) else PANELS


def wanted_pictures(loaded: Loaded, only: Sequence[str]) -> Sequence[Drawable]:
    """Those with these numbers or names; all where none is given."""
    return chosen(every_picture(loaded), only)


def refuse(value: Any, option: str, meant_for: str) -> None:
    if value:
        raise UserError(f"{option} is for {meant_for}")


def shortened(sequences: Sequence[str], context: int) -> list[str]:
    """What was done with sequences that are longer than the model sees."""
    return [
        f"'{text}' has {len(text.split())} tokens; the model sees {context}, so the last {context} are drawn"
        for text in sequences
        if len(text.split()) > context
    ]


def place(loaded: Loaded, wish: Wish) -> Path:
    """figures/ in a run folder, NAME.figures/ beside the user otherwise; steps in folders of their own."""
    origin = loaded.folder
    folder = origin / FIGURES if origin else Path(f"{loaded.name}.{FIGURES}")
    return folder if wish.step is None else folder / f"step_{wish.step}"


def read_pair(text: str, digits: int = 10) -> tuple[int, int]:
    """`57+68` or `57 68` as two numbers.

    >>> read_pair("57+68")
    (57, 68)
    """
    words = text.replace("+", " ").split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise UserError(f"--pair must be two integers from 0 up, as 57+68, but it is '{text}'")
    return checked("A", int(words[0]), digits), checked("B", int(words[1]), digits)


def draw_words(result: DrawResult) -> str:
    """The summary for people."""
    made = counted(len(result.files), "file")
    lines = [f"{result.folder}: {made} in {result.seconds:.1f} s, with captions.md and data/"]
    lines += [f"  {id} was not drawn: {reason}" for id, reason in result.skipped.items()]
    lines += [f"  {note}" for note in result.notes]
    return "\n".join(lines)
