"""The comparison of two models in words and tables: comparison.md.

>>> layers_text([0, 1, 2, 5, 7, 8]), percent(0.00123), percent(float("nan"))
('0 to 2, 5, 7 and 8', '0.123%', '')
"""

import math
from collections.abc import Sequence

from glassformer.spectra.compare import SEEN, Comparison, TypePair, WeightPair
from glassformer.spectra.compare_tables import MOST, mean, type_summary
from glassformer.spectra.markdown import table, type_text
from glassformer.spectra.report import figures_section, width_text
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import (
    counted,
    listed,
    place_text,
    rank_text,
    ratio_text,
    shape_text,
    signed_text,
)

RANKS = (
    "Effective ranks are exp of the entropy of sigma / sum(sigma), raw: means over all matrices of the type "
    "in each model."
)
CHANGES = (
    "The other columns are about the weights that changed. *Change*: |second - first| / |first| of all of "
    "them together, in the Frobenius norm. *Rank of the change*: the effective rank of second - first, and "
    "*of random* its share of a random matrix's: an update of low rank has a low one, however large it is, "
    "and mere rounding (quantisation) one near 1. *90% in*: directions that hold 90% of the change's energy; "
    "it shows an update of low rank even where that was rounded when it was stored, while the effective rank "
    "counts the many small directions of the rounding too. These three are means in which a weight counts by "
    "the energy of its change, sigma squared. *Directions kept*: mean squared cosine of the leading "
    "directions of both on the residual stream's side; 1 where they span the same space."
)
SHARES = (
    "*Of random*: the mean of the ratio to a random matrix of the same shape; only this may be compared "
    "where shapes differ."
)
CHANGE_HEADER = (
    *("type", "shape", "effective rank", "of the second", "changed", "change", "rank of the change"),
    *("of random", "90% in", "directions kept"),
)
RANK_HEADER = ("type", "shape", "effective rank", "of random", "of the second", "of random")
HEAD_HEADER = ("kernel", "head", "effective rank", "of the second", "by")
SAME_HEADS = f"No head's effective rank differs by as much as {SEEN}."
FEW_RUNS = 6  # stretches of layers that are written out
FEW_NAMES = 9  # types that are named


