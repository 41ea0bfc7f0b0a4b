"""Bounds hold as soon as every pair is inside."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.checker.bounds import ClaimError, ProvedPart, bound_parts, find_query_position
from glassformer.checker.columns import list_certified_classes, open_class
from glassformer.checker.reading import HeadAxes, Proved
from glassformer.checker.tables import make_premix_tables
from glassformer.runs.load import load_model
from glassformer.tasks import Addition, add_digits, to_digits
from tests.checker.conftest import inside


def test_bounds_hold_as_soon_as_every_pair_is_inside(precise):
    """Two digits: the bounds of every class by all 10,000 pairs are accepted, any closer ones are not."""
    model, task = load_model("glass-23"), Addition(digits=2, layout="lsb")
    tables = make_premix_tables(model.architecture, model.params, task, "float32")
    axes = (HeadAxes(np.zeros(1), np.ones((1, 1))),)
    x, y = (
        to_digits([i // 100 for i in range(10**4)], 2, 10),
        to_digits([i % 100 for i in range(10**4)], 2, 10),
    )
    tokens = task.written().encode(x, y, add_digits(x, y, 10))
    for step in range(3):
        place = find_query_position(task, step)
        seen = tokens[: place + 1]
        mixes = np.array([float(v) for v in tables.mixture(0, place, seen[place]).chosen(seen).over[0]])
        parts = []
        for one in (one for one in list_certified_classes(task) if one.step == step):
            here = open_class(task, one)
            held = mixes[inside(here, x, y)]
            parts.append(ProvedPart(one, here, Proved((held.min(),), (held.max(),), 1.0, 0, 0)))
        found = bound_parts(tables, task, axes, parts)
        assert np.allclose(found.high[:, 0], [part.leaf.high[0] for part in parts], rtol=0, atol=1e-9)
        for part in parts[::13]:
            closer = replace(part.leaf, high=(part.leaf.high[0] - 1e-8,))
            with pytest.raises(ClaimError, match="high bound"):
                bound_parts(tables, task, axes, [ProvedPart(part.one, part.open, closer)])
