"""What the report says of layers and heads that share directions."""

import numpy as np

from glassformer.spectra.markdown import table, type_text
from glassformer.spectra.relations import Composed, strongest
from glassformer.spectra.results import Analysis, Relations
from glassformer.spectra.words import counted, place_text, ratio_text

MOST = 10  # pairs of heads that are named
KINDS = {"Q": "queries", "K": "keys", "V": "values"}


def relations_section(analysis: Analysis) -> list[str]:
    """Similar layers, alignment within a layer, composition of heads."""
    found = analysis.relations
    if found is None:
        return []
    lines = [*similarity_lines(found), *alignment_lines(found), *composition_lines(found)]
    return ["## Relations", "", *lines] if lines else []


def similarity_lines(found: Relations) -> list[str]:
    rows = []
    for name, values in found.similarity.items():
        near = values[np.subtract.outer(found.layers, found.layers) == -1]
        others = values[~np.eye(len(values), dtype=bool)]
        if np.isfinite(others).any():
            rows.append(
                (
                    type_text(name),
                    ratio_text(float(np.nanmean(near))) if np.isfinite(near).any() else "",
                    ratio_text(float(np.nanmean(others))),
                )
            )
    about = (
        f"Mean squared cosine between the {counted(found.top, 'leading direction')} of two layers, on the "
        "side of "
        f"the residual stream; two random subspaces have {ratio_text(found.chance)}."
    )
    headings = ("type", "neighbouring layers", "all pairs of layers")
    return [about, "", *table(headings, rows), ""] if rows else []


def alignment_lines(found: Relations) -> list[str]:
    rows = []
    for name, values in found.alignment.items():
        if np.isfinite(values).any():
            place = int(np.nanargmax(values))
            mean = float(np.nanmean(values))
            times = f"{mean / found.chance:.1f}" if found.chance else ""
            most = f"{ratio_text(float(values[place]))} (layer {found.layers[place]})"
            rows.append((" and ".join(name.split(" ")), ratio_text(mean), times, most))
    about = (
        f"Mean squared cosine between the {counted(found.top, 'leading direction')} of two matrices of one "
        f"layer; two random subspaces have {ratio_text(found.chance)}."
    )
    return [about, "", *table(("types", "mean", "times chance", "largest"), rows), ""] if rows else []


def composition_lines(found: Relations) -> list[str]:
    """The strongest pairs of heads over all kinds."""
    rows = strongest_rows(found, MOST)
    if not rows:
        return []
    pairs = counted(len(found.pairs), "pair of layers", "pairs of layers")
    about = (
        f"Composition scores, |product of two kernels| over the product of their norms, of {pairs}: the "
        "strongest. Chance is the root mean square for random directions; the largest of many scores is "
        "above it anyway."
    )
    return [about, "", *table(("written by", "read by", "score", "times chance"), rows, left=2), ""]


def strongest_rows(found: Relations, most: int) -> list[tuple[str, ...]]:
    """Who writes, who reads, the score, and how many times chance that is."""
    rows = [row for row in strongest(found, most) if row.score > 0]
    return [written_row(row, found.composition_chance[row.by]) for row in rows]


def written_row(row: Composed, chance: float) -> tuple[str, ...]:
    reader = f"{KINDS[row.by]} of {place_text(*row.reader)}"
    return place_text(*row.writer), reader, ratio_text(row.score), f"{row.score / chance:.1f}"
