"""`glassformer spectra A B`: two models, each in a folder of its own, and what changed between them.

OUT/first  OUT/second  OUT/change   the three analyses, as for one model; each goes on where it was
OUT/comparison.csv  comparison_heads.csv  comparison.md  summary.json  page.html  figures/
"""

from dataclasses import replace
from pathlib import Path

from glassformer.commands.spectra import Clock, Made, SpectraResult, analysed, spectra_result
from glassformer.commands.spectra_input import Asked, Manner, chosen_layers
from glassformer.commands.spectra_pages import page_words, pages
from glassformer.errors import UserError
from glassformer.runs.atomic import write_text
from glassformer.spectra.adapt.opened import opened
from glassformer.spectra.compare import Comparison, compare
from glassformer.spectra.compare_tables import NAMES, comparison_summary, comparison_tables
from glassformer.spectra.compare_text import comparison_report, percent
from glassformer.spectra.difference import Model, difference
from glassformer.spectra.plan import Wanted
from glassformer.spectra.results import Analysis
from glassformer.spectra.store import MANIFEST
from glassformer.spectra.summary import summary
from glassformer.spectra.table_files import write_csv
from glassformer.spectra.treatments import parse_treatments
from glassformer.spectra.words import listed, rank_text

PAGE = "comparison.md"


def spectra_of_two(
    target: str, other: str, out: str | Path | None, asked: Asked, how: Manner, clock: Clock
) -> SpectraResult:
    """Both models, and the second less the first where they share weights."""
    first, second = Model(*opened(checked(target))), Model(*opened(checked(other)))
    wanted, also = asked.of(first.layout), asked.of(second.layout)
    names = names_apart(first, second)
    folder = chosen_place(out, names)
    one, made = analysed(first.checkpoint, first.layout, wanted, folder / "first", how, clock, (target,))
    two, also_made = analysed(second.checkpoint, second.layout, also, folder / "second", how, clock, (other,))
    change, changes, notes = changed(first, second, wanted, folder / "change", how, clock, (target, other))
    both = compare(replace(one, name=names[0]), replace(two, name=names[1]), change)
    notes += pairing_notes(both)
    files = write_comparison(both, change, folder, how, notes)
    files += pages(folder, comparison_summary(both) | {"notes": list(notes)}, notes)
    files += [*made.files, *also_made.files, *changes]
    told = Made(files, list(dict.fromkeys([*made.notes, *also_made.notes, *notes])))
    result = spectra_result(both.first, wanted, folder, told, clock)
    return replace(result, comparison=comparison_summary(both) | {"other": summary(both.second)})


def checked(target: str) -> str:
    if Path(target).suffix == ".csv":
        raise UserError(f"{target} is a table; two models are compared by their weights")
    return target


def names_apart(first: Model, second: Model) -> tuple[str, str]:
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


def chosen_place(out: str | Path | None, names: tuple[str, str]) -> Path:
    """A-and-B.spectra here, or what the user says; never the folder of one model."""
    folder = Path(out) if out is not None else Path("-and-".join(names).replace("/", "-") + ".spectra")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; --out chooses another place")
    if (folder / MANIFEST).exists():
        raise UserError(f"{folder} holds the analysis of one model; --out chooses another folder")
    return folder


def changed(
    first: Model,
    second: Model,
    wanted: Wanted,
    folder: Path,
    how: Manner,
    clock: Clock,
    targets: tuple[str, str],
) -> tuple[Analysis | None, list[Path], list[str]]:
    """The analysis of the second less the first, and its files; a note where they share no weights."""
    if not wanted.has_matrices:
        return None, [], []
    try:
        model = difference(first, second)
    except UserError as reason:
        return None, [], [f"{reason}: their ranks are compared, not their weights"]
    layers = [layer for layer in chosen_layers(model.layout, None) if layer in wanted.layers]
    if not layers and not wanted.has_rest:
        return None, [], ["in these layers the models share no weight of one shape"]
    raw = replace(wanted, layers=tuple(layers), treatments=parse_treatments("raw"), relations="none")
    analysis, made = analysed(model.checkpoint, model.layout, raw, folder, how, clock, targets)
    return analysis, made.files, made.notes


