"""What the report says of layers and heads that share directions."""

from typing import Any

import numpy as np

from glassformer.spectra.markdown import table, type_text
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
    rows = strongest(found)
    if not rows:
        return []
    pairs = counted(len(found.pairs), "pair of layers", "pairs of layers")
    about = (
        f"Composition scores, |product of two kernels| over the product of their norms, of {pairs}: the "
        "strongest. "
        "Chance is the root mean square for random directions; the largest of many scores is above it anyway."
    )
    written = [written_row(row) for row in rows]
    return [about, "", *table(("written by", "read by", "score", "times chance"), written, left=2), ""]


def written_row(row: dict[str, Any]) -> tuple[str, ...]:
    reader = f"{row['kind']} of {place_text(*row['reader'])}"
    times = f"{row['score'] / row['chance']:.1f}"
    return place_text(*row["writer"]), reader, ratio_text(row["score"]), times


def strongest(found: Relations) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for kind, scores in found.composition.items():
        for flat in np.argsort(-scores, axis=None, kind="stable")[:MOST]:
            pair, writer, reader = (int(place) for place in np.unravel_index(int(flat), scores.shape))
            layers = found.pairs[pair]
            rows.append(
                {
                    "score": float(scores[pair, writer, reader]), "kind": KINDS.get(kind, kind),
                    "writer": (layers[0], writer), "reader": (layers[1], reader),
                    "chance": found.composition_chance[kind],
                }
            )  # fmt: skip
    return sorted((row for row in rows if row["score"] > 0), key=lambda row: -row["score"])[:MOST]
