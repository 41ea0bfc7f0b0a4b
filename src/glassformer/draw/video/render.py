"""From a run to the files of one video: `render(subject, "qkv", folder, ("gif",))` writes folder/qkv.gif."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.draw.measure.subject import Subject
from glassformer.draw.picture import Picture, called, chosen
from glassformer.draw.registry import FILMS
from glassformer.draw.theme import THEMES, Theme, colours_for
from glassformer.draw.video.checkpoints import chosen_checkpoints
from glassformer.draw.video.encoder import film
from glassformer.errors import UserError, require, unknown
from glassformer.runs.atomic import make_folder

if TYPE_CHECKING:
    from glassformer.draw.video.stage import Stage

FORMATS = ("mp4", "gif")
FASTEST = 60  # frames a second
NARROWEST, WIDEST = 320, 3840  # pixels


def render(
    subject: Subject,
    which: str,
    folder: Path,
    formats: Sequence[str] = ("mp4",),
    fps: float = 20,  # frames a second
    every: int = 1,  # every how many-th saved step; the first and the last are always there
    width: int = 1280,  # pixels
    theme: Theme = THEMES["light"],
) -> list[Path]:
    """Film one video of a run into `folder`, in each format; returns the paths."""
    picture = find_film(which)
    check_wishes(formats, fps, every, width)
    if reason := picture.fits(subject):
        raise UserError(reason)
    stage = perform(picture, subject, chosen_checkpoints(subject, every), theme, width)
    make_folder(folder)
    return film(stage, folder / picture.file, tuple(dict.fromkeys(formats)), fps)


def choose_films(which: Sequence[str] = ()) -> Sequence[Picture]:
    """Those with these ids or names, in the order of the set; all where none is given."""
    return chosen(FILMS, which, "video")


def find_film(which: str) -> Picture:
    """By id, or by name in words.

    >>> find_film("output landscape").id
    'landscape'
    """
    id = called(FILMS, which.strip(), "video")
    return next(film for film in FILMS if film.id == id)


def perform(picture: Picture, subject: Subject, shown: Sequence[int], theme: Theme, width: int) -> "Stage":
    """Everything computed and the stage set; drawing begins with the first frame that is asked for."""
    from matplotlib import rc_context

    from glassformer.draw.parts.frame import look

    with colours_for(subject.tokens), rc_context(look(theme)):
        stage: Stage = picture.functions.perform(picture.functions.compute(subject, shown), theme, width)
    return stage


def check_wishes(formats: Sequence[str], fps: float, every: int, width: int) -> None:
    """The one sentence for the first wish that cannot be granted."""
    for name in formats:
        if name not in FORMATS:
            raise unknown("format", name, FORMATS)
    if not formats:
        raise UserError(f"a video needs at least one format of {', '.join(FORMATS)}")
    require(1 <= fps <= FASTEST, "fps", f"between 1 and {FASTEST} frames a second", fps)
    require(every >= 1 and every == int(every), "every", "a whole number, at least 1", every)
    is_even = NARROWEST <= width <= WIDEST and width % 2 == 0
    require(is_even, "width", f"an even number of pixels from {NARROWEST} to {WIDEST}", width)
