"""`glassformer video`: how a run's chosen seed learned, step by step.

From Python the same is `glassformer.video("runs/plus_last_even", which=["embeddings"])`.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.commands.draw import drawing_into, shortened, tuple_of
from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.shares import counted
from glassformer.draw.theme import theme_named
from glassformer.errors import UserError
from glassformer.runs.load import Loaded, load

VIDEOS = "videos"


@dataclass(frozen=True)
class VideoResult:
    """What `--json` prints."""

    files: list[str]
    seconds: float
    folder: str
    notes: list[str] = field(default_factory=list)  # what was done with the input


@dataclass(frozen=True)
class VideoWish:
    """What is to be filmed, and how."""

    which: tuple[str, ...] = ()  # empty: all
    sequences: tuple[str, ...] = ()  # the input that is followed, not of adders; empty: a chosen one
    pair: tuple[int, int] | None = None  # adders: the sum that is followed; none: one that always carries
    fps: float = 20.0  # frames a second
    every: int = 1  # every how many-th saved step; the first and the last are always there
    width: int = 1280  # pixels
    formats: tuple[str, ...] = ("mp4",)
    theme: str = "light"


def video(
    target: str | Path,
    wish: VideoWish | None = None,
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
    **wishes: Any,
) -> VideoResult:
    """Film the run that a target names; `video("runs/x", fps=25)` is short for a VideoWish."""
    from glassformer.draw.video import choose_films, render

    began = time.perf_counter()
    asked = wish or VideoWish(**{name: tuple_of(value) for name, value in wishes.items()})
    loaded = load(target, model)
    origin = trained_here(loaded)
    videos, theme = choose_films(asked.which), theme_named(asked.theme)
    subject = make_subject(loaded, loaded.name, origin, sequences=asked.sequences, pair=asked.pair)
    folder, files = Path(out) if out is not None else origin / VIDEOS, list[Path]()
    with drawing_into(folder, origin, len(videos), show, "videos") as tell:
        for one in videos:
            files += render(
                subject, one.id, folder, asked.formats, asked.fps, asked.every, asked.width, theme
            )
            if tell:
                tell(1)
    notes, seconds = shortened(asked.sequences, subject.context), round(time.perf_counter() - began, 3)
    return VideoResult([str(path) for path in files], seconds, str(folder), notes)


def trained_here(loaded: Loaded) -> Path:
    """The run folder, or why there is nothing to film."""
    name, folder = loaded.name, loaded.folder
    if folder is None:
        raise UserError(
            f"{name} has no saved steps to film: it was built by hand or came as finished weights; "
            "videos are made of a run folder"
        )
    return folder


def video_words(result: VideoResult) -> str:
    """The summary for people."""
    lines = [f"{result.folder}: {counted(len(result.files), 'video')} in {result.seconds:.1f} s"]
    lines += [f"  {Path(file).name}" for file in result.files]
    return "\n".join([*lines, *(f"  {note}" for note in result.notes)])
