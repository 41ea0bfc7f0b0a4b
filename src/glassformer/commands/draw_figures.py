"""The figures of a model: chosen, drawn into a folder that is locked, with captions and data."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.core.atomic import lock_folder
from glassformer.core.errors import UserError
from glassformer.core.spread import count_cores
from glassformer.core.theme import find_theme
from glassformer.core.waiting import show_count_bar
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.notebook import embed_pictures
from glassformer.pictures.picture import Picture, choose_pictures
from glassformer.pictures.pipeline import PictureStyle, draw_pictures
from glassformer.pictures.registry import DRAWN, choose_usual_pictures
from glassformer.pictures.save import require_formats, write_captions
from glassformer.runs.seal import seal_written_files
from glassformer.scale.choose import make_engine
from glassformer.scale.engine import Engine

FIGURES = "figures"
_MANY = 12  # pictures: some ten seconds of drawing; another process takes two to start


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
        return embed_pictures(self.files)


def draw_figure_set(
    subject: Subject,
    only: Sequence[str],
    folder: Path,
    run_folder: Path | None,
    formats: tuple[str, ...],
    theme: str,
    show: bool = False,
) -> DrawResult:
    """Draw these figures of a subject, all that fit it where none are named; `run_folder` is its run's."""
    began = time.perf_counter()
    pictures = list_pictures(subject, only)
    style = PictureStyle(formats, find_theme(theme), {"model": subject.name, "step": subject.step})
    with draw_into_folder(folder, run_folder, len(pictures), show, "figures") as tell:
        drawn = draw_pictures(pictures, subject, folder, style, tell, engine=_choose_engine(len(pictures)))
        if not drawn.files:
            raise UserError(next(iter(drawn.skipped.values())))
        write_captions(folder, [picture.id for picture in DRAWN])
    seconds = round(time.perf_counter() - began, 3)
    return DrawResult([str(path) for path in drawn.files], seconds, str(folder), drawn.skipped)


def _choose_engine(pictures: int) -> Engine:
    """One process per core for a whole set."""
    return make_engine("processes" if pictures >= _MANY and count_cores() > 1 else "here")


def list_pictures(subject: Subject, only: Sequence[str] = ()) -> Sequence[Picture]:
    """Those with these ids or names; the usual set where none is given."""
    return choose_pictures(DRAWN, only, usual=choose_usual_pictures(subject))


def require_style(formats: tuple[str, ...], theme: str) -> None:
    """Refuse unknown formats and themes before anything is computed."""
    require_formats(formats)
    find_theme(theme)


@contextmanager
def draw_into_folder(
    folder: Path, run_folder: Path | None, count: int, show: bool, what: str
) -> Iterator[Callable[[int], object] | None]:
    """Lock the folder, open its run's seal, and show a bar that counts pictures."""
    with (
        lock_folder(folder),
        seal_written_files(run_folder, folder),
        show_count_bar(count, show, what) as tell,
    ):
        yield tell


def describe_cuts(sequences: Sequence[str], context: int) -> list[str]:
    """What was done with sequences that are longer than the model's context."""
    return [
        f"'{text}' has {len(text.split())} tokens; the context has {context}, so the last {context} are drawn"
        for text in sequences
        if len(text.split()) > context
    ]
