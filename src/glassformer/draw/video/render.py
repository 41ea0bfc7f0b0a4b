"""From a run to the files of one video: `render(subject, "qkv", folder, ("gif",))` writes folder/qkv.gif."""

from collections.abc import Sequence
from pathlib import Path

from glassformer.draw.measure.subject import Subject
from glassformer.draw.theme import THEMES, Theme
from glassformer.draw.video.checkpoints import chosen_checkpoints
from glassformer.draw.video.encoder import film
from glassformer.draw.video.registry import video_called
from glassformer.errors import UserError, require, unknown
from glassformer.runs.atomic import make_folder

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
    video = video_called(which)
    check_wishes(formats, fps, every, width)
    stage = video.perform(subject, chosen_checkpoints(subject, every), theme, width)
    make_folder(folder)
    return film(stage, folder / video.id, tuple(dict.fromkeys(formats)), fps)


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
