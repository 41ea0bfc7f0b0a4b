"""From a subject to the files of its pictures: compute, draw, save figure, data and caption.

The one way for figures, panels, posters and spectra; films go frame by frame (pictures/video/render.py).
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.core.waiting import TellCount
from glassformer.pictures.picture import Data, Picture
from glassformer.pictures.save import save_data, save_figure
from glassformer.scale.engine import Engine
from glassformer.scale.here import LocalEngine


@dataclass(frozen=True)
class PictureStyle:
    """How pictures are drawn, and what their data say besides."""

    formats: Sequence[str]
    theme: Theme
    about: Mapping[str, Any] = field(default_factory=dict)  # as the model's name and step


@dataclass(frozen=True)
class _DrawnPictures:
    """What came of a set of pictures."""

    files: list[Path] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # picture to why there is nothing to show
    failed: dict[str, str] = field(default_factory=dict)  # picture to what went wrong


@dataclass(frozen=True, eq=False)
class _PictureUnit:
    """A picture whose data are there: any process can draw it."""

    picture: Picture
    data: Data
    folder: Path
    manner: PictureStyle
    is_forgiving: bool


def draw_pictures(
    pictures: Sequence[Picture],
    subject: object,
    folder: Path,
    manner: PictureStyle,
    tell: TellCount | None = None,
    is_forgiving: bool = False,
    engine: Engine | None = None,
) -> _DrawnPictures:
    """Each picture by itself; `is_forgiving`: what a drawing library raises loses that picture alone.

    Data are computed here, pictures are drawn by the engine: in this process where none is given.
    """
    drawn, units = _DrawnPictures(), list[_PictureUnit]()
    for picture in pictures:
        try:
            data = compute_picture(picture, subject)
        except Exception as error:
            if not is_forgiving:
                raise
            drawn.failed[picture.id] = _describe_failure(error)
            continue
        if isinstance(data, str):
            drawn.skipped[picture.id] = data
        else:
            drawable = replace(picture, needs=())  # asked already, and functions do not travel
            units.append(_PictureUnit(drawable, data, folder, manner, is_forgiving))
    if tell:
        tell(len(pictures) - len(units))
    found = dict[str, list[Path] | str]()
    for unit, made in (engine or LocalEngine()).work(_draw_unit, units):
        found[unit.picture.id] = made
        if tell:
            tell(1)
    for unit in units:  # in the order of the set, whoever was first
        made = found[unit.picture.id]
        if isinstance(made, str):
            drawn.failed[unit.picture.id] = made
        else:
            drawn.files.extend(made)
    return drawn


def _draw_unit(unit: _PictureUnit) -> list[Path] | str:
    """The files of a picture, or what went wrong."""
    try:
        return _save_picture(unit.picture, unit.data, unit.folder, unit.manner)
    except Exception as error:
        if not unit.is_forgiving:
            raise
        return _describe_failure(error)


def _describe_failure(error: Exception) -> str:
    """On one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def compute_picture(picture: Picture, subject: object) -> Data | str:
    """The data, or why there are none: the model has nothing to show there."""
    if reason := picture.fits(subject):
        return reason
    try:
        return picture.compute(subject)
    except UserError as error:
        return str(error)


def _save_picture(picture: Picture, data: Data, folder: Path, manner: PictureStyle) -> list[Path]:
    """One picture in each format, its data and its caption."""
    stem = picture.file_of(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")  # of a name in letters that our font does not have
        figure = picture.draw(data, manner.theme)
        files = save_figure(figure, folder / stem, manner.formats, manner.theme, picture.dpi)
    about = {"name": picture.name, "caption": picture.caption(data), "file": f"{stem}.{manner.formats[0]}"}
    save_data(folder, picture.id, data, {**about, **manner.about})
    return files
