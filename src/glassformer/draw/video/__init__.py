"""How a rule model learned: one frame a saved step, as MP4 (H.264) and GIF.

Axes, plane and colour scales are the same in all frames: limits are taken over all of them, the plane from
the last. What does not move is drawn once; a frame is a copy of it with the rest drawn on top, and goes
straight into the encoder, so that memory does not grow with the number of frames.

    render(subject, "embeddings", Path("videos"), ("mp4", "gif"))    videos/embeddings.mp4 and .gif
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glassformer.draw.measure.subject import Subject
from glassformer.draw.theme import THEMES, Theme
from glassformer.errors import UserError, require, unknown

if TYPE_CHECKING:
    from glassformer.draw.video.stage import Stage

FORMATS = ("mp4", "gif")
FASTEST = 60  # frames a second
NARROWEST, WIDEST = 320, 3840  # pixels


class Video(NamedTuple):
    """One entry of the set; its id is the name of its file and of its module in draw/video."""

    id: str
    name: str  # in words
    about: str  # what it shows, in a line

    def perform(self, subject: Subject, shown: Sequence[int], theme: Theme, width: int) -> "Stage":
        """Everything computed and the stage set; drawing begins with the first frame that is asked for."""
        from matplotlib import rc_context

        from glassformer.draw.parts.frame import look

        scene = import_module(f"glassformer.draw.video.{self.id}")
        with rc_context(look(theme)):
            stage: Stage = scene.perform(scene.compute(subject, shown), theme, width)
        return stage


VIDEOS: tuple[Video, ...] = (
    Video("embeddings", "embeddings", "tokens, positions and their sums"),
    Video("qkv", "queries, keys and values", "all token-position pairs after the three maps of each head"),
    Video("attention", "attention", "one sequence: queries and keys, scores and the attention map"),
    Video("landscape", "output landscape", "what the head says at every final state, and where contexts end"),
    Video(
        "residual", "residual stream", "one sequence: from embedding to sum to final state, and the answers"
    ),
)
BY_ID = {video.id: video for video in VIDEOS}


def chosen_videos(which: Sequence[str] = ()) -> Sequence[Video]:
    """Those with these ids, in the order of the set; all where none is given."""
    wanted = {video_called(name).id for name in which}
    return [video for video in VIDEOS if video.id in wanted] if which else VIDEOS


def video_called(which: str) -> Video:
    """By id, or by name in words."""
    by_name = {video.name: video for video in VIDEOS} | BY_ID
    if which.strip() not in by_name:
        raise unknown("video", which, BY_ID, "glassformer list figures")
    return by_name[which.strip()]


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
    from glassformer.draw.video.checkpoints import chosen_checkpoints
    from glassformer.draw.video.encoder import film
    from glassformer.runs.atomic import make_folder

    shown = chosen_checkpoints(subject, every)
    stage = video.perform(subject, shown, theme, width)
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
