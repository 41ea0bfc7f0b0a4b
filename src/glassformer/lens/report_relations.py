"""What the report says of layers and heads that share directions."""

import numpy as np

from glassformer.core.words import format_count
from glassformer.lens.markdown import format_markdown_table, format_weight_type
from glassformer.lens.relations import HeadComposition, find_strongest_compositions
from glassformer.lens.results import Analysis, Relations
from glassformer.lens.words import format_head_location, format_ratio

_MOST = 10  # pairs of heads that are named
_KINDS = {"Q": "queries", "K": "keys", "V": "values"}


def make_relations_section(analysis: Analysis) -> list[str]:
    """Similar layers, alignment within a layer, composition of heads."""
    found = analysis.relations
    if found is None:
        return []
    lines = [
        *_describe_layer_similarity(found),
        *_describe_layer_alignment(found),
        *_describe_compositions(found),
    ]
    return ["## Relations", "", *lines] if lines else []


def _describe_layer_similarity(found: Relations) -> list[str]:
    rows = []
    for name, values in found.similarity.items():
        near = values[np.subtract.outer(found.layers, found.layers) == -1]
        others = values[~np.eye(len(values), dtype=bool)]
        if np.isfinite(others).any():
            rows.append(
                (
                    format_weight_type(name),
                    format_ratio(float(np.nanmean(near))) if np.isfinite(near).any() else "",
                    format_ratio(float(np.nanmean(others))),
                )
            )
    about = (
        f"Mean squared cosine between the {format_count(found.top, 'leading direction')} of two layers, on "
        f"the side of the residual stream; two random subspaces have {format_ratio(found.chance)}."
    )
    headings = ("type", "neighbouring layers", "all pairs of layers")
    return [about, "", *format_markdown_table(headings, rows), ""] if rows else []


def _describe_layer_alignment(found: Relations) -> list[str]:
    rows = []
    for name, values in found.alignment.items():
        if np.isfinite(values).any():
            place = int(np.nanargmax(values))
            mean = float(np.nanmean(values))
            times = f"{mean / found.chance:.1f}" if found.chance else ""
            most = f"{format_ratio(float(values[place]))} (layer {found.layers[place]})"
            rows.append((" and ".join(name.split(" ")), format_ratio(mean), times, most))
    about = (
        f"Mean squared cosine between the {format_count(found.top, 'leading direction')} of two matrices of "
        f"one layer; two random subspaces have {format_ratio(found.chance)}."
    )
    return (
        [about, "", *format_markdown_table(("types", "mean", "times chance", "largest"), rows), ""]
        if rows
        else []
    )


def _describe_compositions(found: Relations) -> list[str]:
    """The strongest pairs of heads over all kinds."""
    rows = make_strongest_rows(found, _MOST)
    if not rows:
        return []
    pairs = format_count(len(found.pairs), "pair of layers", "pairs of layers")
    about = (
        f"Composition scores, |product of two kernels| over the product of their norms, of {pairs}: the "
        "strongest. Chance is the root mean square for random directions; the largest of many scores is "
        "above it anyway."
    )
    return [
        about,
        "",
        *format_markdown_table(("written by", "read by", "score", "times chance"), rows, left=2),
        "",
    ]


def make_strongest_rows(found: Relations, most: int) -> list[tuple[str, ...]]:
    """Who writes, who reads, the score, and how many times chance that is."""
    rows = [row for row in find_strongest_compositions(found, most) if row.score > 0]
    return [_make_composition_row(row, found.composition_chance[row.by]) for row in rows]


def _make_composition_row(row: HeadComposition, chance: float) -> tuple[str, ...]:
    reader = f"{_KINDS[row.by]} of {format_head_location(*row.reader)}"
    return format_head_location(*row.writer), reader, format_ratio(row.score), f"{row.score / chance:.1f}"
