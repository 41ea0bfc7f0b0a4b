"""`glassformer spectra`: the spectra of every weight matrix and attention head of a checkpoint.

From Python the same is `glassformer.spectra("model.gguf", layers="0-5", treatments="raw,folded")`.
"""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.commands.spectra_input import Asked, Manner, check_manner, chosen_folder
from glassformer.commands.spectra_pages import model_summary, page_words, pages
from glassformer.commands.waiting import share_bar, waiting
from glassformer.errors import UserError
from glassformer.runs.atomic import locked, write_text
from glassformer.spectra.adapt.opened import opened
from glassformer.spectra.layout import Layout
from glassformer.spectra.plan import Pairs, Wanted
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.results import Analysis
from glassformer.spectra.treatments import parse_treatments, treatment_notes

REPORT = "report.md"
PAGE_FORMATS = (".png", ".svg")
SHOWN = 4  # figures in a notebook


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
        from glassformer.commands.draw import DrawResult

        pictures = [file for file in self.files if file.endswith(".png")]
        return DrawResult(pictures[:SHOWN], self.seconds, self.folder or "")._repr_html_()


@dataclass(frozen=True)
class Made:
    """What is in the folder now, and what the user must be told about it."""

    files: list[Path]
    notes: list[str]


def spectra(
    target: str | Path,
    other: str | Path | None = None,
    out: str | Path | None = None,
    layers: str | None = None,
    heads_only: bool = False,
    treatments: str = "raw",
    relations: Pairs = "near",
    top: int = 16,
    device: str = "cpu",
    **manner: Any,
) -> SpectraResult:
    """Analyse a checkpoint into a folder, or go on with what the folder holds; `manner`: see Manner.

    With `other`, both and what changed from the first to the second.
    """
    clock, how = Clock(time.perf_counter()), Manner(**manner)
    check_manner(how)
    is_here = how.engine == "here"
    asked = Asked(layers, heads_only, parse_treatments(treatments), relations, top, device, is_here)
    if other is not None:
        from glassformer.commands.spectra_compare import spectra_of_two

        return spectra_of_two(str(target), str(other), out, asked, how, clock)
    if Path(target).suffix == ".csv":
        if out is not None or layers is not None or heads_only:
            raise UserError(
                f"{target} is a table, which is told as a whole; --out, --layers and --heads are for models"
            )
        return table_result(Path(target), clock)
    checkpoint, layout = opened(str(target))
    wanted = asked.of(layout)
    folder = chosen_folder(out, checkpoint)
    analysis, made = analysed(checkpoint, layout, wanted, folder, how, clock, (str(target),))
    return spectra_result(analysis, wanted, folder, made, clock)


def analysed(
    checkpoint: Checkpoint,
    layout: Layout,
    wanted: Wanted,
    folder: Path,
    how: Manner,
    clock: "Clock",
    targets: tuple[str, ...] = (),
) -> tuple[Analysis, Made]:
    """The folder of one checkpoint: units, tables, figures and report. `targets` open it on other workers."""
    from glassformer.spectra.analyse import analyse
    from glassformer.spectra.store import open_store
    from glassformer.spectra.tables import write_tables

    with locked(folder):
        store = open_store(folder, checkpoint, layout.architecture, wanted.numbers, how.overwrite)
        with share_bar(how.show) as tell:
            told, place = clock.telling(tell), how.elsewhere(targets, wanted.device)
            analysis = analyse(checkpoint, layout, wanted, store, told, how.workers, place)
        with waiting("tables and figures", how.show):
            files = write_tables(folder, analysis, how.singular_values)
            store.take_away(files)
            clock.stop_first()
            made = Made(files, list(treatment_notes(layout, wanted.treatments)))
            draw_into(folder, analysis, how, made)
            write_text(folder / REPORT, report(analysis, folder, made))
            page = pages(folder, model_summary(analysis, made.notes), made.notes)
    return analysis, Made([*made.files, folder / REPORT, *page], made.notes)


def draw_into(folder: Path, analysis: Analysis, how: Manner, made: Made) -> None:
    """The figures, if they are asked for and not there yet; one that fails is told and tried again."""
    if not how.pictures:
        return
    from glassformer.draw.spectra.draw import draw_analysis
    from glassformer.draw.theme import theme_named
    from glassformer.spectra.drawn import figures_once, forget_drawn

    failed: list[str] = []

    def draw(into: Path) -> list[Path]:
        return draw_analysis(analysis, into, how.pictures, theme_named(how.theme), failed.append)

    try:
        made.files.extend(figures_once(folder, analysis, (*how.pictures, how.theme), draw))
    except Exception as error:  # whatever a drawing library raises: the tables are what counts
        failed.append(f"the figures could not be drawn ({type(error).__name__}: {error})")
    if failed:
        forget_drawn(folder)
    made.notes.extend(failed)


def report(analysis: Analysis, folder: Path, made: Made) -> str:
    """The page, with the figures that a page can show."""
    from glassformer.spectra.report import report_text

    shown = [path for path in made.files if path.suffix in PAGE_FORMATS]
    best = shown[0].suffix if shown else ""
    figures = [path.relative_to(folder).as_posix() for path in shown if path.suffix == best]
    return report_text(analysis, figures, made.notes)


def spectra_result(
    analysis: Analysis, wanted: Wanted, folder: Path, made: Made, clock: "Clock"
) -> SpectraResult:
    from glassformer.spectra.summary import summary

    content = summary(analysis)
    content["notes"] += made.notes
    return SpectraResult(
        folder=str(folder),
        **content,
        seconds=clock.now(),
        first_result_seconds=clock.first,
        peak_memory_mb=peak_memory_mb(),
        treatments=[treatment.name for treatment in wanted.treatments],
        files=[str(path) for path in made.files],
    )


def table_result(path: Path, clock: "Clock") -> SpectraResult:
    """The weights over depth of a table in the published columns."""
    from glassformer.spectra.published import read_table
    from glassformer.spectra.summary import courses_summary

    courses = read_table(path)
    layers = len({layer for course in courses.values() for layer in course.layers})
    weights = courses_summary(courses)
    return SpectraResult(None, path.stem, "table", layers, 0, 0, 0, None, None, weights, [], clock.now())


@dataclass
class Clock:
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


def peak_memory_mb() -> float:
    """The most memory that the process held so far."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def spectra_words(result: SpectraResult, target: str) -> str:
    """The summary for people."""
    from glassformer.spectra.summary import summary_words

    where = f"{result.folder}: " if result.folder else ""
    size = f"{result.layers} layer{'' if result.layers == 1 else 's'}"
    first = f"{where}{result.model}, {result.architecture}, {size}, in {result.seconds:.1f} s"
    lines = [first, *(f"  {line}" for line in summary_words(vars(result)))]
    if result.folder is None:
        return "\n".join(lines)
    if result.comparison:
        from glassformer.commands.spectra_compare import comparison_words

        return "\n".join([*lines, *comparison_words(result)])
    lines.append(f"  {len(result.files)} files; what they say in words: {Path(result.folder) / REPORT}")
    lines += page_words(result.folder, result.files)
    if not result.weights:
        lines.append(f"next: glassformer spectra {target}    (the matrices too; the heads are kept)")
    elif result.treatments == ["raw"] and result.heads:
        lines.append(f"next: glassformer spectra {target} --treatments folded    (with the norms' gains)")
    return "\n".join(lines)
