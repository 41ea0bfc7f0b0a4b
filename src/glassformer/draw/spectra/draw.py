"""All figures of an analysis or of a comparison as files, with their data and captions."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.draw.save import check_formats, save_data, save_figure, write_captions
from glassformer.draw.spectra.picture import SpectralPicture
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
    """The figures that the analysis has data for; `tell` is given a sentence for each one left out."""
    check_formats(formats)
    written: list[Path] = []
    for picture in SPECTRA:
        try:
            written += draw_one(picture, analysis, folder, formats, theme)
        except UserError as reason:
            tell(f"{picture.id} {picture.name} is left out: {reason}")
    if written:
        write_captions(folder, [picture.id for picture in SPECTRA])
    return written


def draw_comparison(
    both: "Comparison",
    folder: Path,
    formats: Sequence[str],
    theme: Theme,
    tell: Callable[[str], None] = silent,
) -> list[Path]:
    """The figures that two models have data for; `tell` is given a sentence for each one that fails."""
    check_formats(formats)
    written: list[Path] = []
    for picture in COMPARISON:
        take_away(picture, folder)
        try:
            written += draw_one(picture, both, folder, formats, theme)
        except UserError:
            continue  # nothing to show, which the page says already
        except Exception as error:  # whatever a drawing library raises: the tables are what counts
            tell(f"{picture.id} {picture.name} could not be drawn ({type(error).__name__}: {error})")
    if written:
        write_captions(folder, [picture.id for picture in COMPARISON])
    return written


def take_away(picture: SpectralPicture, folder: Path) -> None:
    """What an earlier comparison in the same folder drew."""
    for path in [*folder.glob(f"{picture.id}_*"), *folder.glob(f"data/{picture.id}.safetensors")]:
        path.unlink()


def draw_one(
    picture: SpectralPicture, subject: Any, folder: Path, formats: Sequence[str], theme: Theme
) -> list[Path]:
    """One figure in each format, and its data."""
    data = picture.compute(subject)
    file = picture.file(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")  # of a name in letters that our font does not have
        written = save_figure(picture.draw(data, theme), folder / file, formats, theme)
    about = {"name": picture.name, "file": written[0].name, "caption": picture.caption(data)}
    save_data(folder, picture.id, data, about)
    return written
