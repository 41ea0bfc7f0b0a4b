"""The folder of one checkpoint, from its weights to tables, figures, report and page."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.core.atomic import lock_folder, write_text
from glassformer.core.errors import UserError
from glassformer.core.waiting import show_share_bar, show_status
from glassformer.lens.adapt.opened import open_target
from glassformer.lens.command.input import (
    AnalysisStyle,
    AnalysisWish,
    choose_analysis_folder,
    require_style_choices,
)
from glassformer.lens.command.pages import summarise_model, write_analysis_page
from glassformer.lens.layout import ModelLayout
from glassformer.lens.plan import AnalysisRequest
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.results import Analysis
from glassformer.lens.treatments import describe_unused_treatments

REPORT = "report.md"
_PAGE_FORMATS = (".png", ".svg")
_SHOWN = 4  # figures in a notebook


@dataclass(frozen=True)
class SpectraResult:
    """What `--json` prints."""

    folder: str | None  # none for a table, which is only told about
    model: str
    architecture: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    qk_effective_rank: dict[str, Any] | None  # none where no heads were read
    ov_effective_rank: dict[str, Any] | None
    weights: dict[str, dict[str, Any]]
    notes: list[str]
    seconds: float
    first_result_seconds: float | None = None  # until the first numbers were in the folder
    peak_memory_mb: float | None = None
    treatments: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    comparison: dict[str, Any] | None = None  # with a second model; the fields above are of the first

    def _repr_html_(self) -> str:
        """The first figures, in a notebook."""
        from glassformer.pictures.notebook import embed_pictures

        return embed_pictures([file for file in self.files if file.endswith(".png")][:_SHOWN])


@dataclass(frozen=True)
class AnalysisFiles:
    """What is in the folder now, and what the user must be told about it."""

    files: list[Path]
    notes: list[str]


def analyse_target(
    target: str, other: str | None, out: str | Path | None, asked: AnalysisWish, how: AnalysisStyle
) -> SpectraResult:
    """Analyse a checkpoint into a folder, or resume what the folder holds.

    With `other`, both and what changed from the first to the second.
    """
    clock = StageClock(time.perf_counter())
    require_style_choices(how)
    if other is not None:
        from glassformer.lens.command.compare import analyse_two_models

        return analyse_two_models(target, other, out, asked, how, clock)
    if Path(target).suffix == ".csv":
        if out is not None or asked.layers is not None or asked.heads_only:
            raise UserError(
                f"{target} is a table, always shown whole; --out, --layers and --heads are for models"
            )
        return _analyse_table(Path(target), clock)
    checkpoint, layout = open_target(target)
    wanted = asked.of(layout)
    folder = choose_analysis_folder(out, checkpoint)
    analysis, made = analyse_into_folder(checkpoint, layout, wanted, folder, how, clock, (target,))
    return make_spectra_result(analysis, wanted, folder, made, clock)


def analyse_into_folder(
    checkpoint: Checkpoint,
    layout: ModelLayout,
    wanted: AnalysisRequest,
    folder: Path,
    how: AnalysisStyle,
    clock: "StageClock",
    targets: tuple[str, ...] = (),
) -> tuple[Analysis, AnalysisFiles]:
    """The folder of one checkpoint: units, tables, figures and report. `targets` open it on other workers."""
    from glassformer.lens.analyse import analyse_checkpoint
    from glassformer.lens.store import open_store
    from glassformer.lens.tables import write_analysis_tables

    with lock_folder(folder):
        store = open_store(folder, checkpoint, layout.architecture, wanted.numbers, how.overwrite)
        with show_share_bar(how.show) as tell:
            told, place = clock.telling(tell), how.elsewhere(targets, wanted.device)
            analysis = analyse_checkpoint(checkpoint, layout, wanted, store, told, how.workers, place)
        with show_status("tables and figures", how.show):
            files = write_analysis_tables(folder, analysis, how.singular_values)
            store.take_away(files)
            clock.stop_first()
            made = AnalysisFiles(files, list(describe_unused_treatments(layout, wanted.treatments)))
            _draw_analysis_figures(folder, analysis, how, made)
            write_text(folder / REPORT, _make_folder_report(analysis, folder, made))
            page = write_analysis_page(folder, summarise_model(analysis, made.notes), made.notes)
    return analysis, AnalysisFiles([*made.files, folder / REPORT, *page], made.notes)


def _draw_analysis_figures(folder: Path, analysis: Analysis, how: AnalysisStyle, made: AnalysisFiles) -> None:
    """The figures, if they are asked for and not there yet; one that fails is told and tried again."""
    if not how.pictures:
        return
    from glassformer.core.theme import find_theme
    from glassformer.lens.drawn import draw_figures_once, forget_drawn_figures
    from glassformer.lens.figures.draw import draw_analysis

    failed: list[str] = []

    def draw(into: Path) -> list[Path]:
        return draw_analysis(analysis, into, how.pictures, find_theme(how.theme), failed.append)

    try:
        made.files.extend(draw_figures_once(folder, analysis, (*how.pictures, how.theme), draw))
    except Exception as error:  # whatever a drawing library raises: the tables are what counts
        failed.append(f"the figures could not be drawn ({type(error).__name__}: {error})")
    if failed:
        forget_drawn_figures(folder)
    made.notes.extend(failed)


def _make_folder_report(analysis: Analysis, folder: Path, made: AnalysisFiles) -> str:
    """The page, with the figures that a page can show."""
    from glassformer.lens.report import format_analysis_report

    shown = [path for path in made.files if path.suffix in _PAGE_FORMATS]
    best = shown[0].suffix if shown else ""
    figures = [path.relative_to(folder).as_posix() for path in shown if path.suffix == best]
    return format_analysis_report(analysis, figures, made.notes)


def make_spectra_result(
    analysis: Analysis, wanted: AnalysisRequest, folder: Path, made: AnalysisFiles, clock: "StageClock"
) -> SpectraResult:
    from glassformer.lens.summary import summarise_analysis

    content = summarise_analysis(analysis)
    content["notes"] += made.notes
    return SpectraResult(
        folder=str(folder),
        **content,
        seconds=clock.now(),
        first_result_seconds=clock.first,
        peak_memory_mb=_measure_peak_memory(),
        treatments=[treatment.name for treatment in wanted.treatments],
        files=[str(path) for path in made.files],
    )


def _analyse_table(path: Path, clock: "StageClock") -> SpectraResult:
    """The weights over depth of a table in the published columns."""
    from glassformer.lens.published import read_published_table
    from glassformer.lens.summary import summarise_courses

    courses = read_published_table(path)
    layers = len({layer for course in courses.values() for layer in course.layers})
    weights = summarise_courses(courses)
    return SpectraResult(None, path.stem, "table", layers, 0, 0, 0, None, None, weights, [], clock.now())


@dataclass
class StageClock:
    """Seconds since the command began, and those to the first result."""

    began: float
    first: float | None = None

    def now(self) -> float:
        return round(time.perf_counter() - self.began, 3)

    def stop_first(self) -> None:
        self.first = self.first or self.now()

    def telling(self, tell: Callable[[float, str], object]) -> Callable[[float, str], object]:
        def told(share: float, name: str) -> None:
            self.stop_first()
            tell(share, name)

        return told


def _measure_peak_memory() -> float:
    """The most memory that the process held so far."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)
