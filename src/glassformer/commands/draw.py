"""`glassformer draw`: every parameter and every step of a model as figures.

From Python the same is `glassformer.draw("runs/plus_last_even", only=["05", "F1"])`.
"""

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.commands.waiting import bar
from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.measure.subject import Subject
from glassformer.draw.picture import Picture, chosen
from glassformer.draw.pipeline import Manner, draw_set
from glassformer.draw.registry import DRAWN, usual_pictures
from glassformer.draw.save import check_formats, write_captions
from glassformer.draw.shares import counted
from glassformer.draw.theme import theme_named
from glassformer.errors import UserError
from glassformer.model.adding import checked
from glassformer.runs.atomic import locked
from glassformer.runs.load import Loaded, load
from glassformer.runs.seal import sealing

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
    sequences: tuple[str, ...] = ()  # "4 1 + 4", not of adders: the user's own, before the chosen ones
    pair: tuple[int, int] | None = None  # adders: the sum that is worked through
    query: str | None = None  # TOKEN@PLACE of the focused query
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
    subject = subject_of(loaded, origin, wish)
    pictures = chosen(DRAWN, wish.only, usual=usual_pictures(subject))
    manner = Manner(wish.formats, theme, {"model": subject.name, "step": subject.step})
    with drawing_into(folder, origin, len(pictures), show, "figures") as tell:
        drawn = draw_set(pictures, subject, folder, manner, tell)
        if not drawn.files:
            raise UserError(next(iter(drawn.skipped.values())))
        write_captions(folder, [picture.id for picture in DRAWN])
    names, seconds = [str(path) for path in drawn.files], round(time.perf_counter() - began, 3)
    return DrawResult(names, seconds, str(folder), drawn.skipped, shortened(wish.sequences, subject.context))


def subject_of(loaded: Loaded, origin: Path | None, wish: Wish) -> Subject:
    """What the figures are about."""
    return make_subject(
        loaded, loaded.name, origin, wish.step, wish.sequences, wish.pair, wish.dims, wish.query
    )


@contextmanager
def drawing_into(
    folder: Path, origin: Path | None, count: int, show: bool, what: str
) -> Iterator[Callable[[int], object] | None]:
    """The folder locked, its run's seal open, and a bar that counts pictures."""
    with locked(folder), sealing(origin, folder), bar(count, show, what) as tell:
        yield tell


def every_picture(loaded: Loaded) -> Sequence[Picture]:
    """The set of figures for a model that nothing is said about."""
    return usual_pictures(make_subject(loaded, loaded.name, loaded.folder))


def wanted_pictures(loaded: Loaded, only: Sequence[str]) -> Sequence[Picture]:
    """Those with these numbers or names; the usual set where none is given."""
    return chosen(DRAWN, only, usual=every_picture(loaded))


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
