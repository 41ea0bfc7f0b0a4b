"""All figures of an analysis or of a comparison as files, with their data and captions."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.theme import Theme
from glassformer.lens.results import Analysis
from glassformer.pictures.picture import Picture
from glassformer.pictures.pipeline import PictureStyle, draw_pictures
from glassformer.pictures.registry import COMPARISON, SPECTRA
from glassformer.pictures.save import require_formats, write_captions

if TYPE_CHECKING:
    from glassformer.lens.compare import Comparison


def _ignore_message(_: str) -> None:
    """Tells nobody."""


def draw_analysis(
    analysis: Analysis,
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None] = _ignore_message,
) -> list[Path]:
    """The figures that the analysis has data for; `tell` is given a sentence for each one that fails."""
    return _draw_anew(SPECTRA, analysis, folder, PictureStyle(formats, theme), tell)


def draw_comparison(
    both: "Comparison",
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None] = _ignore_message,
) -> list[Path]:
    """The same of two models."""
    return _draw_anew(COMPARISON, both, folder, PictureStyle(formats, theme), tell)


def _draw_anew(
    pictures: Sequence[Picture],
    subject: object,
    folder: Path,
    manner: PictureStyle,
    tell: Callable[[str], None],
) -> list[Path]:
    """In the place of what an earlier analysis left; where there is nothing to show, nothing is said."""
    require_formats(manner.formats)
    for picture in pictures:
        _take_away(picture, folder)
    drawn = draw_pictures(pictures, subject, folder, manner, is_forgiving=True)
    names = {picture.id: picture.name for picture in pictures}
    for id, reason in drawn.failed.items():
        tell(f"{id} {names[id]} could not be drawn ({reason})")
    if drawn.files:
        write_captions(folder, list(names))
    return drawn.files


def _take_away(picture: Picture, folder: Path) -> None:
    """What was drawn in the same folder before."""
    for path in [*folder.glob(f"{picture.id}_*"), *folder.glob(f"data/{picture.id}.safetensors")]:
        path.unlink()
