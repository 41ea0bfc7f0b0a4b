"""Figures are drawn once: an analysis that is only told again keeps those that it has."""

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from glassformer.core.atomic import write_json
from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json
from glassformer.lens.results import Analysis

_FIGURES, _STAMP = "figures", "drawn.json"


def draw_figures_once(
    folder: Path, analysis: Analysis, manner: Sequence[str], draw: Callable[[Path], list[Path]]
) -> list[Path]:
    """The figures of this analysis in this manner, from the folder where they are there already."""
    into = folder / _FIGURES
    mark = stamp_analysis(analysis, manner)
    if there := _find_stamped_figures(into, mark):
        return there
    files = draw(into)
    if files:
        write_json(into / _STAMP, {"of": mark, "files": [path.name for path in files]})
    return files


def forget_drawn_figures(folder: Path) -> None:
    """So that figures that failed are tried again."""
    (folder / _FIGURES / _STAMP).unlink(missing_ok=True)


def _find_stamped_figures(folder: Path, mark: str) -> list[Path]:
    """The files that were drawn under this mark; none where one of them is gone."""
    try:
        content = read_json(folder / _STAMP)
        files = [folder / name for name in content["files"]] if content["of"] == mark else []
    except (UserError, TypeError, KeyError):
        return []
    return files if all(path.is_file() for path in files) else []


def stamp_analysis(analysis: Analysis, manner: Sequence[str]) -> str:
    """Of every number that a figure may show."""
    digest = hashlib.sha256(repr((version("glassformer"), *manner, analysis.layout)).encode())
    for values in [one.values for one in analysis.matrices] + [one.values for one in analysis.kernels]:
        digest.update(values.tobytes())
    related = analysis.relations
    for array in (*related.similarity.values(), *related.composition.values()) if related else ():
        digest.update(array.tobytes())
    return digest.hexdigest()
