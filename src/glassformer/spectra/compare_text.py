"""The comparison of two models in words and tables: comparison.md.

>>> layers_text([0, 1, 2, 5, 7, 8]), percent(0.00123), percent(float("nan"))
('0 to 2, 5, 7 and 8', '0.123%', '')
"""

import math
from collections.abc import Sequence

from glassformer.spectra.compare import Comparison, TypePair, WeightPair
from glassformer.spectra.compare_tables import MOST, rank_of, type_summary
from glassformer.spectra.markdown import table
from glassformer.spectra.report import figures_section, type_text
from glassformer.spectra.results import Analysis
from glassformer.spectra.words import counted, listed, place_text, rank_text, ratio_text, signed_text

WEIGHT_METHOD = (
    "Effective ranks are exp of the entropy of sigma / sum(sigma), raw: means over all matrices of the type in "
    "each model. The other columns are means over the weights that changed. *Change*: |second - first| / "
    "|first| in the Frobenius norm. *Rank of the change*: the effective rank of second - first, and *of "
    "random* its share of a random matrix's: an update of low rank has a low one, however large it is, and "
    "mere rounding (quantisation) one near 1. *90% in*: directions that hold 90% of the change's energy; where "
    "an update of low rank was rounded when it was stored, it says so better than the rank, which counts the "
    "rounding's many small directions too. *Directions kept*: mean squared cosine of the leading directions "
    "of both on the residual stream's side; 1 where they span the same space."
)
WEIGHT_HEADER = (
    *("type", "effective rank", "of the second", "changed", "change", "rank of the change", "of random"),
    *("90% in", "directions kept"),
)
HEAD_HEADER = ("kernel", "head", "effective rank", "of the second", "by")
SAME_HEADS = "No head's effective rank differs by as much as 0.01."
FEW_RUNS = 6  # stretches of layers that are written out


def comparison_report(both: Comparison, figures: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole page; `figures` are paths from where it lies, `notes` more sentences for the user."""
    told = list(dict.fromkeys(notes))
    lines = [f"# {both.first.name} and {both.second.name}", "", *opening(both), *(f"- {note}" for note in told)]
    lines += [""] if told else []
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
    return f"{which}: {analysis.name} ({layout.architecture}, {layers}{heads}, width {layout.width})."


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
    parts = [f"{type_text(one.name)}{where_text(one.changed)}" for one in both.types if one.changed]
    return f"Of the {have}, {changed:,} changed: {'; '.join(parts)}."


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
    rows = [weight_row(one) for one in types]
    return ["## Weights", "", *table(WEIGHT_HEADER, rows), "", WEIGHT_METHOD, ""]


def weight_row(one: TypePair) -> tuple[str, ...]:
    found = type_summary(one)
    ranks = (type_text(one.name), rank_text(found["mean"]), rank_text(found["other_mean"]))
    kept = number(found["similarity"])
    if not one.subtracted:
        return (*ranks, *[""] * 5, kept)
    count = f"{len(one.changed)} of {len(one.subtracted)}"
    if not one.changed:
        return (*ranks, count, "0", *[""] * 3, kept)
    change = (percent(found["change_norm"]), rank_text(found["change_eff_rank"]))
    return (*ranks, count, *change, number(found["change_relative"]), rank_text(found["change_n90"]), kept)


def head_lines(both: Comparison) -> list[str]:
    if not both.heads:
        return []
    most = both.most_changed_heads
    rows = [
        (
            *(pair.first.kernel, place_text(pair.first.head.layer, pair.first.head.index)),
            *(rank_text(rank_of(pair.first)), rank_text(rank_of(pair.second)), signed_text(pair.by)),
        )
        for pair in most[:MOST]
    ]
    if not rows:
        return ["## Heads", "", SAME_HEADS, ""]
    said = f"{counted(len(most), 'kernel')} of {len(both.heads):,} have another effective rank."
    return ["## Heads whose rank changed most", "", said, "", *table(HEAD_HEADER, rows, left=2), ""]


def folder_lines(both: Comparison) -> list[str]:
    """Where the rest is."""
    folders = ["[first](first/report.md)", "[second](second/report.md)"]
    folders += ["[change](change/report.md)"] if both.subtracted else []
    many = "each model, and the change as if it were one," if both.subtracted else "each model"
    return ["## More", "", f"The full analysis of {many} by itself: {listed(folders)}."]


def percent(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:.3g}%"


def number(value: float) -> str:
    """Empty where there is nothing to say."""
    return "" if math.isnan(value) else ratio_text(value)
