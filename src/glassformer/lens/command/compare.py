"""`glassformer spectra A B`: two models, each in a folder of its own, and what changed between them.

OUT/first  OUT/second  OUT/change   the three analyses, as for one model; each resumes where it was
OUT/comparison.csv  comparison_heads.csv  comparison.md  summary.json  page.html  figures/
"""

from dataclasses import replace
from pathlib import Path

from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError
from glassformer.core.folder import refuse_file
from glassformer.core.words import join_words
from glassformer.lens.adapt.opened import open_target
from glassformer.lens.command.analyse import (
    AnalysisFiles,
    SpectraResult,
    StageClock,
    analyse_into_folder,
    make_spectra_result,
)
from glassformer.lens.command.input import AnalysisStyle, AnalysisWish, choose_layers
from glassformer.lens.command.pages import describe_analysis_page, write_analysis_page
from glassformer.lens.compare import Comparison, compare_analyses
from glassformer.lens.compare_tables import NAMES, make_comparison_tables, summarise_comparison
from glassformer.lens.compare_text import format_comparison_report, format_known_percent
from glassformer.lens.difference import LensModel, subtract_models
from glassformer.lens.plan import AnalysisRequest
from glassformer.lens.results import Analysis
from glassformer.lens.store import MANIFEST
from glassformer.lens.summary import summarise_analysis
from glassformer.lens.table_files import write_csv
from glassformer.lens.treatments import parse_treatments
from glassformer.lens.words import format_rank

_PAGE = "comparison.md"


def analyse_two_models(
    target: str,
    other: str,
    out: str | Path | None,
    asked: AnalysisWish,
    how: AnalysisStyle,
    clock: StageClock,
) -> SpectraResult:
    """Both models, and the second minus the first where they share weights."""
    first, second = (
        LensModel(*open_target(_require_weights(target))),
        LensModel(*open_target(_require_weights(other))),
    )
    wanted, also = asked.of(first.layout), asked.of(second.layout)
    names = _name_models_apart(first, second)
    folder = _choose_comparison_folder(out, names)
    one, made = analyse_into_folder(
        first.checkpoint, first.layout, wanted, folder / "first", how, clock, (target,)
    )
    two, also_made = analyse_into_folder(
        second.checkpoint, second.layout, also, folder / "second", how, clock, (other,)
    )
    change, changes, notes = _analyse_change(
        first, second, wanted, folder / "change", how, clock, (target, other)
    )
    both = compare_analyses(replace(one, name=names[0]), replace(two, name=names[1]), change)
    notes += _describe_pairing(both)
    files = _write_comparison(both, change, folder, how, notes)
    files += write_analysis_page(folder, summarise_comparison(both) | {"notes": list(notes)}, notes)
    files += [*made.files, *also_made.files, *changes]
    told = AnalysisFiles(files, list(dict.fromkeys([*made.notes, *also_made.notes, *notes])))
    result = make_spectra_result(both.first, wanted, folder, told, clock)
    return replace(result, comparison=summarise_comparison(both) | {"other": summarise_analysis(both.second)})


def _require_weights(target: str) -> str:
    if Path(target).suffix == ".csv":
        raise UserError(f"{target} is a table; two models are compared by their weights")
    return target


def _name_models_apart(first: LensModel, second: LensModel) -> tuple[str, str]:
    """Their names; with as much of the way to them as tells them apart where they have one name."""
    one, two = first.checkpoint, second.checkpoint
    if one.name != two.name:
        return one.name, two.name
    ways = [Path(checkpoint.source).resolve().parts for checkpoint in (one, two)]
    for length in range(2, max(map(len, ways)) + 1):
        ends = ["/".join(way[-length:]) for way in ways]
        if ends[0] != ends[1]:
            return ends[0], ends[1]
    return one.name, f"{two.name} again"


def _choose_comparison_folder(out: str | Path | None, names: tuple[str, str]) -> Path:
    """A-and-B.spectra here, or what the user says; never the folder of one model."""
    folder = Path(out) if out is not None else Path("-and-".join(names).replace("/", "-") + ".spectra")
    refuse_file(folder)
    if (folder / MANIFEST).exists():
        raise UserError(f"{folder} holds the analysis of one model; --out chooses another folder")
    return folder


