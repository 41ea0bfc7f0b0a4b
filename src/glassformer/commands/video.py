"""`glassformer video`: how a run's chosen seed learned, step by step."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glassformer.commands.values import read_pair
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError
from glassformer.core.values import list_texts, split_list

if TYPE_CHECKING:
    from glassformer.runs.load import LoadedModel

_VIDEOS = "videos"


@dataclass(frozen=True)
class VideoResult:
    """What `--json` prints."""

    files: list[str]
    seconds: float
    folder: str
    notes: list[str] = field(default_factory=list)  # what was done with the input


def video(
    target: str | Path,
    *,
    which: str | Sequence[str] = (),
    sequences: Sequence[str] = (),
    pair: str | tuple[int, int] | None = None,
    fps: float = 20.0,
    every: int = 1,
    width: int = 1280,
    formats: str | Sequence[str] = "mp4",
    theme: Literal["light", "dark", "print"] = "light",
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
) -> VideoResult:
    """Make videos of how a run learned.

    Args:
        target (TARGET): a run folder or a run's name
        which (NAMES): names of videos, separated by commas (glassformer list figures; default: all)
        sequences (--sequence "4 1 +"): rules and questions: the input to follow
        pair (A+B): adders: the sum to follow
        fps (N): frames per second
        every (N): use every N-th saved step
        width (PIXELS): width of the video
        formats (--format mp4,gif): file formats (default: mp4)
        theme: colour theme
        out (FOLDER): where to write (default: videos/ in the run folder)
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer video runs/plus_last_even                      all videos, into runs/plus_last_even/videos
        glassformer video runs/lucky7 --which embeddings,landscape --format mp4,gif --fps 25 --width 960
    """
    from glassformer.commands.draw_figures import describe_cuts, draw_into_folder
    from glassformer.core.theme import find_theme
    from glassformer.pictures.measure.prepare import make_subject
    from glassformer.pictures.video import choose_films, render_video
    from glassformer.runs.load import load_model

    began, asked, endings = time.perf_counter(), list_texts(sequences), split_list(formats)
    two_numbers = read_pair(pair)
    loaded = load_model(target, model)
    run_folder = _require_run_folder(loaded)
    films, colours = choose_films(split_list(which)), find_theme(theme)
    subject = make_subject(loaded, loaded.name, run_folder, sequences=asked, pair=two_numbers)
    folder, files = Path(out) if out is not None else run_folder / _VIDEOS, list[Path]()
    with draw_into_folder(folder, run_folder, len(films), show, "videos") as tell:
        for film in films:
            files += render_video(subject, film.id, folder, endings, fps, every, width, colours)
            if tell:
                tell(1)
    seconds = round(time.perf_counter() - began, 3)
    return VideoResult(
        [str(path) for path in files], seconds, str(folder), describe_cuts(asked, subject.context)
    )


def _require_run_folder(loaded: "LoadedModel") -> Path:
    """The run folder, or why there is nothing to film."""
    if loaded.folder is None:
        raise UserError(
            f"{loaded.name} has no saved steps to film: it was built by hand or came as finished weights; "
            "videos are made of a run folder"
        )
    return loaded.folder


def answer_video(result: VideoResult, request: Request) -> Answer:
    """The summary for people."""
    from glassformer.core.words import format_count

    lines = [f"{result.folder}: {format_count(len(result.files), 'video')} in {result.seconds:.1f} s"]
    lines += [f"  {Path(file).name}" for file in result.files]
    return Answer(asdict(result), "\n".join([*lines, *(f"  {note}" for note in result.notes)]))
