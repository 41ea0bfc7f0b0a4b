"""From a run to the files of one video.

`render_video(subject, "qkv", folder, ("gif",))` writes folder/qkv.gif.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.atomic import make_folder
from glassformer.core.errors import UserError, make_unknown_error, require_value
from glassformer.core.theme import THEMES, Theme, scale_token_colours
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.picture import Picture, choose_pictures, find_picture_id
from glassformer.pictures.registry import FILMS
from glassformer.pictures.video.checkpoints import choose_checkpoints
from glassformer.pictures.video.encoder import encode_film, find_ffmpeg

if TYPE_CHECKING:
    from glassformer.pictures.video.stage import Stage

_FORMATS = ("mp4", "gif")
_FASTEST = 60  # frames per second
_NARROWEST, _WIDEST = 320, 3840  # pixels


def render_video(
    subject: Subject,
    which: str,
    folder: Path,
    formats: Sequence[str] = ("mp4",),
    fps: float = 20,  # frames per second
    every: int = 1,  # every how many-th saved step; the first and the last are always there
    width: int = 1280,  # pixels
    theme: Theme = THEMES["light"],
) -> list[Path]:
    """Film one video of a run into `folder`, in each format; returns the paths."""
    picture = find_film(which)
    _require_film_options(formats, fps, every, width)
    if reason := picture.fits(subject):
        raise UserError(reason)
    find_ffmpeg()  # said before minutes of drawing
    stage = stage_film(picture, subject, choose_checkpoints(subject, every), theme, width)
    make_folder(folder)
    return encode_film(stage, folder / picture.file, tuple(dict.fromkeys(formats)), fps)


def choose_films(which: Sequence[str] = ()) -> Sequence[Picture]:
    """Those with these ids or names, in the order of the set; all where none is given."""
    return choose_pictures(FILMS, which, "video")


def find_film(which: str) -> Picture:
    """By id, or by name in words.

    >>> find_film("output landscape").id
    'landscape'
    """
    id = find_picture_id(FILMS, which.strip(), "video")
    return next(film for film in FILMS if film.id == id)


def stage_film(picture: Picture, subject: Subject, shown: Sequence[int], theme: Theme, width: int) -> "Stage":
    """Everything computed and the stage set; drawing begins with the first frame that is asked for."""
    from matplotlib import rc_context

    from glassformer.pictures.parts.frame import make_theme_settings

    with scale_token_colours(subject.tokens), rc_context(make_theme_settings(theme)):
        stage: Stage = picture.functions.perform(picture.functions.compute(subject, shown), theme, width)
    return stage


def _require_film_options(formats: Sequence[str], fps: float, every: int, width: int) -> None:
    """The one sentence for the first wish that cannot be granted."""
    for name in formats:
        if name not in _FORMATS:
            raise make_unknown_error("format", name, _FORMATS)
    if not formats:
        raise UserError(f"a video needs at least one format of {', '.join(_FORMATS)}")
    require_value(1 <= fps <= _FASTEST, "fps", f"between 1 and {_FASTEST} frames per second", fps)
    require_value(every >= 1 and every == int(every), "every", "a whole number, at least 1", every)
    is_even = _NARROWEST <= width <= _WIDEST and width % 2 == 0
    require_value(is_even, "width", f"an even number of pixels from {_NARROWEST} to {_WIDEST}", width)
