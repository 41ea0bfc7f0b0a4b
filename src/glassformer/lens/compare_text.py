"""The comparison of two models in words and tables: comparison.md.

>>> format_layer_ranges([0, 1, 2, 5, 7, 8]), format_known_percent(0.00123), format_known_percent(float("nan"))
('0 to 2, 5, 7 and 8', '0.123%', '')
"""

import math
from collections.abc import Sequence

from glassformer.core.words import choose_plural, format_count, join_words
from glassformer.lens.compare import SEEN, Comparison, TypePair, WeightPair
from glassformer.lens.compare_tables import MOST, average_known, summarise_type_pair
from glassformer.lens.markdown import format_markdown_table, format_weight_type
from glassformer.lens.report import describe_width, make_figures_section
from glassformer.lens.results import Analysis
from glassformer.lens.words import (
    format_head_location,
    format_rank,
    format_ratio,
    format_shape,
    format_signed_rank,
)

_RANKS = (
    "Effective ranks are exp of the entropy of sigma / sum(sigma), raw: means over all matrices of the type "
    "in each model."
)
_CHANGES = (
    "The other columns are about the weights that changed. *Change*: |second - first| / |first| of all of "
    "them together, in the Frobenius norm. *Rank of the change*: the effective rank of second - first, and "
    "*of random* its share of a random matrix's: an update of low rank has a low one, however large it is, "
    "and mere quantisation one near 1. *90% in*: directions that hold 90% of the change's energy; "
    "it shows an update of low rank even where that was rounded when it was stored, while the effective rank "
    "counts the many small directions of the rounding too. These three are means in which a weight counts by "
    "the energy of its change, sigma squared. *Directions kept*: mean squared cosine of the leading "
    "directions of both on the residual stream's side; 1 where they span the same space."
)
_SHARES = (
    "*Of random*: the mean of the ratio to a random matrix of the same shape; only this may be compared "
    "where shapes differ."
)
_CHANGE_HEADER = (
    *("type", "shape", "effective rank", "of the second", "changed", "change", "rank of the change"),
    *("of random", "90% in", "directions kept"),
)
_RANK_HEADER = ("type", "shape", "effective rank", "of random", "of the second", "of random")
_HEAD_HEADER = ("kernel", "head", "effective rank", "of the second", "by")
_SAME_HEADS = f"No head's effective rank differs by as much as {SEEN}."
_FEW_RUNS = 6  # stretches of layers that are written out
_FEW_NAMES = 9  # types that are named


