"""All figures of an analysis or of a comparison as files, with their data and captions."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.draw.save import check_formats, save_data, save_figure, write_captions
from glassformer.draw.spectra.picture import Data, SpectralPicture
from glassformer.draw.spectra.registry import COMPARISON, SPECTRA
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis

if TYPE_CHECKING:
    from glassformer.spectra.compare import Comparison


def silent(_: str) -> None:
    """Tells nobody."""


def draw_analysis(
    analysis: Analysis,
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None] = silent,
) -> list[Path]:
    """The figures that the analysis has data for; `tell` is given a sentence for each one that fails."""
    return draw_set(SPECTRA, analysis, folder, formats, theme, tell)


def draw_comparison(
    both: "Comparison",
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None] = silent,
) -> list[Path]:
    """The same of two models."""
    return draw_set(COMPARISON, both, folder, formats, theme, tell)


def draw_set(
    pictures: Sequence[SpectralPicture],
    subject: Any,
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None],
) -> list[Path]:
    """Each figure by itself, in the place of what an earlier analysis left; one that fails loses no other."""
    check_formats(formats)
    written: list[Path] = []
    for picture in pictures:
        take_away(picture, folder)
        try:
            data = shown(picture, subject)
            written += draw_one(picture, data, folder, formats, theme) if data else []
        except Exception as error:  # whatever a drawing library raises: the tables are what counts
            reason = " ".join(f"{type(error).__name__}: {error}".split())  # on one line
            tell(f"{picture.id} {picture.name} could not be drawn ({reason})")
    if written:
        write_captions(folder, [picture.id for picture in pictures])
    return written


def shown(picture: SpectralPicture, subject: Any) -> Data | None:
    """What the figure shows; none where there is nothing, and the page has no section of it either."""
    try:
        return picture.compute(subject)
    except UserError:
        return None


def take_away(picture: SpectralPicture, folder: Path) -> None:
    """What was drawn in the same folder before."""
    for path in [*folder.glob(f"{picture.id}_*"), *folder.glob(f"data/{picture.id}.safetensors")]:
        path.unlink()


def draw_one(
    picture: SpectralPicture, data: Data, folder: Path, formats: Sequence[str], theme: Theme
) -> list[Path]:
    """One figure in each format, and its data."""
    file = picture.file(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")  # of a name in letters that our font does not have
        written = save_figure(picture.draw(data, theme), folder / file, formats, theme)
    about = {"name": picture.name, "file": written[0].name, "caption": picture.caption(data)}
    save_data(folder, picture.id, data, about)
    return written
