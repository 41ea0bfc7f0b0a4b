"""Tables of what lies between layers and heads, one relation per row."""

from collections.abc import Sequence

import numpy as np

from glassformer.lens.results import Relations
from glassformer.lens.table_files import Table, TableColumn


def make_relation_tables(between: Relations | None) -> dict[str, Table]:
    """Those that there is something to say in."""
    if between is None:
        return {}
    tables = {
        "similarity": _make_similarity_table(between),
        "alignment": _make_alignment_table(between),
        "composition": _make_composition_table(between),
    }
    return {name: table for name, table in tables.items() if len(table[0].cells)}


def _make_similarity_table(between: Relations) -> Table:
    """Leading directions of one weight type, every pair of layers once."""
    rows = [
        (type, between.layers[first], between.layers[second], square[first, second], between.chance)
        for type, square in between.similarity.items()
        for first in range(len(between.layers))
        for second in range(first + 1, len(between.layers))
        if not np.isnan(square[first, second])
    ]
    names = ("weight_type", "layer_idx", "other_layer_idx", "similarity", "chance")
    return _make_relation_columns(names, ("text", "whole", "whole", "real", "real"), rows)


def _make_alignment_table(between: Relations) -> Table:
    """Leading directions of two weight types within a layer."""
    rows = [
        (*pair.split(" ", 1), layer, value, between.chance)
        for pair, course in between.alignment.items()
        for layer, value in zip(between.layers, course, strict=True)
        if not np.isnan(value)
    ]
    names = ("weight_type", "other_weight_type", "layer_idx", "alignment", "chance")
    return _make_relation_columns(names, ("text", "text", "whole", "real", "real"), rows)


def _make_composition_table(between: Relations) -> Table:
    """How much a head reads of what an earlier one writes."""
    rows = [
        (by, writer, i, reader, j, score, between.composition_chance.get(by))
        for by, scores in between.composition.items()
        for (writer, reader), square in zip(between.pairs, scores, strict=True)
        for (i, j), score in np.ndenumerate(square)
    ]
    names = ("by", "writer_layer_idx", "writer_head_idx", "reader_layer_idx", "reader_head_idx")
    kinds = ("text", "whole", "whole", "whole", "whole", "real", "real")
    return _make_relation_columns((*names, "composition", "chance"), kinds, rows)


def _make_relation_columns(
    names: tuple[str, ...], kinds: tuple[str, ...], rows: Sequence[tuple[object, ...]]
) -> Table:
    turned = list(zip(*rows, strict=True)) or [()] * len(names)
    return [
        TableColumn(name, kind, cells)  # type: ignore[arg-type]
        for name, kind, cells in zip(names, kinds, turned, strict=True)
    ]