def pairing_notes(both: Comparison) -> list[str]:
    """What is not one to one between the two."""
    notes = []
    one, two = both.first.layout, both.second.layout
    if one.layers != two.layers and both.weights:
        notes.append(f"the models have {one.layers} and {two.layers} layers: they are paired by their number")
    types = [{m.weight.type for m in analysis.matrices} for analysis in (both.first, both.second)]
    for name, alone in ((both.first.name, types[0] - types[1]), (both.second.name, types[1] - types[0])):
        if alone:
            notes.append(f"only {name} has {listed(sorted(alone))}")
    if both.first.kernels and both.second.kernels and not both.heads:
        what = "numbers of layers" if one.layers != two.layers else "numbers or sizes of heads"
        notes.append(f"the models have other {what}: heads are not compared one by one")
    return notes


def write_comparison(
    both: Comparison, change: Analysis | None, folder: Path, how: Manner, notes: list[str]
) -> list[Path]:
    """Tables, figures and the page; tables of an earlier and wider comparison go."""
    tables = comparison_tables(both)
    for name in {*NAMES} - {*tables}:
        (folder / f"{name}.csv").unlink(missing_ok=True)
    files = [write_csv(folder / f"{name}.csv", table) for name, table in tables.items()]
    figures = drawn(both, change, folder, how, notes)
    shown = [path.relative_to(folder).as_posix() for path in figures]
    write_text(folder / PAGE, comparison_report(both, shown, notes))
    return [*files, *figures, folder / PAGE]


def drawn(
    both: Comparison, change: Analysis | None, folder: Path, how: Manner, notes: list[str]
) -> list[Path]:
    """The figures, if they are not there yet; one that fails loses no numbers and is tried again."""
    if not how.pictures:
        return []
    from glassformer.draw.spectra.draw import draw_comparison
    from glassformer.draw.theme import theme_named
    from glassformer.spectra.drawn import figures_once, forget_drawn, stamp

    failed: list[str] = []

    def draw(into: Path) -> list[Path]:
        return draw_comparison(both, into, how.pictures, theme_named(how.theme), failed.append)

    others = [stamp(one, (one.name,)) for one in (both.second, change) if one]
    files = figures_once(folder, both.first, (*how.pictures, how.theme, both.first.name, *others), draw)
    if failed:
        forget_drawn(folder)
    notes += failed
    return files


def comparison_words(result: SpectraResult) -> list[str]:
    """What changed, for people: one line a weight type, in columns."""
    content = result.comparison or {}
    rows = [type_words(name, one) for name, one in content["weights"].items()]
    wide = [max((len(row[place]) for row in rows), default=0) for place in range(2)]
    lines = [f"  {name:<{wide[0]}}  {ranks:>{wide[1]}}  {change}".rstrip() for name, ranks, change in rows]
    title = f"against {content['second']}" + (", mean effective ranks of both:" if rows else "")
    page = Path(result.folder or "") / PAGE
    said = [title, *lines, *heads_words(content), *page_words(result.folder, result.files)]
    return [*said, f"next: {page}, and the folders beside it"]


def type_words(name: str, one: dict[str, float | None]) -> tuple[str, str, str]:
    ranks = f"{rank_text(one['mean'] or 0)} and {rank_text(one['other_mean'] or 0)}"
    if not one["subtracted"]:
        return name, ranks, ""
    if not one["changed"]:
        return name, ranks, "nothing changed"
    norm, rank = one["change_norm"], one["change_eff_rank"] or 0
    by = f", by {percent(norm)}" if norm is not None else ""
    count = f"{one['changed']:g} of {one['subtracted']:g} changed"
    return name, ranks, f"{count}{by}, effective rank of the change {rank_text(rank)}"


def heads_words(content: dict[str, list[dict[str, float]]]) -> list[str]:
    most = content["heads_changed_most"][:1]
    return [
        f"  the head that changed most: {one['kernel']} of layer {one['layer']} head {one['head']}, "
        f"effective rank {one['by']:+.2f}"
        for one in most
    ]