def format_comparison_report(both: Comparison, figures: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole page; `figures` are paths from where it lies, `notes` more sentences for the user."""
    told = list(dict.fromkeys(notes))
    lines = [f"# {both.first.name} and {both.second.name}", "", *_describe_compared_models(both)]
    lines += [*(f"- {note}" for note in told), *([""] if told else [])]
    lines += (
        _describe_type_pairs(both.types)
        + _describe_changed_heads(both)
        + make_figures_section(figures)
        + _describe_comparison_files(both)
    )
    return "\n".join(lines).rstrip() + "\n"


def _describe_compared_models(both: Comparison) -> list[str]:
    """What the models are, and what changed in a sentence."""
    said = [
        _describe_compared_model("First", both.first),
        _describe_compared_model("Second", both.second),
        _describe_changed_weights(both),
    ]
    return [" ".join(sentence for sentence in said if sentence), ""]


def _describe_compared_model(which: str, analysis: Analysis) -> str:
    layout = analysis.layout
    heads = f", {format_count(layout.heads, 'head')} of {layout.head_dim}" if layout.heads else ""
    layers = format_count(layout.layers, "layer")
    return f"{which}: {analysis.name} ({layout.architecture}, {layers}{heads}{describe_width(layout.width)})."


def _describe_changed_weights(both: Comparison) -> str:
    """How many weights changed, and which."""
    total, changed = len(both.subtracted), len(both.changed)
    if not total:
        return ""
    have = f"{format_count(total, 'weight')} of one shape in both"
    if not changed:
        return f"Of the {have}, none changed."
    if changed == total:
        return f"All of the {have} changed."
    return f"Of the {have}, {changed:,} changed: {'; '.join(_list_changed_types(both))}."


def _list_changed_types(both: Comparison) -> list[str]:
    """Which weights changed, types that changed in the same layers together."""
    together: dict[str, list[str]] = {}
    for one in both.types:
        if one.changed:
            together.setdefault(_describe_changed_layers(one.changed), []).append(
                format_weight_type(one.name)
            )
    return [f"{format_short_list(names)}{where}" for where, names in together.items()]


def format_short_list(names: Sequence[str]) -> str:
    """At most as many as can be read in a sentence.

    >>> format_short_list([str(_format_known_ratio) for _format_known_ratio in range(20)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8 and 11 more'
    """
    few = len(names) <= _FEW_NAMES
    return join_words(names) if few else f"{', '.join(names[:_FEW_NAMES])} and {len(names) - _FEW_NAMES} more"


def _describe_changed_layers(pairs: Sequence[WeightPair]) -> str:
    layers = {pair.first.weight.layer for pair in pairs}
    inside = sorted(layer for layer in layers if layer is not None)
    return f" in {choose_plural(len(inside), 'layer')} {format_layer_ranges(inside)}" if inside else ""


def format_layer_ranges(layers: Sequence[int]) -> str:
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
    return join_words(parts) if len(parts) <= _FEW_RUNS else f"{parts[0]} to {layers[-1]}, with gaps"


def _describe_type_pairs(types: Sequence[TypePair]) -> list[str]:
    if not types:
        return []
    if any(one.subtracted for one in types):
        rows = format_markdown_table(_CHANGE_HEADER, [_make_change_row(one) for one in types], left=2)
        return ["## Weights", "", *rows, "", f"{_RANKS} {_CHANGES}", ""]
    rows = format_markdown_table(_RANK_HEADER, [_make_rank_row(one) for one in types], left=2)
    return ["## Weights", "", *rows, "", f"{_RANKS} {_SHARES}", ""]


def _make_rank_row(one: TypePair) -> tuple[str, ...]:
    """Where no weights could be subtracted: ranks of both, and as shares of random ones."""
    cells = []
    for side in (one.first, one.second):
        shares = [matrix.relative_rank for matrix in side]
        cells += [
            format_rank(average_known([matrix.eff_rank for matrix in side])),
            format_ratio(average_known(shares)),
        ]
    return (format_weight_type(one.type), format_pair_shapes(one), *cells)


def _make_change_row(one: TypePair) -> tuple[str, ...]:
    found = summarise_type_pair(one)
    names = (format_weight_type(one.type), format_pair_shapes(one))
    ranks, kept = (
        (format_rank(found["mean"]), format_rank(found["other_mean"])),
        _format_known_ratio(found["similarity"]),
    )
    if not one.subtracted:
        return (*names, *ranks, *[""] * 5, kept)
    count = f"{len(one.changed)} of {len(one.subtracted)}"
    if not one.changed:
        return (*names, *ranks, count, "0", *[""] * 3, kept)
    change = (format_known_percent(found["change_norm"]), format_rank(found["change_eff_rank"]))
    few = (_format_known_ratio(found["change_relative"]), format_mean_count(found["change_n90"]))
    return (*names, *ranks, count, *change, *few, kept)


def format_pair_shapes(one: TypePair) -> str:
    texts = [format_shape(side[0].shape) for side in (one.first, one.second)]
    return texts[0] if texts[0] == texts[1] else join_words(texts)


def _describe_changed_heads(both: Comparison) -> list[str]:
    if not both.heads:
        return []
    most = both.most_changed_heads
    rows = [
        (
            *(pair.first.kernel, format_head_location(pair.first.head.layer, pair.first.head.index)),
            *(
                format_rank(pair.first.eff_rank),
                format_rank(pair.second.eff_rank),
                format_signed_rank(pair.by),
            ),
        )
        for pair in most[:MOST]
    ]
    if not rows:
        return ["## Heads", "", _SAME_HEADS, ""]
    said = (
        f"Of {format_count(len(both.heads), 'kernel')}, {len(most):,} differ in "
        f"effective rank by {SEEN} or more."
    )
    return [
        "## Heads whose rank changed most",
        "",
        said,
        "",
        *format_markdown_table(_HEAD_HEADER, rows, left=2),
        "",
    ]


def _describe_comparison_files(both: Comparison) -> list[str]:
    """Where the rest is."""
    folders = ["[first](first/report.md)", "[second](second/report.md)"]
    folders += ["[change](change/report.md)"] if both.subtracted else []
    many = "each model, and the change as if it were one," if both.subtracted else "each model"
    return ["## More", "", f"The full analysis of {many} by itself: {join_words(folders)}."]


def format_mean_count(value: float) -> str:
    """A mean of whole numbers.

    >>> format_mean_count(14.0), format_mean_count(3.25)
    ('14', '3.2')
    """
    return f"{value:,.1f}".removesuffix(".0")


def format_known_percent(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:.3g}%"


def _format_known_ratio(value: float) -> str:
    """Empty where there is nothing to say."""
    return "" if math.isnan(value) else format_ratio(value)