def _analyse_change(
    first: LensModel,
    second: LensModel,
    wanted: AnalysisRequest,
    folder: Path,
    how: AnalysisStyle,
    clock: StageClock,
    targets: tuple[str, str],
) -> tuple[Analysis | None, list[Path], list[str]]:
    """The analysis of the second minus the first, and its files; a note where they share no weights."""
    if not wanted.has_matrices:
        return None, [], []
    try:
        model = subtract_models(first, second)
    except UserError as reason:
        return None, [], [f"{reason}: their ranks are compared, not their weights"]
    layers = [layer for layer in choose_layers(model.layout, None) if layer in wanted.layers]
    if not layers and not wanted.has_rest:
        return None, [], ["in these layers the models share no weight of one shape"]
    raw = replace(wanted, layers=tuple(layers), treatments=parse_treatments("raw"), relations="none")
    analysis, made = analyse_into_folder(model.checkpoint, model.layout, raw, folder, how, clock, targets)
    return analysis, made.files, made.notes


def _describe_pairing(both: Comparison) -> list[str]:
    """What is not one to one between the two."""
    notes = []
    one, two = both.first.layout, both.second.layout
    if one.layers != two.layers and both.weights:
        notes.append(f"the models have {one.layers} and {two.layers} layers, paired by index")
    types = [{m.weight.type for m in analysis.matrices} for analysis in (both.first, both.second)]
    for name, alone in ((both.first.name, types[0] - types[1]), (both.second.name, types[1] - types[0])):
        if alone:
            notes.append(f"only {name} has {join_words(sorted(alone))}")
    if both.first.kernels and both.second.kernels and not both.heads:
        what = "numbers of layers" if one.layers != two.layers else "numbers or sizes of heads"
        notes.append(f"the models have different {what}: heads are not compared one by one")
    return notes


def _write_comparison(
    both: Comparison, change: Analysis | None, folder: Path, how: AnalysisStyle, notes: list[str]
) -> list[Path]:
    """Tables, figures and the page; tables of an earlier and wider comparison go."""
    tables = make_comparison_tables(both)
    for name in {*NAMES} - {*tables}:
        (folder / f"{name}.csv").unlink(missing_ok=True)
    files = [write_csv(folder / f"{name}.csv", table) for name, table in tables.items()]
    figures = _draw_comparison_figures(both, change, folder, how, notes)
    shown = [path.relative_to(folder).as_posix() for path in figures]
    write_text(folder / _PAGE, format_comparison_report(both, shown, notes))
    return [*files, *figures, folder / _PAGE]


def _draw_comparison_figures(
    both: Comparison, change: Analysis | None, folder: Path, how: AnalysisStyle, notes: list[str]
) -> list[Path]:
    """The figures, if they are not there yet; one that fails loses no numbers and is tried again."""
    if not how.pictures:
        return []
    from glassformer.core.theme import find_theme
    from glassformer.lens.drawn import draw_figures_once, forget_drawn_figures, stamp_analysis
    from glassformer.lens.figures.draw import draw_comparison

    failed: list[str] = []

    def draw(into: Path) -> list[Path]:
        return draw_comparison(both, into, how.pictures, find_theme(how.theme), failed.append)

    others = [stamp_analysis(one, (one.name,)) for one in (both.second, change) if one]
    files = draw_figures_once(folder, both.first, (*how.pictures, how.theme, both.first.name, *others), draw)
    if failed:
        forget_drawn_figures(folder)
    notes += failed
    return files


def describe_comparison_result(result: SpectraResult) -> list[str]:
    """What changed, for people: one line per weight type, in columns."""
    content = result.comparison or {}
    rows = [_describe_type(name, one) for name, one in content["weights"].items()]
    wide = [max((len(row[place]) for row in rows), default=0) for place in range(2)]
    lines = [f"  {name:<{wide[0]}}  {ranks:>{wide[1]}}  {change}".rstrip() for name, ranks, change in rows]
    title = f"against {content['second']}" + (", mean effective ranks of both:" if rows else "")
    page = Path(result.folder or "") / _PAGE
    said = [title, *lines, *_describe_heads(content), *describe_analysis_page(result.folder, result.files)]
    return [*said, f"next: {page}, and the folders beside it"]


def _describe_type(name: str, one: dict[str, float | None]) -> tuple[str, str, str]:
    ranks = f"{format_rank(one['mean'] or 0)} and {format_rank(one['other_mean'] or 0)}"
    if not one["subtracted"]:
        return name, ranks, ""
    if not one["changed"]:
        return name, ranks, "nothing changed"
    norm, rank = one["change_norm"], one["change_eff_rank"] or 0
    by = f", by {format_known_percent(norm)}" if norm is not None else ""
    count = f"{one['changed']:g} of {one['subtracted']:g} changed"
    return name, ranks, f"{count}{by}, effective rank of the change {format_rank(rank)}"


def _describe_heads(content: dict[str, list[dict[str, float]]]) -> list[str]:
    most = content["heads_changed_most"][:1]
    return [
        f"  the head that changed most: {one['kernel']} of layer {one['layer']} head {one['head']}, "
        f"effective rank {one['by']:+.2f}"
        for one in most
    ]
