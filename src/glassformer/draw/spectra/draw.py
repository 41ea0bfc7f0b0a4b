"""All figures of an analysis as files, with their data and captions."""

from collections.abc import Callable, Sequence
from pathlib import Path

from glassformer.draw.save import check_formats, save_data, save_figure, write_captions
from glassformer.draw.spectra.picture import SpectralPicture
from glassformer.draw.spectra.registry import SPECTRA
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.spectra.results import Analysis


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


def draw_one(
    picture: SpectralPicture, analysis: Analysis, folder: Path, formats: Sequence[str], theme: Theme
) -> list[Path]:
    """One figure in each format, and its data."""
    data = picture.compute(analysis)
    file = picture.file(data)
    written = save_figure(picture.draw(data, theme), folder / file, formats, theme)
    about = {"name": picture.name, "file": written[0].name, "caption": picture.caption(data)}
    save_data(folder, picture.id, data, about)
    return written