def comparison_report(both: Comparison, figures: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole page; `figures` are paths from where it lies, `notes` more sentences for the user."""
    told = list(dict.fromkeys(notes))
    lines = [f"# {both.first.name} and {both.second.name}", "", *opening(both)]
    lines += [*(f"- {note}" for note in told), *([""] if told else [])]
    lines += weight_lines(both.types) + head_lines(both) + figures_section(figures) + folder_lines(both)
    return "\n".join(lines).rstrip() + "\n"


def opening(both: Comparison) -> list[str]:
    """What the models are, and what changed in a sentence."""
    said = [model_text("First", both.first), model_text("Second", both.second), change_text(both)]
    return [" ".join(sentence for sentence in said if sentence), ""]


def model_text(which: str, analysis: Analysis) -> str:
    layout = analysis.layout
    heads = f", {counted(layout.heads, 'head')} of {layout.head_dim}" if layout.heads else ""
    layers = counted(layout.layers, "layer")
    return f"{which}: {analysis.name} ({layout.architecture}, {layers}{heads}{width_text(layout.width)})."


def change_text(both: Comparison) -> str:
    """How many weights changed, and which."""
    total, changed = len(both.subtracted), len(both.changed)
    if not total:
        return ""
    have = f"{counted(total, 'weight')} of one shape in both"
    if not changed:
        return f"Of the {have}, none changed."
    if changed == total:
        return f"All of the {have} changed."
    return f"Of the {have}, {changed:,} changed: {'; '.join(places(both))}."


def places(both: Comparison) -> list[str]:
    """Which weights changed, types that changed in the same layers together."""
    together: dict[str, list[str]] = {}
    for one in both.types:
        if one.changed:
            together.setdefault(where_text(one.changed), []).append(type_text(one.name))
    return [f"{short_list(names)}{where}" for where, names in together.items()]


def short_list(names: Sequence[str]) -> str:
    """At most as many as can be read in a sentence.

    >>> short_list([str(number) for number in range(20)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8 and 11 more'
    """
    few = len(names) <= FEW_NAMES
    return listed(names) if few else f"{', '.join(names[:FEW_NAMES])} and {len(names) - FEW_NAMES} more"


def where_text(pairs: Sequence[WeightPair]) -> str:
    layers = {pair.first.weight.layer for pair in pairs}
    inside = sorted(layer for layer in layers if layer is not None)
    many = "s" if len(inside) > 1 else ""
    return f" in layer{many} {layers_text(inside)}" if inside else ""


def layers_text(layers: Sequence[int]) -> str:
    """Stretches of three and more as such."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    parts = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(layer) for layer in run]
    return listed(parts) if len(parts) <= FEW_RUNS else f"{parts[0]} to {layers[-1]}, with gaps"


def weight_lines(types: Sequence[TypePair]) -> list[str]:
    if not types:
        return []
    if any(one.subtracted for one in types):
        rows = table(CHANGE_HEADER, [change_row(one) for one in types], left=2)
        return ["## Weights", "", *rows, "", f"{RANKS} {CHANGES}", ""]
    rows = table(RANK_HEADER, [rank_row(one) for one in types], left=2)
    return ["## Weights", "", *rows, "", f"{RANKS} {SHARES}", ""]


def rank_row(one: TypePair) -> tuple[str, ...]:
    """Where no weights could be subtracted: ranks of both, and as shares of random ones."""
    cells = []
    for side in (one.first, one.second):
        shares = [matrix.relative_rank for matrix in side]
        cells += [rank_text(mean([matrix.eff_rank for matrix in side])), ratio_text(mean(shares))]
    return (type_text(one.type), shapes_text(one), *cells)


def change_row(one: TypePair) -> tuple[str, ...]:
    found = type_summary(one)
    names = (type_text(one.type), shapes_text(one))
    ranks, kept = (rank_text(found["mean"]), rank_text(found["other_mean"])), number(found["similarity"])
    if not one.subtracted:
        return (*names, *ranks, *[""] * 5, kept)
    count = f"{len(one.changed)} of {len(one.subtracted)}"
    if not one.changed:
        return (*names, *ranks, count, "0", *[""] * 3, kept)
    change = (percent(found["change_norm"]), rank_text(found["change_eff_rank"]))
    few = (number(found["change_relative"]), count_text(found["change_n90"]))
    return (*names, *ranks, count, *change, *few, kept)


def shapes_text(one: TypePair) -> str:
    texts = [shape_text(side[0].shape) for side in (one.first, one.second)]
    return texts[0] if texts[0] == texts[1] else listed(texts)


def head_lines(both: Comparison) -> list[str]:
    if not both.heads:
        return []
    most = both.most_changed_heads
    rows = [
        (
            *(pair.first.kernel, place_text(pair.first.head.layer, pair.first.head.index)),
            *(rank_text(pair.first.eff_rank), rank_text(pair.second.eff_rank), signed_text(pair.by)),
        )
        for pair in most[:MOST]
    ]
    if not rows:
        return ["## Heads", "", SAME_HEADS, ""]
    said = (
        f"Of {counted(len(both.heads), 'kernel')}, {len(most):,} differ in effective rank by {SEEN} or more."
    )
    return ["## Heads whose rank changed most", "", said, "", *table(HEAD_HEADER, rows, left=2), ""]


def folder_lines(both: Comparison) -> list[str]:
    """Where the rest is."""
    folders = ["[first](first/report.md)", "[second](second/report.md)"]
    folders += ["[change](change/report.md)"] if both.subtracted else []
    many = "each model, and the change as if it were one," if both.subtracted else "each model"
    return ["## More", "", f"The full analysis of {many} by itself: {listed(folders)}."]


def count_text(value: float) -> str:
    """A mean of whole numbers.

    >>> count_text(14.0), count_text(3.25)
    ('14', '3.2')
    """
    return f"{value:,.1f}".removesuffix(".0")


def percent(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:.3g}%"


def number(value: float) -> str:
    """Empty where there is nothing to say."""
    return "" if math.isnan(value) else ratio_text(value)
