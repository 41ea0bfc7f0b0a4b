"""The five videos, by name. Nothing here needs matplotlib until a stage is set."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from glassformer.draw.measure.subject import Subject
from glassformer.draw.theme import Theme
from glassformer.errors import unknown

if TYPE_CHECKING:
    from glassformer.draw.video.stage import Stage


class Video(NamedTuple):
    """One entry of the set; its id is the name of its file and of its module in draw/video/scenes."""

    id: str
    name: str  # in words
    about: str  # what it shows, in a line

    def perform(self, subject: Subject, shown: Sequence[int], theme: Theme, width: int) -> "Stage":
        """Everything computed and the stage set; drawing begins with the first frame that is asked for."""
        from matplotlib import rc_context

        from glassformer.draw.parts.frame import look

        scene = import_module(f"glassformer.draw.video.scenes.{self.id}")
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


def chosen_videos(which: Sequence[str] = ()) -> Sequence[Video]:
    """Those with these ids or names, in the order of the set; all where none is given."""
    wanted = {video_called(name).id for name in which}
    return [video for video in VIDEOS if video.id in wanted] if which else VIDEOS


def video_called(which: str) -> Video:
    """By id, or by name in words.

    >>> video_called("output landscape").id
    'landscape'
    """
    by_id = {video.id: video for video in VIDEOS}
    by_name = {video.name: video for video in VIDEOS} | by_id
    if which.strip() not in by_name:
        raise unknown("video", which, by_id, "glassformer list figures")
    return by_name[which.strip()]
